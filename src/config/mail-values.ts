// The value types of the settings for e-mail, and the rule that says which of these settings belong together.

import { InvalidArgumentError } from "commander";
import { EMAIL_FORM, isEmail } from "../domain/users/users.ts";
import { isLoopback } from "./networks.ts";
import type { ValueKind } from "./values.ts";

/** A mail server. */
export interface MailServer {
  /** Whether the connection begins with TLS. Otherwise STARTTLS is required, except on this machine. */
  isTls: boolean;
  host: string;
  port: number;
  /** Null: without signing in. */
  user: string | null;
  /** Whether the address holds a password, which is refused without repeating it. */
  hasPassword: boolean;
}

const DEFAULT_PORTS = { "smtps:": 465, "smtp:": 587 };
const SMTP_FORM = "must be smtps://user@host or smtp://user@host:587, without the password.";

export const mailServer: ValueKind<MailServer> = {
  placeholder: "URL",
  parse(given) {
    const url = URL.parse(given);
    const port = url && DEFAULT_PORTS[url.protocol as keyof typeof DEFAULT_PORTS];
    const isPlain = url && /^\/?$/.test(url.pathname) && url.search + url.hash === "";
    if (!url || !port || !isPlain || url.hostname === "") throw new InvalidArgumentError(SMTP_FORM);
    return {
      isTls: url.protocol === "smtps:",
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port === "" ? port : Number(url.port),
      user: url.username === "" ? null : decodeURIComponent(url.username),
      hasPassword: url.password !== "",
    };
  },
  format: ({ isTls, host, port, user }) => {
    const name = user === null ? "" : `${encodeURIComponent(user)}@`;
    return `${isTls ? "smtps" : "smtp"}://${name}${host.includes(":") ? `[${host}]` : host}:${port}`;
  },
};

export interface MailAddress {
  /** Null: only the address is shown. */
  name: string | null;
  address: string;
}

const NAMED = /^(?:"?([^\p{Cc}<>"]{1,100}?)"?\s*)?<([^<>]+)>$/u;

export const mailFrom: ValueKind<MailAddress> = {
  placeholder: "ADDRESS",
  parse(given) {
    const [, name = null, named] = NAMED.exec(given.trim()) ?? [];
    const address = named ?? given.trim();
    if (isEmail(address)) return { name, address };
    throw new InvalidArgumentError(
      "must be an e-mail address, such as orders@shop.example or Shop <orders@shop.example>.",
    );
  },
  format: ({ name, address }) => (name === null ? address : `${name} <${address}>`),
};

export const mailAddress: ValueKind<string> = {
  placeholder: "ADDRESS",
  parse(given) {
    if (isEmail(given.trim())) return given.trim();
    throw new InvalidArgumentError(`must be ${EMAIL_FORM}.`);
  },
  format: (value) => value,
};

interface MailSettings {
  smtp: MailServer | null;
  smtpPassword: string | null;
  mailFrom: MailAddress | null;
  mailOperator: string | null;
}

/** Returns what the settings for e-mail lack, or null if they belong together. */
export function missingForMail(settings: MailSettings): string | null {
  const { smtp, smtpPassword, mailFrom: from, mailOperator } = settings;
  if (smtp === null) {
    if (from === null && mailOperator === null && smtpPassword === null) return null;
    return "--mail-from, --mail-operator and the password of --smtp have no use without --smtp";
  }
  if (smtp.hasPassword) {
    return "--smtp holds a password, and everyone on this machine can read command lines: set RESELLER_SMTP_PASSWORD or RESELLER_SMTP_PASSWORD_FILE instead";
  }
  if (from === null) return "--smtp needs --mail-from: the address that e-mails come from";
  if ((smtp.user === null) !== (smtpPassword === null)) {
    return smtp.user === null
      ? "RESELLER_SMTP_PASSWORD needs the user in --smtp, such as smtps://user@host"
      : "--smtp has a user but no password: set RESELLER_SMTP_PASSWORD or RESELLER_SMTP_PASSWORD_FILE";
  }
  return null;
}

/** Returns whether the connection may stay without TLS: the mail server is this machine. */
export function isPlainAllowed({ host }: MailServer): boolean {
  return isLoopback(host);
}
