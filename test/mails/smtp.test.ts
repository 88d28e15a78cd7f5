// Sending a mail to a mail server: what counts as sent, as refused for good, and as a reason to try again.

import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import type { MailFailure } from "../../src/domain/mails/mails.ts";
import { createMailSender, type OutgoingMail, type SmtpOptions } from "../../src/mails/smtp.ts";
import { freshFolder } from "../support/folders.ts";
import { makeCertificate } from "../support/http/certificates.ts";
import {
  localCertificate,
  type MailServerPeer,
  type MailServerSettings,
  startMailServer,
} from "../support/peers/mail-server.ts";

const MAIL: OutgoingMail = {
  messageId: "<abc@shop.example>",
  to: "ann@x.example",
  subject: "Grüße, Привет",
  text: "Text\n",
  html: "<p>Text</p>",
  headers: { "List-Unsubscribe": "<https://shop.example/portal/unsubscribe/1>" },
  date: new Date("2026-11-28T12:00:00Z"),
};
const FROM = { name: "Shop", address: "orders@shop.example" };
const NEVER = new AbortController().signal;

const peers: { close(): unknown }[] = [];
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
});

async function peer(settings?: MailServerSettings): Promise<MailServerPeer> {
  const started = await startMailServer(settings);
  peers.push(started);
  return started;
}

/** A sender to a server of this machine, by a name that is not its own, so that TLS is required. */
function senderTo(
  { port }: { port: number },
  { isTls = false, user = null as string | null, host = "127.0.0.1", ...given } = {} as {
    isTls?: boolean;
    user?: string | null;
    host?: string;
  } & Partial<SmtpOptions>,
) {
  const server = { isTls, host, port, user, hasPassword: false };
  const ca = readFileSync(localCertificate().cert, "utf8");
  return createMailSender({ server, password: null, from: FROM, ca, ...given });
}

/** A form of this machine's address that is not taken for it. */
const REMOTE = "127.1";
const OF_REMOTE = makeCertificate(freshFolder(), "remote", 30, undefined, `DNS:${REMOTE}`);

test("a mail arrives as it was made, with its id, date and further headers", async () => {
  const server = await peer();
  expect(await senderTo(server)(MAIL, NEVER)).toMatchObject({ error: null });
  const [{ mail, to, from, raw }] = server.received as [MailServerPeer["received"][number]];
  expect([to, from]).toEqual(["ann@x.example", "orders@shop.example"]);
  expect(mail.subject).toBe(MAIL.subject);
  expect(mail.messageId).toBe(MAIL.messageId);
  expect(mail.date).toEqual(MAIL.date);
  expect(mail.text).toBe(MAIL.text);
  expect(mail.html).toContain("<p>Text</p>");
  expect(mail.from?.text).toBe('"Shop" <orders@shop.example>');
  expect(raw).toContain("Auto-Submitted: auto-generated\r\n");
  expect(raw).toContain("List-Unsubscribe: <https://shop.example/portal/unsubscribe/1>\r\n");
});

test("a text with line breaks begins no header and reaches no other address", async () => {
  const server = await peer();
  const evil = "Hi\r\nBcc: evil@x.example\r\n\r\nbody";
  const from = { name: evil, address: FROM.address };
  const mail = { ...MAIL, subject: evil, headers: { "List-Unsubscribe": `<x>${evil}` } };
  expect((await senderTo(server, { from })(mail, NEVER)).error).toBe(null);
  const address = { ...MAIL, to: "ann@x.example>\r\nRCPT TO:<evil@x.example" };
  expect((await senderTo(server)(address, NEVER)).error).toBe("refused");
  expect(server.received.map(({ to }) => to)).toEqual(["ann@x.example"]);
  const { mail: got, raw } = server.received[0]!;
  expect(got.bcc).toBeUndefined();
  expect(raw).not.toMatch(/^Bcc:/im);
});

const SIGNED_IN = { login: { user: "u@x", password: "hunter2" } };

