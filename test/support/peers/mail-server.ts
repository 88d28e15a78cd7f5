// A mail server of this machine, which keeps what it received.

import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { freshFolder } from "../folders.ts";
import { type CertificateFiles, makeCertificate } from "../http/certificates.ts";

export interface ReceivedMail {
  /** Address of the envelope. */
  to: string;
  from: string;
  /** Whether the connection had TLS, and who had signed in. */
  isSecure: boolean;
  user: string | null;
  raw: string;
  mail: ParsedMail;
}

/** What the server does with a mail: takes it, answers with a code at a command, or breaks the connection. */
export type Verdict = null | { at: "MAIL" | "RCPT" | "DATA"; code: number } | "break" | "hang";

export interface MailServerSettings {
  /** `none`: does not offer STARTTLS. */
  tls?: "none" | "starttls" | "implicit";
  certificate?: CertificateFiles;
  login?: { user: string; password: string };
  /** Called at each command with the address of the envelope, and the number of mails to it before. */
  judge?: (to: string, before: number) => Verdict;
}

export interface MailServerPeer {
  port: number;
  received: ReceivedMail[];
  /** The most connections at a time. */
  mostOpen(): number;
  close(): Promise<void>;
}

let made: CertificateFiles | undefined;

/** A certificate for localhost and 127.0.0.1 that signs itself. */
export function localCertificate(): CertificateFiles {
  return (made ??= makeCertificate(
    freshFolder(),
    "mail",
    30,
    undefined,
    "DNS:localhost,IP:127.0.0.1",
  ));
}

export async function startMailServer({
  tls = "none",
  certificate = localCertificate(),
  login,
  judge = () => null,
}: MailServerSettings = {}): Promise<MailServerPeer> {
  const received: ReceivedMail[] = [];
  const seen = new Map<string, number>();
  let [open, most] = [0, 0];
  const refuse = (code: number) => Object.assign(new Error("not now"), { responseCode: code });
  const options: SMTPServerOptions = {
    secure: tls === "implicit",
    key: readFileSync(certificate.key),
    cert: readFileSync(certificate.cert),
    disabledCommands: [...(tls === "starttls" ? [] : ["STARTTLS"]), ...(login ? [] : ["AUTH"])],
    authOptional: !login,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onAuth({ username, password }, _session, done) {
      const isRight = username === login?.user && password === login?.password;
      done(isRight ? null : refuse(535), isRight ? { user: username! } : undefined);
    },
    onConnect(_session, done) {
      open += 1;
      most = Math.max(most, open);
      done();
    },
    onClose() {
      open -= 1;
    },
    onMailFrom(_address, _session, done) {
      done();
    },
    onRcptTo({ address }, _session, done) {
      const verdict = judge(address, seen.get(address) ?? 0);
      if (verdict !== null && typeof verdict === "object" && verdict.at !== "DATA") {
        seen.set(address, (seen.get(address) ?? 0) + 1);
        done(refuse(verdict.code));
      } else done();
    },
    onData(stream, session, done) {
      const to = session.envelope.rcptTo[0]!.address;
      const verdict = judge(to, seen.get(to) ?? 0);
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        seen.set(to, (seen.get(to) ?? 0) + 1);
        if (verdict === "hang") return;
        if (verdict === "break") {
          for (const connection of server.connections) connection.close();
          return;
        }
        if (verdict !== null) return done(refuse(verdict.code));
        const raw = Buffer.concat(chunks);
        const from = session.envelope.mailFrom as { address: string };
        received.push({
          to,
          from: from.address,
          isSecure: session.secure,
          user: session.user === undefined ? null : String(session.user),
          raw: raw.toString(),
          mail: await simpleParser(raw),
        });
        done();
      });
    },
  };
  const server = new SMTPServer(options);
  // Clients that break off are part of the tests.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    received,
    mostOpen: () => most,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
