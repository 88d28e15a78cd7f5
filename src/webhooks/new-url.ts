// The URL of an endpoint that is made or changed: refused at once where no delivery could be sent. What counts is judged
// again at every attempt (sender.ts).

import { parseWebhookUrl, type WebhookUrl } from "../domain/webhook-urls.ts";
import {
  findTarget,
  type Resolve,
  resolveName,
  type Target,
  type TargetPolicy,
} from "./targets.ts";

/** How long a caller waits for the look-up of the name. */
const LOOKUP_MS = 5000;
const REFUSED = {
  url_not_allowed: "an https URL",
  dns: "a URL whose name has an address",
  blocked_address: "a URL whose addresses are all public",
} as const;

/** The URL as it is stored, or what it must be. */
export async function checkNewUrl(
  text: string,
  policy: TargetPolicy,
  resolve: Resolve = resolveName,
): Promise<WebhookUrl> {
  const parsed = parseWebhookUrl(text, policy.allowHttp);
  if ("must" in parsed) return parsed;
  const target = await withinTime(findTarget(parsed.url, policy, resolve));
  return "refused" in target ? { must: REFUSED[target.refused] } : parsed;
}

/** A look-up that a name server does not answer is left alone. */
function withinTime(target: Promise<Target>): Promise<Target> {
  const late = Promise.withResolvers<Target>();
  const timer = setTimeout(() => late.resolve({ refused: "dns" }), LOOKUP_MS);
  return Promise.race([target, late.promise]).finally(() => clearTimeout(timer));
}
