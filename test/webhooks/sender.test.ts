// What goes over the wire and where to, by receivers on this machine's addresses, over HTTP and TLS.

import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { parseNetwork } from "../../src/config/networks.ts";
import {
  createWebhookSender,
  type SenderOptions,
  type WebhookReply,
} from "../../src/webhooks/sender.ts";
import { makeCertificate } from "../support/http/certificates.ts";
import { freshFolder } from "../support/folders.ts";
import {
  type Answer,
  OK,
  type Receiver,
  startReceiver,
} from "../support/peers/webhook-receiver.ts";
import { SPELLINGS } from "./spellings.ts";

const NAME = "hooks.example.test";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const BODY =
  '{"type":"webhook.test","timestamp":"2026-11-21T00:49:31.840Z","data":{"ä":"\\u0000😀"}}';
const LOOPBACK = [parseNetwork("127.0.0.0/8")!];

const receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
});

const start = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given);
  receivers.push(receiver);
  return receiver;
};

const openStop = new AbortController();

function send(
  url: string,
  options: Partial<SenderOptions> = {},
  secrets: string[] = [SECRET],
  stop = openStop.signal,
): Promise<WebhookReply> {
  const policy = { allow: LOOPBACK, allowHttp: true };
  const sender = createWebhookSender({ policy, now: Date.now, ...options });
  return sender({ url, secrets, eventId: "evt_w6xw0c6k8v1n4q2z7m5t3b9a", body: BODY }, stop);
}

const answered = async (answer: Answer, options: Partial<SenderOptions> = {}) => {
  const receiver = await start(answer);
  return send(`http://127.0.0.1:${receiver.port}/`, options);
};

const at = (...addresses: string[]) => ({ resolve: async () => addresses });

describe("a request", () => {
  test("is the specified one, its body byte for byte, and standardwebhooks verifies it", async () => {
    const receiver = await start();
    const reply = await send(`http://127.0.0.1:${receiver.port}/hook?a=b`);
    expect(reply).toEqual({
      httpStatus: 200,
      error: null,
      response: "ok",
      retryAfterSeconds: null,
    });
    const [{ head, headers, body }] = receiver.received as [Receiver["received"][0]];
    expect(head).toBe("POST /hook?a=b HTTP/1.1");
    expect(body).toBe(BODY);
    expect(headers).toMatchObject({
      host: `127.0.0.1:${receiver.port}`,
      "content-type": "application/json",
      "user-agent": "reseller-webhooks/1",
      "webhook-id": "evt_w6xw0c6k8v1n4q2z7m5t3b9a",
    });
    expect(headers["webhook-signature"]).toMatch(/^v1,[\w+/]{43}=$/);
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(BODY));
    expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook(OLD_SECRET).verify(body, headers)).toThrow();
  });

  test("carries a signature of both secrets while one is replaced by the other", async () => {
    const receiver = await start();
    await send(`http://127.0.0.1:${receiver.port}/`, {}, [SECRET, OLD_SECRET]);
    const [{ headers, body }] = receiver.received as [Receiver["received"][0]];
    expect(headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    for (const secret of [SECRET, OLD_SECRET]) new Webhook(secret).verify(body, headers);
  });

  test("goes to the address of the name, with the name in Host", async () => {
    const [right, wrong] = [await start(OK, { host: "127.0.0.3" }), await start()];
    const reply = await send(`http://${NAME}:${right.port}/`, at("127.0.0.3"));
    expect(reply.error).toBeNull();
    expect(right.received[0]).toMatchObject({
      address: "127.0.0.3",
      headers: { host: `${NAME}:${right.port}` },
    });
    expect(wrong.connections()).toBe(0);
  });

  test("over TLS goes to that address, and standardwebhooks verifies it", async () => {
    const { tls, ca } = certificateOf(NAME);
    const receiver = await start(OK, { host: "127.0.0.3", tls });
    const reply = await send(`https://${NAME}:${receiver.port}/`, { ...at("127.0.0.3"), ca });
    expect(reply).toMatchObject({ httpStatus: 200, error: null });
    const [{ headers, body, serverName, address }] = receiver.received as [Receiver["received"][0]];
    expect({ serverName, address }).toEqual({ serverName: NAME, address: "127.0.0.3" });
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(JSON.parse(BODY));
  });

  test("over TLS is not sent where the certificate is another name's, the address's or unknown", async () => {
    const other = certificateOf("other.example.test");
    const address = certificateOf("elsewhere.test", "IP:127.0.0.1");
    const cases = [
      [other, { ca: other.ca }],
      [address, { ca: address.ca }],
      [certificateOf(NAME), {}],
    ] as const;
    for (const [{ tls }, trust] of cases) {
      const receiver = await start(OK, { tls });
      const reply = await send(`https://${NAME}:${receiver.port}/`, {
        ...at("127.0.0.1"),
        ...trust,
      });
      expect(reply).toMatchObject({ httpStatus: null, error: "tls" });
      expect(receiver.received).toEqual([]);
    }
  });

  test("over TLS to an address checks the certificate against the address", async () => {
    const named = certificateOf(NAME);
    const addressed = certificateOf("elsewhere.test", "IP:127.0.0.1");
    const results = [];
    for (const { tls, ca } of [named, addressed]) {
      const receiver = await start(OK, { tls });
      results.push(await send(`https://127.0.0.1:${receiver.port}/`, { ca }));
    }
    expect(results.map(({ error }) => error)).toEqual(["tls", null]);
  });
});

