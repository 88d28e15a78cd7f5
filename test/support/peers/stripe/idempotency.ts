// Idempotency keys: a request runs once for its key. https://docs.stripe.com/api/idempotent_requests

import { ApiError } from "./errors.ts";

const KEY_LIMIT = 255;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Remembered {
  at: number;
  /** Method, path and parameters. */
  request: string;
  /** null while the first request is in flight. */
  reply: { status: number; text: string } | null;
}

export interface Outcome {
  status: number;
  text: string;
  /** False if the request failed validation: then it is not remembered. */
  isExecuted: boolean;
}

/** `request`: method, path and parameters. */
export type Once = (
  key: string | undefined,
  request: string,
  run: () => Promise<Outcome>,
) => Promise<{ status: number; text: string; isReplay: boolean }>;

export function createOnce(nowMs: () => number): Once {
  const remembered = new Map<string, Remembered>();
  return async (key, request, run) => {
    if (key === undefined) return { ...(await run()), isReplay: false };
    if (key.length > KEY_LIMIT || key === "")
      throw new ApiError(
        400,
        "invalid_request_error",
        `Invalid Idempotency-Key: at most ${KEY_LIMIT} characters`,
      );
    const first = remembered.get(key);
    if (first && nowMs() - first.at < DAY_MS) {
      if (first.request !== request)
        throw new ApiError(
          400,
          "idempotency_error",
          `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
        );
      if (first.reply === null)
        throw new ApiError(
          409,
          "idempotency_error",
          `There is currently another in-progress request using this Idempotent Key: ${key}`,
          { code: "idempotency_key_in_use" },
        );
      return { ...first.reply, isReplay: true };
    }
    const entry: Remembered = { at: nowMs(), request, reply: null };
    remembered.set(key, entry);
    const { isExecuted, ...reply } = await run();
    if (isExecuted) entry.reply = reply;
    else remembered.delete(key);
    return { ...reply, isReplay: false };
  };
}
