// Makes the mail as it is sent: the text and the HTML, both from the same parts. The HTML loads nothing.

/** @jsxImportSource preact */

import { renderToString } from "preact-render-to-string";
import type { DueMail } from "../operations/mails/mail-deliveries.ts";
import { contentOf, type MailContent, type MailSite } from "./content.ts";
import type { OutgoingMail } from "./smtp.ts";

/** Makes a mail. `domain`: of the address that it comes from. */
export function messageOf(
  due: DueMail,
  site: MailSite,
  domain: string,
  token: string | null,
): OutgoingMail {
  const content = contentOf(due, site, token);
  const { unsubscribe } = content;
  return {
    messageId: messageIdOf(due, domain),
    to: due.email,
    subject: content.subject,
    text: textOf(content),
    html: htmlOf(content),
    // One click, without opening a page: RFC 8058.
    headers: unsubscribe
      ? {
          "List-Unsubscribe": `<${unsubscribe.url}>`,
          "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
      : {},
    date: new Date(due.createdAt),
  };
}

/**
 * Returns the same id for each attempt, so that a receiver hides a mail that arrives twice. A mail with another link has
 * another id: only the last link works, and must not be the one that is hidden.
 */
function messageIdOf({ id, linkHash }: DueMail, domain: string): string {
  const same = linkHash === null ? id : `${id} ${linkHash}`;
  return `<${Bun.SHA256.hash(same, "hex").slice(0, 32)}@${domain}>`;
}

function textOf({ paragraphs, facts, action, notes, reasons, unsubscribe, brand }: MailContent) {
  const blocks = [
    ...paragraphs,
    facts.map(([label, value]) => `${label}: ${value}`).join("\n"),
    action === null ? "" : `${action.label}:\n${action.url}`,
    ...notes,
    ["-- ", brand, ...reasons].join("\n"),
    unsubscribe === null ? "" : `${unsubscribe.label}:\n${unsubscribe.url}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif";
const STYLES = {
  page: `margin:0;padding:24px 12px;${FONT};font-size:16px;line-height:1.5`,
  frame: "max-width:560px;margin:0 auto",
  brand: "margin:0 0 16px;font-size:14px;font-weight:600;opacity:.75",
  heading: "margin:0 0 16px;font-size:22px;line-height:1.3",
  paragraph: "margin:0 0 16px",
  facts: "margin:0 0 16px;border-collapse:collapse",
  label: "padding:4px 16px 4px 0;text-align:left;vertical-align:top;font-weight:400;opacity:.75",
  value: "padding:4px 0;vertical-align:top;overflow-wrap:anywhere",
  button:
    "display:inline-block;padding:10px 18px;border-radius:6px;background:#0b57b0;color:#ffffff;text-decoration:none;font-weight:600",
  small: "margin:0 0 8px;font-size:13px;opacity:.75;overflow-wrap:anywhere",
  line: "margin:24px 0 16px;border:0;border-top:1px solid #8888884d",
};

function htmlOf(content: MailContent): string {
  return `<!doctype html>\n${renderToString(<Document content={content} />)}\n`;
}

function Document({ content }: { content: MailContent }) {
  const { language, brand, subject, paragraphs, facts, action, notes, reasons, unsubscribe } =
    content;
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
      </head>
      <body style={STYLES.page}>
        <div style={STYLES.frame}>
          <p style={STYLES.brand}>{brand}</p>
          <h1 style={STYLES.heading}>{subject}</h1>
          {paragraphs.map((text) => (
            <p style={STYLES.paragraph}>{text}</p>
          ))}
          {facts.length > 0 && (
            <table style={STYLES.facts}>
              {facts.map(([label, value]) => (
                <tr>
                  <th scope="row" style={STYLES.label}>
                    {label}
                  </th>
                  <td style={STYLES.value}>{value}</td>
                </tr>
              ))}
            </table>
          )}
          {action && (
            <p style={STYLES.paragraph}>
              <a href={action.url} style={STYLES.button}>
                {action.label}
              </a>
            </p>
          )}
          {notes.map((text) => (
            <p style={STYLES.paragraph}>{text}</p>
          ))}
          {action && (
            <p style={STYLES.small}>
              {action.hint}
              <br />
              <a href={action.url}>{action.url}</a>
            </p>
          )}
          <hr style={STYLES.line} />
          {reasons.map((text) => (
            <p style={STYLES.small}>{text}</p>
          ))}
          {unsubscribe && (
            <p style={STYLES.small}>
              <a href={unsubscribe.url}>{unsubscribe.label}</a>
            </p>
          )}
        </div>
      </body>
    </html>
  );
}
