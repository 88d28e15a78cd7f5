// The headers that every answer has. Answers are data for programs: nothing may keep, sniff, frame or run them.

import { ResponseTemplate } from "../http1/response.ts";

const SECURITY = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};
/** A year, for clients that are browsers all the same. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" };

export function responseTemplate(isTls: boolean): ResponseTemplate {
  return new ResponseTemplate({
    "content-type": "application/json",
    ...SECURITY,
    ...(isTls ? STRICT_TRANSPORT : {}),
  });
}
