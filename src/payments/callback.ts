// Payments by any other program: it reports what it received in a notice that is signed with our secret, as Standard
// Webhooks 1.0.0 describe. docs/specification/payments.md#payment-callback.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { formatMicros, microsFromNumber, parseMicros } from "../domain/ledger/money.ts";
import { PAYMENT_CURRENCY } from "../domain/payments/currencies.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../domain/values/spans.ts";
import { isCuid, isLabel } from "../domain/values/text.ts";
import { formatSecret, SECRET_PREFIX, WEBHOOK_SECRET_BYTES } from "../domain/webhooks/webhooks.ts";
import type { MethodKind, Notice, NoticeResult, PaymentToBegin } from "./method.ts";

const OPEN_MS = 7 * DAY_MS;
/** How far the time of a notice may be from ours. */
const TOLERANCE_MS = 5 * MINUTE_MS;
const PROGRAM_ID_LIMIT = 255;
const PAID = "payment.paid";
/** Host names of this machine, as URLs are normalized. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const URL_FORM = "an https URL, in which {payment}, {amount} and {currency} are replaced";

export const callback: MethodKind = {
  kind: "callback",
  settings: [
    {
      name: "secret",
      isSecret: true,
      isRequired: true,
      description: "signs the notices; one is made if you give none",
      form: `${SECRET_PREFIX} and base64`,
      isRight: (value) => keyIn(value).length >= WEBHOOK_SECRET_BYTES,
      make: () => formatSecret(randomBytes(WEBHOOK_SECRET_BYTES)),
    },
    {
      name: "pay-url",
      isSecret: false,
      isRequired: false,
      description: "the page to pay on; without it the customer sees only the instructions",
      form: URL_FORM,
      isRight: isPageTemplate,
    },
  ],
  isClaimed: false,
  isReadable: false,
  events: [PAID],
  openMs: OPEN_MS,
  connect: (settings) =>
    Promise.resolve({
      begin: (payment) =>
        Promise.resolve({
          outcome: "begun",
          reference: null,
          url: payUrl(settings["pay-url"] ?? "", payment),
          expiresAt: payment.createdAt + OPEN_MS,
        }),
      notice: (notice) => Promise.resolve(readNotice(notice, settings["secret"] ?? "")),
    }),
};

/** Customers are sent there to pay: without TLS only to this machine, for tests. */
function isPageTemplate(value: string): boolean {
  const url = URL.parse(value.replace(/[{}]/g, ""));
  if (url === null || !/^https?:\/\//i.test(value)) return false;
  return url.protocol === "https:" || LOOPBACK.test(url.hostname);
}

function payUrl(template: string, { id, amountMicros, currency }: PaymentToBegin): string | null {
  if (template === "") return null;
  const values: Record<string, string> = {
    payment: id,
    amount: formatMicros(amountMicros),
    currency,
  };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Verifies a notice, then reads it. Only a genuine one is parsed. */
function readNotice(notice: Notice, secret: string): NoticeResult {
  const refused = refusedBecause(notice, secret);
  if (refused !== null) return { refused };
  const read = parseJson(new TextDecoder().decode(notice.body));
  if (read?.["type"] !== PAID) return { claim: "none" };
  const { payment, id, amount, currency } = (read["data"] ?? {}) as Record<string, unknown>;
  const amountMicros =
    typeof amount === "string"
      ? parseMicros(amount)
      : typeof amount === "number"
        ? microsFromNumber(amount)
        : null;
  const code = typeof currency === "string" ? PAYMENT_CURRENCY.read(currency) : { must: "" };
  if (typeof payment !== "string" || !isCuid(payment)) return { wrong: "data.payment" };
  if (typeof id !== "string" || !isLabel(id, PROGRAM_ID_LIMIT)) return { wrong: "data.id" };
  if (amountMicros === null || amountMicros === 0) return { wrong: "data.amount" };
  if (!("value" in code)) return { wrong: "data.currency" };
  return { claim: "paid", paymentId: payment, programId: id, amountMicros, currency: code.value };
}

/** Returns why a notice is not genuine; null if it is. */
function refusedBecause({ body, headers, now }: Notice, secret: string): string | null {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp") ?? "";
  const signatures = headers.get("webhook-signature") ?? "";
  if (!id || !/^\d{1,12}$/.test(timestamp)) return "a header of the signature is missing";
  if (Math.abs(now - Number(timestamp) * SECOND_MS) > TOLERANCE_MS) {
    return "the time of the notice is more than 5 minutes from ours";
  }
  const expected = createHmac("sha256", keyIn(secret))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  const isSigned = signatures.split(" ").some((each) => {
    const [version, given = ""] = each.split(",");
    const bytes = Buffer.from(given, "base64");
    return version === "v1" && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  });
  return isSigned ? null : "the signature does not match";
}

function keyIn(secret: string): Buffer {
  if (!secret.startsWith(SECRET_PREFIX)) return Buffer.alloc(0);
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    const read = JSON.parse(text) as unknown;
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