/** Each server, how it is reached, and what comes of the mail. */
const COURSES: [string, MailServerSettings, Parameters<typeof senderTo>[1], MailFailure | null][] = [
  ["plain, on this machine", {}, {}, null],
  ["STARTTLS, on this machine", { tls: "starttls" }, {}, null],
  ["TLS from the start", { tls: "implicit" }, { isTls: true }, null],
  ["with name and password", { tls: "implicit", ...SIGNED_IN }, { isTls: true, user: "u@x", password: "hunter2" }, null],
  ["a wrong password", SIGNED_IN, { user: "u@x", password: "hunter3" }, "login"],
  ["no sign-in where one is required", SIGNED_IN, {}, "login"],
  ["a certificate of another name", { tls: "implicit", certificate: makeCertificate(freshFolder(), "other", 30, undefined, "DNS:other.example") }, { isTls: true }, "tls"],
  ["a certificate that nobody trusts", { tls: "implicit" }, { isTls: true, ca: readFileSync(makeCertificate(freshFolder(), "ca").cert, "utf8") }, "tls"],
  ["TLS expected, none there", {}, { isTls: true }, "tls"],
  ["no TLS expected, TLS there", { tls: "implicit" }, { attemptMs: 2000 }, "timeout"],
  ["5xx to the recipient", { judge: () => ({ at: "RCPT", code: 550 }) }, {}, "refused"],
  ["5xx to the mail", { judge: () => ({ at: "DATA", code: 554 }) }, {}, "refused"],
  ["4xx to the recipient", { judge: () => ({ at: "RCPT", code: 451 }) }, {}, "deferred"],
  ["4xx to the mail", { judge: () => ({ at: "DATA", code: 452 }) }, {}, "deferred"],
  ["421, the server closes", { judge: () => ({ at: "DATA", code: 421 }) }, {}, "connection"],
  ["another machine, with STARTTLS and its certificate", { tls: "starttls", certificate: OF_REMOTE }, { host: REMOTE, ca: readFileSync(OF_REMOTE.cert, "utf8") }, null],
  ["another machine, STARTTLS with a certificate that nobody trusts", { tls: "starttls" }, { host: REMOTE }, "tls"],
  ["the connection breaks", { judge: () => "break" }, {}, "connection"],
  ["no answer in time", { judge: () => "hang" }, { attemptMs: 500 }, "timeout"],
]; // prettier-ignore

test.each(COURSES)("%s", async (...course) => {
  const [, settings, options, error] = course;
  const server = await peer(settings);
  const reply = await senderTo(server, options)(MAIL, NEVER);
  expect(reply.error).toBe(error);
  expect(server.received.length).toBe(error === null ? 1 : 0);
  expect(JSON.stringify(reply)).not.toContain("hunter");
  if (error === null) expect(server.received[0]!.isSecure).toBe(settings.tls !== undefined);
});

test("without TLS nothing is sent to another machine, not even name and password", async () => {
  const commands: string[] = [];
  const server: Server = createServer((socket) => {
    socket.write("220 mail.example\r\n");
    socket.on("data", (data) => {
      commands.push(String(data).trim());
      socket.write(/^EHLO/i.test(String(data)) ? "250-mail\r\n250 AUTH PLAIN\r\n" : "502 no\r\n");
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peers.push({ close: () => server.close() });
  const { port } = server.address() as AddressInfo;
  const send = senderTo({ port }, { host: REMOTE, user: "u", password: "hunter2" });
  expect((await send(MAIL, NEVER)).error).toBe("tls");
  expect(commands.filter((line) => !/^(EHLO|STARTTLS)/i.test(line))).toEqual([]);
});

test.each([
  ["PLAIN", "250 AUTH PLAIN"],
  ["LOGIN", "250 AUTH LOGIN"],
])(
  "a mail server that repeats a sign-in by %s does not bring the password into the answer",
  async (method, offer) => {
    const server: Server = createServer((socket) => {
      socket.write("220 mail.example\r\n");
      let asked = 0;
      socket.on("data", (data) => {
        const line = String(data).trim();
        if (/^EHLO/i.test(line)) socket.write(`250-mail\r\n${offer}\r\n`);
        else if (method === "LOGIN" && (asked += 1) < 3) socket.write("334 VXNlcm5hbWU6\r\n");
        else socket.write(`535 not understood: ${line}\r\n`);
      });
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    peers.push({ close: () => server.close() });
    const { port } = server.address() as AddressInfo;
    const password = "hunter2 für alle";
    const { error, reply } = await senderTo({ port }, { user: "u@x", password })(MAIL, NEVER);
    expect([error, reply]).toEqual([
      "login",
      `535 not understood: ${method === "PLAIN" ? "AUTH PLAIN " : ""}***`,
    ]);
  },
);

test("nobody listens, and no such host: the connection failed", async () => {
  const gone = await startMailServer();
  const { port } = gone;
  await gone.close();
  expect((await senderTo({ port })(MAIL, NEVER)).error).toBe("connection");
  const nowhere = senderTo({ port }, { host: "mail.invalid" });
  expect((await nowhere(MAIL, NEVER)).error).toBe("connection");
});

test("a stop ends an attempt at once, and nothing is to be recorded", async () => {
  const server = await peer({ judge: () => "hang" });
  const stop = new AbortController();
  const sending = senderTo(server)(MAIL, stop.signal);
  stop.abort();
  expect(await sending).toEqual({ error: "stopped", reply: null });
});
