// Checks the URL of a new or changed endpoint, so that a URL that no delivery could be sent to is refused at once.
// Every attempt checks again (sender.ts), because a name may get other addresses.

import { parseWebhookUrl, type WebhookUrl } from "../domain/webhooks/webhook-urls.ts";
import {
  findTarget,
  type Resolve,
  resolveName,
  type Target,
  type TargetPolicy,
} from "./targets.ts";

/** Limit in milliseconds for the look-up of the name, while the caller waits. */
const LOOKUP_MS = 5000;
/** What a refused URL must be. */
const REFUSED = {
  url_not_allowed: "an https URL",
  dns: "a URL whose name has an address",
  blocked_address: "a URL whose addresses are all public",
} as const;

/** Returns the URL in the form that is stored, or a text that says what it must be. */
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

/** Limits the time of a look-up. A slower one counts as failed; it cannot be aborted and is abandoned. */
function withinTime(target: Promise<Target>): Promise<Target> {
  const late = Promise.withResolvers<Target>();
  const timer = setTimeout(() => late.resolve({ refused: "dns" }), LOOKUP_MS);
  return Promise.race([target, late.promise]).finally(() => clearTimeout(timer));
}
