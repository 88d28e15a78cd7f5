// Why a call to a provider got no reply, in words. A failed call is stored by its system error, such as ECONNREFUSED.

import { SHORTAGE_CODES } from "../../domain/values/shortages.ts";

const CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
/** The shortest codes of the system have five letters. */
const CODE_LENGTH = 5;

/** Words for codes, the first that matches. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ENOTFOUND$|EAI_)/, "its name could not be looked up"],
  [/^(?:ECONNRESET|EPIPE)$/, "the connection broke"],
  [/^ETIMEDOUT$/, "the connection timed out"],
  [/^EPROTO$/, "the encrypted connection failed"],
  [/CERT|_CA$|PURPOSE|ISSUER|HOSTNAME|SIGNATURE|PATH_LENGTH/, "its certificate was not accepted"],
  [new RegExp(`^(?:${SHORTAGE_CODES.join("|")})$`), "this server had no connection left"],
];

/** Returns whether a cause is a system error and no reply. */
export function isCode(cause: string): boolean {
  return cause.length >= CODE_LENGTH && CODE.test(cause);
}

/** Says in words why there was no reply, with the code for whoever looks into it. Other causes stay as they are. */
export function failureText(cause: string): string {
  if (!isCode(cause)) return cause;
  const [, words = "it could not be reached"] = WORDS.find(([codes]) => codes.test(cause)) ?? [];
  return `${words} (${cause})`;
}
