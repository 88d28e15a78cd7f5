// What each kind of mail says: in the language and time zone of its reader. Mails to the operator are English, like the
// panel.

import type { StoredMicros } from "../domain/mails/mails.ts";
import { MAIL_KINDS, type MailData, type MailKind } from "../domain/mails/mails.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import { browserText } from "../domain/sign-ins/browsers.ts";
import { lifetimesOf } from "../domain/sign-ins/sign-ins.ts";
import { showHidden } from "../domain/values/text.ts";
import { HOUR_MS } from "../domain/values/spans.ts";
import { utcText } from "../domain/values/times.ts";
import type { DueMail } from "../operations/mails/mail-deliveries.ts";
import type { Translate } from "../portal/texts/catalogue.ts";
import { type Formats, formatsOf } from "../portal/texts/formats.ts";
import type { Texts } from "../portal/texts/texts.ts";
import { linkWithToken } from "../web/sessions/tokens.ts";

/** What mails show of the service. */
export interface MailSite {
  brand: string;
  /** An e-mail address or an https URL; null: none is shown. */
  contact: string | null;
  /** Address of the portal, to which links lead; null: there are no links. */
  portalUrl: string | null;
  /** Address of the panel, for the operator. */
  panelUrl: string | null;
  texts: Texts;
}

/** A mail in parts, from which the text and the HTML are made. */
export interface MailContent {
  language: string;
  brand: string;
  subject: string;
  paragraphs: readonly string[];
  facts: readonly (readonly [label: string, value: string])[];
  /** What the reader may do next. */
  action: { label: string; url: string; hint: string } | null;
  /** Sentences below the action. */
  notes: readonly string[];
  /** Why the reader gets it, and the contact. */
  reasons: readonly string[];
  /** Where mails of this kind are turned off; null: they cannot be. */
  unsubscribe: { label: string; url: string } | null;
}

/** What a kind adds to the parts that all mails have. */
interface OwnContent {
  subject: string;
  paragraphs: string[];
  facts?: [label: string, value: string][];
  action?: { label: string; path: string };
  notes?: string[];
}

interface Reader {
  t: Translate;
  formats: Formats;
  brand: string;
}

/** Returns the parts of a mail. `token`: the secret of its link; null: the kind has none. */
export function contentOf(due: DueMail, site: MailSite, token: string | null): MailContent {
  const { kind, timeZone, id } = due;
  const { brand, contact, portalUrl } = site;
  const { to, choice } = MAIL_KINDS[kind];
  const language = to === "operator" ? "en" : due.language;
  const t = site.texts[language];
  const reader = { t, formats: formatsOf(language, timeZone), brand };
  const data = JSON.parse(due.data) as never;
  const own = OWN_CONTENTS[kind](data, reader);
  const base = to === "operator" ? site.panelUrl : portalUrl;
  const isTurnedOff = choice !== null && portalUrl !== null;
  return {
    language,
    brand,
    subject: oneLine(own.subject),
    paragraphs: own.paragraphs.map(oneLine),
    facts: (own.facts ?? []).map(([label, value]) => [label, oneLine(value)] as const),
    action: own.action && base !== null ? actionOf(own.action, base, token, t) : null,
    notes: own.notes ?? [],
    reasons: [
      ...(to === "operator" ? [] : [t(WHY[to], { brand })]),
      ...(to === "operator" || contact === null ? [] : [`${t("site.contact")}: ${contact}`]),
    ],
    unsubscribe: isTurnedOff
      ? { label: t("email.turnOff"), url: `${portalUrl}/unsubscribe/${id}` }
      : null,
  };
}

const WHY = {
  member: "email.why",
  visitor: "email.whyVisitor",
  new_address: "email.whyVisitor",
  old_address: "email.whyFormer",
} as const;

function actionOf(
  { label, path }: { label: string; path: string },
  base: string,
  token: string | null,
  t: Translate,
) {
  const address = `${base}${path}`;
  const url = token === null ? address : linkWithToken(address, token);
  return { label, url, hint: t("email.open") };
}

const { invitationMs, resetMs } = lifetimesOf("portal");
const onceFor = (t: Translate, milliseconds: number) =>
  t("email.once", { count: milliseconds / HOUR_MS });

