// Checks the text of a webhook endpoint's URL. webhooks/targets.ts checks the addresses of its host.
// docs/specification/webhooks.md#webhook-urls.

import { hasUnprintable } from "../values/text.ts";

export const WEBHOOK_URL_LIMIT = 2048;

/** The URL as it is stored and requested, or the requirement that it violates. */
export type WebhookUrl = { url: string } | { must: string };

export function parseWebhookUrl(text: string, allowHttp: boolean): WebhookUrl {
  const form = allowHttp ? "an http or https URL" : "an https URL";
  if (text.length > WEBHOOK_URL_LIMIT) return tooLong;
  const url = hasUnprintable(text) ? null : URL.parse(text);
  if (!url) return { must: form };
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) return { must: form };
  // Checked in the text, because an empty user or fragment leaves no trace in the parsed URL.
  const [, authority = ""] = /^[^:]*:[/\\]*([^/\\?#]*)/.exec(text) ?? [];
  if (authority.includes("@")) return { must: "a URL without user and password" };
  if (text.includes("#")) return { must: "a URL without a fragment" };
  return url.href.length > WEBHOOK_URL_LIMIT ? tooLong : { url: url.href };
}

const tooLong = { must: `at most ${WEBHOOK_URL_LIMIT} characters` };

/** Checks a URL by its text and by the addresses of its host. */
export type CheckWebhookUrl = (text: string) => Promise<WebhookUrl>;
