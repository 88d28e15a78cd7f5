// Replies that do not end, wherever: no more than the limit of them is read, and then the connection ends.

import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, test } from "bun:test";
import { parseNetwork } from "../../src/config/networks.ts";
import { createChannels } from "../../src/alerts/channels.ts";

const NEVER = new AbortController().signal;
const POLICY = { allow: [parseNetwork("127.0.0.0/8")!], allowHttp: true };
const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const FILL = "x".repeat(1000);

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** Sends `head`, then `again` for as long as it is read. `closed`: the other side has ended the connection. */
async function endless(head: string, again: string) {
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket: Socket) => {
    const feed = () => {
      while (!socket.destroyed && socket.write(again.repeat(50)));
    };
    socket.on("error", () => {});
    socket.on("close", () => closed.resolve());
    socket.on("drain", feed);
    socket.once("data", () => {
      socket.write(head);
      feed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    closed: closed.promise,
  };
}

test.each<[string, string, string, number | null]>([
  ["a body without a length", `${OK}\r\n`, FILL, 200],
  ["a body of the length that it says", `${OK}content-length: 999999999999\r\n\r\n`, FILL, 200],
  ["chunks", CHUNKED, `3e8\r\n${FILL}\r\n`, 200],
  ["chunks of a byte", CHUNKED, "1\r\nx\r\n", 200],
  ["an extension of a chunk", `${CHUNKED}1;`, FILL, 200],
  ["the size of a chunk", CHUNKED, "0".repeat(1000), 200],
  ["trailers", `${CHUNKED}0\r\n`, `x-trailer: ${FILL}\r\n`, 200],
  ["a header field", `${OK}x: `, FILL, null],
  ["header fields", OK, "a: b\r\n", null],
  ["interim responses", "", "HTTP/1.1 100 Continue\r\n\r\n", null],
  ["early hints", "", `HTTP/1.1 103 Early Hints\r\nlink: ${FILL}\r\n\r\n`, null],
  ["a status line", "HTTP/1.1 200 ", FILL, null],
  ["no HTTP at all", "", FILL, null],
])(
  "%s that does not end: the attempt ends by itself, for webhooks and both kinds of alerts",
  async (_, head, again, status) => {
    const secrets = [`whsec_${Buffer.alloc(32, 1).toString("base64")}`];
    const request = { secrets, eventId: "evt_1", body: '{"type":"alert.raised"}' };
    for (const alert of [undefined, { telegramChat: null }, { telegramChat: "@operator" }]) {
      const { url, closed } = await endless(head, again);
      const send = createChannels({ policy: POLICY, now: Date.now, telegramApi: url });
      const reply = await send({ ...request, url: `${url}/`, ...(alert && { alert }) }, NEVER);
      await closed;
      expect(reply.httpStatus).toBe(status);
      // It is not Telegram that answers so.
      const isDelivered = status === 200 && alert?.telegramChat !== "@operator";
      expect(reply.error).toBe(isDelivered ? null : status === 200 ? "status" : "connection");
      expect((reply.response ?? "").length).toBeLessThanOrEqual(1024);
    }
  },
);
