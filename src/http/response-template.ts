// The response template: the headers that every response has, formatted once and not for each response. Responses are
// data for programs: no cache, no MIME sniffing, no frames, no scripts.
// Gain: a response takes 0.8 µs of CPU time and not 4.3 with `new Response(text, { headers })`, where all of
// GET /balance takes 29 on the same busy machine.

import { ResponseTemplate } from "../http1/response.ts";

const SECURITY = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};
/** A year, for clients that are browsers after all. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" };

export function responseTemplate(isTls: boolean): ResponseTemplate {
  return new ResponseTemplate({
    "content-type": "application/json",
    ...SECURITY,
    ...(isTls ? STRICT_TRANSPORT : {}),
  });
}
