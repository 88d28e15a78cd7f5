// Tells what an error of nodemailer means for the mail and for those that wait behind it.
// docs/specification/email.md#mail-refusals.

import type { MailFailure } from "../domain/mails/mails.ts";

export interface SmtpError extends Error {
  code?: string;
  originalCode?: string;
  /** The command that was answered, or `API`: the error is from nodemailer's checks of the envelope. */
  command?: string;
  response?: string;
  responseCode?: number;
}

/** Errors of certificates and handshakes, by code and by text. */
const TLS = /CERT|SIGNED|ISSUER|ALTNAME|ERR_TLS|ERR_SSL|EPROTO\b|certificate|wrong version/i;

/**
 * Enhanced status codes (RFC 3463, RFC 5248, and those of Gmail and Exchange) by which a mail server refuses the sender,
 * the account or any mail, at whatever command: many refuse the sender only when they know the recipient.
 */
const OF_ACCOUNT: readonly RegExp[] = [
  // The sender's address or domain.
  /^[45]\.1\.[78]$/,
  // The mail server is full, takes no mail, or is set up wrongly.
  /^[45]\.3\.[125]$/,
  // Congestion, and Gmail's daily quota.
  /^[45]\.4\.5$/,
  // The sign-in, the encryption, a disabled account; SPF, DKIM and the name of our address.
  /^[45]\.7\.(?:8|9|11|13|2\d)$/,
  // Exchange: no relaying, no sign-in, may not send as this sender, blocked, over the quota.
  /^[45]\.7\.(?:54|57|60|64|[57]\d\d)$/,
  /^[45]\.2\.252$/,
];
/** The same in words, where a mail server has no code of its own for it (Postfix, Exim, Sendmail). */
const OF_ACCOUNT_TEXT = /\brelay(?:ing)?\b|sender address rejected/i;

/** Returns why the attempt failed. `to`: the recipient, whose address says nothing about the failure. */
export function failureOf(error: SmtpError, to: string): MailFailure {
  const { code, command, response, responseCode, originalCode = "", message } = error;
  // 530: it wants a sign-in, or TLS, before any mail.
  if (code === "EAUTH" || responseCode === 530) return "login";
  if (code === "ETLS" || (response === undefined && TLS.test(`${originalCode} ${message}`)))
    return "tls";
  if (code === "ETIMEDOUT") return "timeout";
  if (code !== "EENVELOPE" && code !== "EMESSAGE") return "connection";
  // The recipient's address cannot be written in a command.
  if (command === "API") return "refused";
  return refusalOf(command, responseCode ?? 0, (response ?? "").replaceAll(to, ""));
}

/** Returns what the answer to MAIL, RCPT or DATA, or to the text of the mail, means. */
function refusalOf(command: string | undefined, code: number, reply: string): MailFailure {
  // 421: it closes the connection. 503: it has lost count of the commands. Anything but 4xx and 5xx makes no sense.
  if (code < 400 || code > 599 || code === 421 || code === 503) return "connection";
  if (command === "MAIL FROM" || isOfAccount(reply)) return "account";
  return code < 500 ? "deferred" : "refused";
}

function isOfAccount(reply: string): boolean {
  const [, enhanced = ""] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(reply) ?? [];
  return OF_ACCOUNT.some((each) => each.test(enhanced)) || OF_ACCOUNT_TEXT.test(reply);
}
