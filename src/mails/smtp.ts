// Sends one mail to the mail server, by a connection of its own: docs/specification/email.md#mail-sending. Loaded only
// where mails are sent.

import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { isPlainAllowed, type MailAddress, type MailServer } from "../config/mail-values.ts";
import type { MailFailure } from "../domain/mails/mails.ts";
import { errorCode } from "../domain/values/error-table.ts";
import { SECOND_MS } from "../domain/values/spans.ts";
import { failureOf, type SmtpError } from "./failures.ts";

/** Limit in milliseconds for a whole attempt: a quarter of the lease. */
export const ATTEMPT_MS = 60 * SECOND_MS;
/** Limits for the connection with its first answer, and for every further answer. */
const CONNECT_MS = 20 * SECOND_MS;
const ANSWER_MS = 30 * SECOND_MS;

export interface OutgoingMail {
  /** The same for each attempt with the same text, so that a receiver recognises a mail that arrives twice. */
  messageId: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Further headers. */
  headers: Readonly<Record<string, string>>;
  /** When it was queued. */
  date: Date;
}

export interface MailReply {
  /** Null: it was sent. `stopped`: the server was stopped. Nothing is recorded, and the mail is sent later. */
  error: MailFailure | "stopped" | null;
  /** What the mail server answered, or the error. */
  reply: string | null;
}

/** Sends one mail. Never rejects. */
export type SendMail = (mail: OutgoingMail, stop: AbortSignal) => Promise<MailReply>;

export interface SmtpOptions {
  server: MailServer;
  password: string | null;
  from: MailAddress;
  /** Certificates (PEM) to trust instead of the system's. */
  ca?: string;
  attemptMs?: number;
}

export function createMailSender(options: SmtpOptions): SendMail {
  const { attemptMs = ATTEMPT_MS } = options;
  return async (mail, stop) => {
    const connection = connectionTo(options);
    const ended = Promise.withResolvers<MailReply>();
    const end = (error: MailReply["error"], reply: string | null) => {
      ended.resolve({ error, reply: reply && masked(reply, options) });
      connection.close();
    };
    const timer = setTimeout(() => end("timeout", null), attemptMs);
    const onStop = () => end("stopped", null);
    stop.addEventListener("abort", onStop);
    if (stop.aborted) onStop();
    const fail = (error: unknown) => end(failureOf(error as SmtpError, mail.to), replyOf(error));
    connection.on("error", fail);
    connection.on("end", () => end("connection", "the connection was closed"));
    deliver(connection, mail, options).then((reply) => end(null, reply), fail);
    const reply = await ended.promise;
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
    return reply;
  };
}

function connectionTo({ server, ca }: SmtpOptions): SMTPConnection {
  const { host, port, isTls } = server;
  const isPlain = isPlainAllowed(server);
  return new SMTPConnection({
    host,
    port,
    secure: isTls,
    requireTLS: !isTls && !isPlain,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
    socketCloseTimeout: 0,
    // Nobody reads along on this machine, and the certificate of a local mail server is seldom signed.
    tls: { minVersion: "TLSv1.2", rejectUnauthorized: isTls || !isPlain, ...(ca && { ca }) },
  });
}

/** Sends a mail on a new connection. Resolves with the mail server's answer once it has the mail. */
async function deliver(
  connection: SMTPConnection,
  mail: OutgoingMail,
  { server: { user }, password, from }: SmtpOptions,
): Promise<string> {
  const message = await compose(mail, from);
  await called((done) => connection.connect(done));
  if (user !== null) {
    await called((done) => connection.login({ user, pass: password ?? "" }, done));
  }
  const envelope = { from: from.address, to: mail.to };
  const { response } = await called<{ response: string }>((done) =>
    connection.send(envelope, message, done as never),
  );
  return response;
}

function compose(mail: OutgoingMail, from: MailAddress): Promise<Buffer> {
  const { address, name } = from;
  const node = new MailComposer({
    ...mail,
    from: { address, name: name ?? "" },
    to: { address: mail.to, name: "" },
    disableFileAccess: true,
    disableUrlAccess: true,
    // No bounces to holiday replies, and none of them to us.
    headers: { "Auto-Submitted": "auto-generated", ...mail.headers },
  }).compile();
  return called((done) => node.build(done as never));
}

/** Runs a function with a callback. */
function called<T = unknown>(
  run: (done: (error?: Error | null, value?: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    run((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

function replyOf(error: unknown): string {
  const { response, message } = error as SmtpError;
  return response ?? (errorCode(error) === "" ? message : `${errorCode(error)}: ${message}`);
}

/** Hides the password, also as sign-ins encode it: some mail servers repeat what they do not understand. */
function masked(reply: string, { server: { user }, password }: SmtpOptions): string {
  if (password === null) return reply;
  const sent = [`\0${user}\0${password}`, password];
  const encoded = sent.map((text) => Buffer.from(text).toString("base64"));
  return [...encoded, password].reduce((text, each) => text.replaceAll(each, "***"), reply);
}

/** Makes the mail of `admin mail test`. */
export function testMail(
  to: string,
  { name, address }: MailAddress,
  brand: string | null,
  date: Date,
): OutgoingMail {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const text = "This is a test: e-mails arrive here.";
  return {
    messageId: `<${crypto.randomUUID()}@${domain}>`,
    to,
    subject: `${brand ?? name ?? domain}: test`,
    text: `${text}\n`,
    html: `<p>${text}</p>`,
    headers: {},
    date,
  };
}