describe("a special address never gets a connection", () => {
  const closed = { policy: { allow: [], allowHttp: true } };

  test("in any spelling of it in the URL", async () => {
    const v4 = await start(OK, { host: "0.0.0.0" });
    const v6 = await start(OK, { host: "::1" });
    for (const host of SPELLINGS) {
      for (const { port } of [v4, v6]) {
        for (const scheme of ["http", "https"]) {
          const { error } = await send(`${scheme}://${host}:${port}/`, closed);
          expect([host, error]).toEqual([host, "blocked_address"]);
        }
      }
    }
    expect([v4.connections(), v6.connections()]).toEqual([0, 0]);
  });

  test("as one of the addresses of a name, wherever it stands among public ones", async () => {
    const receiver = await start();
    for (const addresses of [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"]]) {
      const reply = await send(`http://${NAME}:${receiver.port}/`, {
        ...closed,
        ...at(...addresses),
      });
      expect(reply.error).toBe("blocked_address");
    }
    expect((await send(`http://localhost:${receiver.port}/`, closed)).error).toBe(
      "blocked_address",
    );
    expect(receiver.connections()).toBe(0);
  });

  for (const scheme of ["http", "https"]) {
    test(`as what a name changes to between two look-ups, over ${scheme}`, async () => {
      const { tls, ca } = certificateOf(NAME);
      const secure = scheme === "https" ? { tls } : {};
      // 127.0.0.3 stands for a public address, 127.0.0.1 for one that nobody may reach.
      const shown = await start(OK, { host: "127.0.0.3", ...secure });
      const hidden = await start(OK, { ...secure });
      const policy = { allow: [parseNetwork("127.0.0.3/32")!], allowHttp: true };
      let looks = 0;
      const resolve = async () => ((looks += 1) % 2 === 1 ? ["127.0.0.3"] : ["127.0.0.1"]);
      const outcomes = [];
      for (let count = 0; count < 6; count += 1) {
        for (const { port } of [shown, hidden]) {
          outcomes.push(
            (await send(`${scheme}://${NAME}:${port}/`, { policy, resolve, ca })).error,
          );
        }
      }
      // One look-up an attempt; the second of each pair is refused by it.
      expect(looks).toBe(12);
      expect(outcomes).toEqual(Array.from({ length: 6 }, () => [null, "blocked_address"]).flat());
      expect(hidden.connections()).toBe(0);
      expect(shown.received).toHaveLength(6);
    });
  }

  test("by a redirect, which is a failure and not followed", async () => {
    const hidden = await start();
    for (const status of [301, 302, 303, 307, 308]) {
      const location = `http://127.0.0.1:${hidden.port}/`;
      const reply = await answered(
        `HTTP/1.1 ${status} Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(reply).toMatchObject({ httpStatus: status, error: "redirect" });
    }
    expect(hidden.connections()).toBe(0);
  });

  test("as the proxy that a variable names", async () => {
    const [proxy, receiver] = [await start(), await start()];
    const script = `
      const { createWebhookSender } = await import(${JSON.stringify(import.meta.resolve("../../src/webhooks/sender.ts"))});
      const { parseNetwork } = await import(${JSON.stringify(import.meta.resolve("../../src/config/networks.ts"))});
      const policy = { allow: [parseNetwork("127.0.0.0/8")], allowHttp: true };
      const send = createWebhookSender({ policy, now: Date.now, resolve: async () => ["127.0.0.1"] });
      const request = { url: "http://${NAME}:${receiver.port}/", secrets: ["${SECRET}"], eventId: "evt_1", body: "{}" };
      console.log((await send(request, new AbortController().signal)).error);`;
    const address = `http://127.0.0.1:${proxy.port}`;
    const variables = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [
      [name, address],
      [name.toUpperCase(), address],
    ]);
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { PATH: process.env["PATH"] ?? "", ...Object.fromEntries(variables) },
      stdout: "pipe",
    });
    expect((await new Response(child.stdout).text()).trim()).toBe("null");
    expect([proxy.connections(), receiver.connections()]).toEqual([0, 1]);
  });
});

