// A mail server of this machine that follows a script: at one step of the conversation it answers as told, closes the
// connection, or falls silent. It knows no more of SMTP than what nodemailer says.

import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { localCertificate } from "./mail-server.ts";

export const STEPS = [
  "connect",
  "EHLO",
  "STARTTLS",
  "TLS",
  "AUTH",
  "MAIL",
  "RCPT",
  "DATA",
  "end",
] as const;
export type Step = (typeof STEPS)[number];

/** `close` and `silence` are no answers. Null: as a mail server that works. */
export type Answer = string | null;

export interface ScriptedMail {
  to: string;
  messageId: string;
  /** The token of its link; null: it has none. */
  link: string | null;
  /** Whether the client was told that it was taken. */
  isAnswered: boolean;
}

export interface ScriptedMailServer {
  port: number;
  /** Every mail whose text arrived whole. */
  arrived: ScriptedMail[];
  /** Number of conversations that reached each step. */
  reached: Record<Step, number>;
  close(): Promise<void>;
}

/** `script` is asked at each step; `to` is the recipient, once it is known. */
export async function startScriptedMailServer(
  script: (step: Step, to: string) => Answer,
  offers: readonly ("STARTTLS" | "AUTH PLAIN")[] = [],
): Promise<ScriptedMailServer> {
  const arrived: ScriptedMail[] = [];
  const reached = Object.fromEntries(STEPS.map((step) => [step, 0])) as Record<Step, number>;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    converse(socket);
  });

  function converse(plain: Socket): void {
    let socket: Socket = plain;
    let to = "";
    let text: string | null = null;
    let rest = "";
    const say = (line: string) => void (socket.destroyed || socket.write(`${line}\r\n`));
    /** Follows the script. Returns what was said; empty: nothing. */
    const at = (step: Step, usual: string): string => {
      reached[step] += 1;
      const answer = script(step, to) ?? usual;
      if (answer === "close") socket.destroy();
      if (answer === "close" || answer === "silence") return "";
      say(answer);
      return answer;
    };
    const take = (line: string) => {
      if (text !== null) {
        if (line !== ".") return void (text += `${line}\n`);
        const messageId = /^message-id:\s*(\S+)/im.exec(text)![1]!;
        // Long lines are folded by quoted-printable.
        const link = /#([\w-]{43})/.exec(text.replaceAll("=\n", ""))?.[1] ?? null;
        const mail = { to, messageId, link, isAnswered: false };
        text = null;
        arrived.push(mail);
        mail.isAnswered = at("end", "250 taken").startsWith("2");
        return;
      }
      const [word = ""] = line.toUpperCase().split(/[ :]/);
      if (word === "EHLO" || word === "HELO") {
        const isSecure = socket !== plain;
        const lines = [
          "mail.example",
          ...offers.filter((each) => each !== "STARTTLS" || !isSecure),
        ];
        at(
          "EHLO",
          lines
            .map((each, index) => `250${index < lines.length - 1 ? "-" : " "}${each}`)
            .join("\r\n"),
        );
      } else if (word === "STARTTLS") {
        if (at("STARTTLS", "220 go") === "220 go") secure();
      } else if (word === "AUTH") {
        at("AUTH", "235 welcome");
      } else if (word === "MAIL") {
        at("MAIL", "250 fine");
      } else if (word === "RCPT") {
        to = /<(.*)>/.exec(line)![1]!;
        at("RCPT", "250 fine");
      } else if (word === "DATA") {
        if (/^[23]/.test(at("DATA", "354 go on"))) text = "";
      } else if (word === "QUIT") {
        socket.end("221 bye\r\n");
      } else say("502 unknown");
    };
    const listen = () => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        const lines = (rest + data.toString("latin1")).split("\r\n");
        rest = lines.pop()!;
        for (const line of lines) take(line);
      });
    };
    const secure = () => {
      plain.removeAllListeners("data");
      reached.TLS += 1;
      const answer = script("TLS", to);
      if (answer === "close") return void plain.destroy();
      if (answer === "silence") return;
      if (answer !== null) return say(answer);
      const { key, cert } = localCertificate();
      socket = new TLSSocket(plain, {
        isServer: true,
        key: readFileSync(key),
        cert: readFileSync(cert),
      });
      listen();
    };
    listen();
    at("connect", "220 mail.example");
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    arrived,
    reached,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
