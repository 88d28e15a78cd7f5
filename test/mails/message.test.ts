// Every kind of mail in every language, as a mail server receives it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LANGUAGES } from "../../src/domain/members/languages.ts";
import { MAIL_KINDS, type MailData, type MailKind } from "../../src/domain/mails/mails.ts";
import type { MailSite } from "../../src/mails/content.ts";
import { messageOf } from "../../src/mails/message.tsx";
import { createMailSender } from "../../src/mails/smtp.ts";
import type { DueMail } from "../../src/operations/mails/mail-deliveries.ts";
import { createTexts } from "../../src/portal/texts/texts.ts";
import {
  type MailServerPeer,
  type ReceivedMail,
  startMailServer,
} from "../support/peers/mail-server.ts";

const AT = Date.UTC(2026, 10, 28, 21, 30);
const TOKEN = "t0ken-t0ken";
/** Text that people or other services chose. */
const HOSTILE = `<img src="https://evil.example/x.png"> & "quotes"\r\nBcc: evil@x.example`;
const PAYMENT = { payment: "pay_1", amountMicros: "25000000", currency: "EUR", at: AT };

const DATA: { [K in MailKind]: MailData[K] } = {
  invitation: {},
  password_reset: {},
  registration: { registration: "r", name: HOSTILE, language: "en" },
  registration_known: {},
  address_change: {},
  address_changed: { at: 1 },
  sign_in: { address: "192.0.2.7", userAgent: HOSTILE, at: AT },
  low_balance: { balanceMicros: "4500000", thresholdMicros: 5_000_000 },
  payment_paid: { ...PAYMENT, creditMicros: "26100000" },
  payment_rejected: { ...PAYMENT, reason: HOSTILE },
  order_refund: { orderId: 1234, service: HOSTILE, status: "PARTIAL", refundMicros: 1_160_000, at: AT },
  alert: { event: "alert.raised", kind: "disk_low", subject: "disk", message: HOSTILE, at: AT },
  registration_to_approve: { at: AT },
  payment_to_approve: { ...PAYMENT, user: HOSTILE, method: "Bank" },
}; // prettier-ignore

const SITE: MailSite = {
  brand: "Shop & Co",
  contact: "help@shop.example",
  portalUrl: "https://shop.example/portal",
  panelUrl: "https://panel.example",
  texts: createTexts(),
};

function due(kind: MailKind, language: DueMail["language"]): DueMail {
  const to = { email: "ann@x.example", language, timeZone: "Europe/Istanbul" };
  const linkHash = MAIL_KINDS[kind].link === null ? null : "h";
  const id = "evt_mail00000000000000000001";
  const data = JSON.stringify(DATA[kind]);
  return { mailId: 1, id, kind, attempt: 1, ...to, data, createdAt: AT, linkHash };
}

let server: MailServerPeer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());

const sent = new Map<string, Promise<ReceivedMail>>();

/** Sends a mail once, and returns it as it arrived. */
function received(kind: MailKind, language: DueMail["language"]): Promise<ReceivedMail> {
  const key = `${kind} ${language}`;
  if (!sent.has(key)) sent.set(key, receive(kind, language));
  return sent.get(key)!;
}

async function receive(kind: MailKind, language: DueMail["language"], site = SITE) {
  const hasToken = MAIL_KINDS[kind].link !== null;
  const message = messageOf(due(kind, language), site, "shop.example", hasToken ? TOKEN : null);
  const from = { name: site.brand, address: "orders@shop.example" };
  const to = { isTls: false, host: "127.0.0.1", port: server.port, user: null, hasPassword: false };
  const send = createMailSender({ server: to, password: null, from });
  expect(await send(message, new AbortController().signal)).toMatchObject({ error: null });
  return server.received.at(-1)!;
}

const KINDS = Object.keys(MAIL_KINDS) as MailKind[];
const HOME = /https:\/\/(?:shop\.example\/portal|panel\.example)\//;

