// A stand-in for Telegram's Bot API, over HTTP: it knows one bot and its chats, and refuses what Telegram refuses.
// https://core.telegram.org/bots/api#sendmessage

export interface FakeTelegram {
  url: string;
  /** The texts that chats were sent, in order. */
  messages: { chat: string; text: string }[];
  /** Requests so far, refused ones included. */
  requests(): number;
  /** For so many seconds it is said to wait; 0: not any more. */
  flooded: number;
  stop(): Promise<void>;
}

export const BOT_TOKEN = "123456789:AAExample-token_of_a_bot_in_tests_0";
export const CHAT = "424242";
const TEXT_LIMIT = 4096;

export function startTelegram(): FakeTelegram {
  let requests = 0;
  const refuse = (status: number, description: string, parameters?: object) =>
    Response.json(
      { ok: false, error_code: status, description, ...(parameters && { parameters }) },
      { status },
    );
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      requests += 1;
      const { pathname } = new URL(request.url);
      if (pathname !== `/bot${BOT_TOKEN}/sendMessage`) return refuse(401, "Unauthorized");
      const { chat_id: chat, text } = (await request.json()) as Record<string, unknown>;
      if (telegram.flooded > 0) {
        const seconds = telegram.flooded;
        return refuse(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
      }
      if (chat !== CHAT) return refuse(400, "Bad Request: chat not found");
      if (typeof text !== "string" || text.trim() === "") {
        return refuse(400, "Bad Request: message text is empty");
      }
      if (text.length > TEXT_LIMIT) return refuse(400, "Bad Request: message is too long");
      telegram.messages.push({ chat, text });
      return Response.json({ ok: true, result: { message_id: telegram.messages.length } });
    },
  });
  const telegram: FakeTelegram = {
    url: server.url.origin,
    messages: [],
    requests: () => requests,
    flooded: 0,
    stop: () => server.stop(true),
  };
  return telegram;
}
