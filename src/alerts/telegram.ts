// Sends a message to a chat with Telegram's Bot API: https://core.telegram.org/bots/api#sendmessage. The URL contains
// the token, so neither the URL nor an error that may contain it leaves this file.

import { telegramText } from "../domain/alerts/alert-endpoints.ts";
import { parseRetryAfter } from "../domain/webhooks/webhook-schedule.ts";
import { exchange, type ExchangeReply } from "../webhooks/exchange.ts";
import {
  EXCHANGE_MS,
  failed,
  failureOf,
  failureOfError,
  readText,
  REPLY_READ_BYTES,
  type WebhookReply,
  type WebhookRequest,
} from "../webhooks/sender.ts";

const MASK = "***";

export interface TelegramOptions {
  /** The URL of the Bot API. */
  api: string;
  now: () => number;
  timeoutMs?: number;
}

/** Sends an alert to a chat. Never rejects. */
export async function sendTelegram(
  chat: string,
  { secrets: [token], body }: Pick<WebhookRequest, "secrets" | "body">,
  { api, now, timeoutMs = EXCHANGE_MS }: TelegramOptions,
  stop: AbortSignal,
): Promise<WebhookReply> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const message = {
      chat_id: chat,
      text: telegramText(body),
      link_preview_options: { is_disabled: true },
    };
    const request = {
      url: new URL(`${api.replace(/\/$/, "")}/bot${token}/sendMessage`),
      headers: { "content-type": "application/json", "accept-encoding": "identity" },
      body: new TextEncoder().encode(JSON.stringify(message)),
      limitBytes: REPLY_READ_BYTES,
    };
    const reply = await exchange(request, AbortSignal.any([stop, timeout]));
    return replyOf(reply, readText(reply.body).replaceAll(token!, MASK), now());
  } catch (error) {
    if (stop.aborted) return failed("stopped");
    if (timeout.aborted) return failed("timeout");
    return failed(failureOfError(error));
  }
}

/** Reads the reply. The body of a 429 says how long to wait. */
function replyOf({ status, headers }: ExchangeReply, text: string, now: number): WebhookReply {
  const header = parseRetryAfter(headers.get("retry-after") ?? null, now);
  const isAccepted = /"ok"\s*:\s*true/.test(text);
  const error = failureOf(status);
  return {
    httpStatus: status,
    // A server that is not Telegram may also answer with a 200.
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