describe.each(LANGUAGES)("in %s", (language) => {
  test.each(KINDS)(
    "%s arrives whole: a subject, a text and HTML that say the same",
    async (kind) => {
      const { mail, raw } = await received(kind, language);
      const { text = "", subject = "" } = mail;
      const html = String(mail.html);
      expect(subject).not.toMatch(/[\r\n]|undefined|\{/);
      expect(subject.length).toBeGreaterThan(5);
      expect(mail.to).toMatchObject({ text: "ann@x.example" });
      expect(mail.from?.value).toEqual([{ name: "Shop & Co", address: "orders@shop.example" }]);
      for (const part of [text, html]) expect(part).not.toMatch(/undefined|NaN|\{\w+\}/);
      expect(html).toContain(
        `<html lang="${MAIL_KINDS[kind].to === "operator" ? "en" : language}">`,
      );
      // Nothing is loaded, and every link leads home.
      expect(html).not.toMatch(/<(img|link|script|style|iframe)\b/i);
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, url]) => url!);
      expect(links.every((url) => HOME.test(url))).toBe(true);
      for (const url of links) expect(text).toContain(url);
      // What others typed stays text, and no line of it begins a header.
      expect(html).not.toContain("<img");
      expect(raw.slice(0, raw.indexOf("\r\n\r\n"))).not.toMatch(/^Bcc:/im);
    },
  );

  test("what can be turned off says where, for one click too; the rest does not", async () => {
    for (const kind of KINDS) {
      const { raw, mail } = await received(kind, language);
      const isChosen = MAIL_KINDS[kind].choice !== null;
      const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replace(/\r\n\s+/g, " ");
      const url = "https://shop.example/portal/unsubscribe/evt_mail00000000000000000001";
      expect([kind, head.includes(`List-Unsubscribe: <${url}>`)]).toEqual([kind, isChosen]);
      expect([kind, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m.test(head)]).toEqual([
        kind,
        isChosen,
      ]);
      expect([kind, mail.text!.includes(url)]).toEqual([kind, isChosen]);
    }
  });

  test("only a link that needs a secret has it, in its fragment", async () => {
    for (const kind of KINDS) {
      const { mail } = await received(kind, language);
      const hasSecret = MAIL_KINDS[kind].link !== null;
      expect([kind, mail.text!.includes(`#${TOKEN}`)]).toEqual([kind, hasSecret]);
    }
  });
});

test("text that turns the line around is shown by its code points", () => {
  const data = { ...due("order_refund", "en"), data: "" };
  const told = JSON.parse(due("order_refund", "en").data) as object;
  const mail = {
    ...data,
    data: JSON.stringify({ ...told, service: "Likes \u202e001\u2066\u200b" }),
  };
  const { text, html } = messageOf(mail, SITE, "shop.example", null);
  expect(text).toContain("Likes <U+202E>001<U+2066><U+200B>");
  expect(html).toContain("Likes &lt;U+202E>001&lt;U+2066>&lt;U+200B>");
});

test("the languages differ in every mail to a member", () => {
  for (const kind of KINDS.filter((each) => MAIL_KINDS[each].to !== "operator")) {
    const mails = LANGUAGES.map((language) =>
      messageOf(due(kind, language), SITE, "x.example", TOKEN),
    );
    expect([kind, new Set(mails.map(({ subject }) => subject)).size]).toEqual([kind, 5]);
    expect([kind, new Set(mails.map(({ text }) => text)).size]).toEqual([kind, 5]);
  }
});

test("times are those of the member's zone, amounts have all digits", async () => {
  const signIn = (await received("sign_in", "en")).mail.text!;
  // 21:30 in UTC.
  expect(signIn).toContain("November 29, 2026 at 12:30:00");
  expect((await received("low_balance", "ru")).mail.subject).toContain("4,50");
  const paid = (await received("payment_paid", "es")).mail;
  expect(paid.subject).toContain("25,00 EUR");
  expect(paid.text).toContain("26,10");
});

test("without a portal no mail has a link", async () => {
  for (const kind of KINDS) {
    const { mail } = await receive(kind, "en", { ...SITE, portalUrl: null, panelUrl: null });
    expect(mail.text).not.toContain("https://shop.example");
  }
});

test("the operator's texts are used", async () => {
  const texts = createTexts({ en: { "email.invitation.subject": "Welcome to {brand}" } });
  const { mail } = await receive("invitation", "en", { ...SITE, texts });
  expect(mail.subject).toBe("Welcome to Shop & Co");
});