describe("a reply", () => {
  const status = (line: string, headers = "") =>
    answered(`HTTP/1.1 ${line}\r\n${headers}Content-Length: 5\r\n\r\nthere`);

  test("with a 2xx is success, whatever happens to its body", async () => {
    expect(await status("299 Fine")).toMatchObject({ httpStatus: 299, error: null });
    const breaks = (socket: Socket) => {
      socket.write("HTTP/1.1 202 Yes\r\nContent-Length: 100\r\n\r\nabc", () => socket.destroy());
    };
    expect(await answered(breaks)).toMatchObject({ httpStatus: 202, error: null });
    const hangs = (socket: Socket) => {
      socket.write("HTTP/1.1 200 Yes\r\nContent-Length: 100\r\n\r\nabc");
    };
    // On a slow machine the time may be over before the beginning is there.
    let hung = await answered(hangs, { timeoutMs: 300 });
    for (let timeoutMs = 600; hung.error === "timeout"; timeoutMs *= 2) {
      hung = await answered(hangs, { timeoutMs });
    }
    expect(hung).toMatchObject({ httpStatus: 200, error: null, response: "abc" });
    const gzip = "HTTP/1.1 200 Yes\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc";
    expect(await answered(gzip)).toMatchObject({ error: null, response: "abc" });
  });

  test("with any other status is a failure, with its Retry-After", async () => {
    for (const line of ["400 No", "404 No", "410 Gone", "500 No", "304 Same", "999 Odd"]) {
      const reply = await status(line);
      expect([line, reply.httpStatus]).toEqual([line, Number(line.slice(0, 3))]);
      expect([line, reply.error]).toEqual([line, line.startsWith("3") ? "redirect" : "status"]);
    }
    const later = await status("503 Later", "Retry-After: 17\r\n");
    expect(later).toMatchObject({ error: "status", retryAfterSeconds: 17, response: "there" });
  });

  test("is read to 16 KiB at most and kept to 1 KiB", async () => {
    let isClosed = false;
    const endless = (socket: Socket) => {
      socket.on("close", () => (isClosed = true));
      socket.write("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n");
      const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
      const more = () => {
        if (!socket.destroyed) socket.write(chunk, () => setImmediate(more));
      };
      more();
    };
    const reply = await answered(endless);
    expect(reply).toMatchObject({ httpStatus: 500, error: "status", response: "x".repeat(1024) });
    while (!isClosed) await Bun.sleep(5);
  });

  test("is stored as text: NUL and invalid UTF-8 become ?, and no character is cut in half", async () => {
    const body = `a\0\xff${"\xc3\xa4".repeat(600)}`;
    const { response } = await answered(
      `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(response).toBe(`a??${"ä".repeat(510)}`);
  });

  test("that never comes, or only in part, is a time-out of the whole exchange", async () => {
    const silent = () => {};
    const slow = (socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("x-a: b\r\n"), 20);
      socket.on("close", () => clearInterval(drip));
    };
    for (const answer of [silent, slow]) {
      const reply = await answered(answer, { timeoutMs: 300 });
      expect(reply).toMatchObject({ httpStatus: null, error: "timeout" });
    }
    const lookup = { resolve: () => new Promise<never>(() => {}), timeoutMs: 100 };
    expect((await send(`http://${NAME}/`, lookup)).error).toBe("timeout");
  });

  test("that is not HTTP, or no connection, is `connection`", async () => {
    expect((await answered("SSH-2.0-OpenSSH\r\n")).error).toBe("connection");
    expect((await answered((socket) => socket.destroy())).error).toBe("connection");
    const gone = await startReceiver();
    await gone.stop();
    expect((await send(`http://127.0.0.1:${gone.port}/`)).error).toBe("connection");
    const endlessHead = (socket: Socket) => {
      const more = () => {
        if (!socket.destroyed) socket.write("x".repeat(65_536), () => setImmediate(more));
      };
      socket.write("HTTP/1.1 200 OK\r\nx-a: ", more);
    };
    expect((await answered(endlessHead)).error).toBe("connection");
  });

  test("that is awaited when the service stops is `stopped`", async () => {
    const stop = new AbortController();
    const receiver = await start(() => stop.abort());
    const reply = await send(`http://127.0.0.1:${receiver.port}/`, {}, [SECRET], stop.signal);
    expect(reply.error).toBe("stopped");
    const after = await send(`http://127.0.0.1:${receiver.port}/`, {}, [SECRET], stop.signal);
    expect(after.error).toBe("stopped");
    expect(receiver.connections()).toBe(1);
  });

  test("of a URL that is no longer allowed, or of a name without addresses, has its own outcome", async () => {
    const receiver = await start();
    const https = { policy: { allow: LOOPBACK, allowHttp: false } };
    expect((await send(`http://127.0.0.1:${receiver.port}/`, https)).error).toBe("url_not_allowed");
    const nowhere = { resolve: () => Promise.reject(new Error("ENOTFOUND")) };
    expect((await send(`http://${NAME}:${receiver.port}/`, nowhere)).error).toBe("dns");
    expect(receiver.connections()).toBe(0);
  });
});

function certificateOf(name: string, names = `DNS:${name}`) {
  const files = makeCertificate(freshFolder(), name, 30, undefined, names);
  const [cert, key] = [readFileSync(files.cert, "utf8"), readFileSync(files.key, "utf8")];
  return { tls: { cert, key }, ca: cert };
}