const OWN_CONTENTS: { [K in MailKind]: (data: MailData[K], reader: Reader) => OwnContent } = {
  invitation: (_, { t, brand }) => ({
    subject: t("email.invitation.subject", { brand }),
    paragraphs: [t("email.invitation.text", { brand })],
    action: { label: t("email.invitation.action"), path: "/set-up" },
    notes: [onceFor(t, invitationMs)],
  }),
  password_reset: (_, { t, brand }) => ({
    subject: t("email.password_reset.subject", { brand }),
    paragraphs: [t("email.password_reset.text")],
    action: { label: t("email.password_reset.action"), path: "/set-up" },
    notes: [onceFor(t, resetMs), t("email.ignore")],
  }),
  registration: ({ waits = false }, { t, brand }) => ({
    subject: t("email.registration.subject", { brand }),
    paragraphs: [t(waits ? "email.registration.textWaits" : "email.registration.text", { brand })],
    action: {
      label: t(waits ? "register.prove" : "email.registration.action"),
      path: "/register/confirm",
    },
    notes: [onceFor(t, resetMs), t("email.ignore")],
  }),
  registration_known: (_, { t, brand }) => ({
    subject: t("email.registration_known.subject", { brand }),
    paragraphs: [t("email.registration_known.text")],
    action: { label: t("signIn.submit"), path: "/sign-in" },
    notes: [t("email.ignore")],
  }),
  address_change: (_, { t, brand }) => ({
    subject: t("email.registration.subject", { brand }),
    paragraphs: [t("email.address_change.text", { brand })],
    action: { label: t("address.title"), path: "/settings/address" },
    notes: [onceFor(t, resetMs), t("email.ignore")],
  }),
  address_changed: ({ at }, { t, formats, brand }) => ({
    subject: t("email.address_changed.subject", { brand }),
    paragraphs: [t("email.address_changed.text", { brand }), t("email.address_changed.warning")],
    facts: [[t("email.time"), timeText(formats, at)]],
  }),
  sign_in: ({ address, userAgent, at }, { t, formats, brand }) => ({
    subject: t("email.sign_in.subject", { brand }),
    paragraphs: [t("email.sign_in.text"), t("email.sign_in.warning")],
    facts: [
      [t("email.time"), timeText(formats, at)],
      [t("settings.address"), address],
      [t("settings.browser"), browserText(userAgent)],
    ],
    action: { label: t("email.toSettings"), path: "/settings" },
  }),
  low_balance: ({ balanceMicros, thresholdMicros }, { t, formats }) => {
    const balance = amountText(formats, balanceMicros);
    const threshold = amountText(formats, thresholdMicros);
    return {
      subject: t("email.low_balance.subject", { balance }),
      paragraphs: [t("email.low_balance.text", { balance, threshold })],
      action: { label: t("email.toBalance"), path: "/balance" },
    };
  },
  payment_paid: ({ payment, amountMicros, currency, creditMicros, at }, { t, formats }) => {
    const amount = amountText(formats, amountMicros, currency);
    return {
      subject: t("email.payment_paid.subject", { amount }),
      paragraphs: [t("email.payment_paid.text", { amount })],
      facts: [
        [t("email.payment"), payment],
        [t("email.credited"), amountText(formats, creditMicros)],
        [t("email.time"), timeText(formats, at)],
      ],
      action: { label: t("email.toBalance"), path: "/balance" },
    };
  },
  payment_rejected: ({ payment, amountMicros, currency, reason, at }, { t, formats }) => {
    const amount = amountText(formats, amountMicros, currency);
    return {
      subject: t("email.payment_rejected.subject", { amount }),
      paragraphs: [t("email.payment_rejected.text", { amount })],
      facts: [
        [t("email.payment"), payment],
        ...(reason === null ? [] : [[t("email.reason"), reason] as [string, string]]),
        [t("email.time"), timeText(formats, at)],
      ],
      action: { label: t("email.toBalance"), path: "/balance" },
    };
  },
  order_refund: ({ orderId, service, status, refundMicros, at }, { t, formats }) => {
    const [number, amount] = [String(orderId), amountText(formats, refundMicros)];
    return {
      subject: t("email.order_refund.subject", { number, amount }),
      paragraphs: [t("email.order_refund.text", { number, amount })],
      facts: [
        [t("orders.service"), service],
        [t("orders.status"), t(`status.${status}`)],
        [t("email.refunded"), amount],
        [t("email.time"), timeText(formats, at)],
      ],
      action: { label: t("email.toOrder"), path: `/orders/${orderId}` },
    };
  },
  alert: ({ event, kind, subject, message, at }, { brand }) => ({
    subject: `${brand}: ${event === "alert.raised" ? "alert" : "alert over"}: ${subject}`,
    paragraphs: [message],
    facts: [
      ["Alert", kind],
      ["Since", utcText(at)],
    ],
    action: { label: "See the alerts", path: "/alerts" },
  }),
  registration_to_approve: ({ at }, { brand }) => ({
    subject: `${brand}: a visitor asks for an account`,
    paragraphs: [
      "A visitor has confirmed an e-mail address and waits. Approve or decline the request.",
    ],
    facts: [["Since", utcText(at)]],
    action: { label: "Decide", path: "/members/registrations" },
  }),
  payment_to_approve: (
    { payment, user, method, amountMicros, currency, at },
    { brand, formats },
  ) => ({
    subject: `${brand}: a payment of ${amountText(formats, amountMicros, currency)} waits for you`,
    paragraphs: ["A customer says that it has paid. Approve or reject the payment."],
    facts: [
      ["User", user],
      ["Method", method],
      ["Payment", payment],
      ["Since", utcText(at)],
    ],
    action: { label: "Decide", path: "/payments?state=waiting" },
  }),
};

/** Returns an amount with all its digits. */
function amountText(formats: Formats, micros: StoredMicros, currency = "USD"): string {
  if (currency === "USD") return formats.money(BigInt(micros));
  const decimal = formatMicros(BigInt(micros)) as `${number}`;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 6 };
  const number = new Intl.NumberFormat(formats.language, digits).format(decimal);
  return `${number} ${currency}`;
}

/**
 * Returns a text without line breaks and other control characters, which could begin another header, and with invisible
 * characters by their code points, as pages show them.
 */
function oneLine(text: string): string {
  return showHidden(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim());
}

/** Returns a time with its zone. */
function timeText({ language, timeZone }: Formats, at: number): string {
  return new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "long",
    timeZone,
  }).format(at);
}
