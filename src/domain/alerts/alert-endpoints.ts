// Alert endpoints: a URL, signed like a webhook, or a Telegram chat. docs/specification/alerts.md#alerts.

/** Stored for an alert endpoint instead of event types. */
export const ALERT_EVENTS = "alerts";

/** Address of Telegram's Bot API. */
export const TELEGRAM_API = "https://api.telegram.org";
/** Limit of Telegram for the characters of a message. */
const TELEGRAM_TEXT_LIMIT = 4096;
const CHAT = /^(?:-?[1-9]\d{0,18}|@[A-Za-z][A-Za-z0-9_]{3,63})$/;
export const CHAT_FORM = "the number of a chat, or @ and the name of a channel";
const TOKEN = /^\d{3,20}:[A-Za-z0-9_-]{20,100}$/;
export const TOKEN_FORM = "a bot's token as BotFather shows it, such as 123456:ABC-DEF…";

export function isChat(text: string): boolean {
  return CHAT.test(text);
}

export function isTelegramToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Returns the text of a Telegram message. `body`: from alertBody. */
export function telegramText(body: string): string {
  const { type, kind, message, at } = JSON.parse(body) as Record<string, string>;
  const head = type === "alert.resolved" ? "Resolved" : "Alert";
  const text = `${head}: ${message}\n${kind}, ${at}`;
  return text.slice(0, TELEGRAM_TEXT_LIMIT).toWellFormed();
}

/** The fields of an alert endpoint that are shown; its secret is not. */
export interface ShownAlertEndpoint {
  id: string;
  url: string;
  telegramChat: string | null;
  failures: number;
  failingSince: number | null;
  createdAt: number;
}

export function publicAlertEndpoint(endpoint: ShownAlertEndpoint) {
  const { id, url, telegramChat, failures, failingSince, createdAt } = endpoint;
  return {
    id,
    channel: telegramChat === null ? ("url" as const) : ("telegram" as const),
    target: telegramChat ?? url,
    failures,
    failingSince: failingSince === null ? null : new Date(failingSince).toISOString(),
    createdAt: new Date(createdAt).toISOString(),
  };
}
