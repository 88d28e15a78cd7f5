// A message to a chat by the Bot API of Telegram: https://core.telegram.org/bots/api#sendmessage. The token is a part of the
// address: neither the address nor an error that may hold it leaves this file.

import { telegramText } from "../domain/alert-endpoints.ts";
import { errorCode } from "../domain/refusals.ts";
import { parseRetryAfter } from "../domain/webhook-schedule.ts";
import {
  EXCHANGE_MS,
  failed,
  failureOf,
  isTlsError,
  readText,
  type WebhookReply,
  type WebhookRequest,
} from "./sender.ts";

const MASK = "***";

export interface TelegramOptions {
  /** The address of the Bot API. */
  api: string;
  now: () => number;
  timeoutMs?: number;
}

/** Never rejects. */
export async function sendTelegram(
  chat: string,
  { secrets: [token], body }: Pick<WebhookRequest, "secrets" | "body">,
  { api, now, timeoutMs = EXCHANGE_MS }: TelegramOptions,
  stop: AbortSignal,
): Promise<WebhookReply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${api.replace(/\/$/, "")}/bot${token}/sendMessage`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({
        chat_id: chat,
        text: telegramText(body),
        link_preview_options: { is_disabled: true },
      }),
      redirect: "manual",
      keepalive: false,
      signal: AbortSignal.any([stop, timeout]),
    });
    const text = await readText(response);
    return replyOf(response, text.replaceAll(token!, MASK), now());
  } catch (error) {
    if (stop.aborted) return failed("stopped");
    if (timeout.aborted) return failed("timeout");
    return failed(isTlsError(errorCode(error)) ? "tls" : "connection");
  }
}

/** A 429 says in its body how long to wait. */
function replyOf({ status, headers }: Response, text: string, now: number): WebhookReply {
  const header = parseRetryAfter(headers.get("retry-after"), now);
  const isAccepted = /"ok"\s*:\s*true/.test(text);
  const error = failureOf(status);
  return {
    httpStatus: status,
    // Something else than Telegram may answer with a 200.
    error: error === null && !isAccepted ? "status" : error,
    response: text,
    retryAfterSeconds: retryAfterIn(text) ?? header,
  };
}

const RETRY_AFTER = /"retry_after"\s*:\s*(\d{1,7})\b/;

function retryAfterIn(text: string): number | null {
  const [, seconds] = RETRY_AFTER.exec(text) ?? [];
  return seconds === undefined ? null : Number(seconds);
}
