// New order, second step: the fields of the service's type; then what it costs and the balance after it, before anything
// is placed. The token of the form that places the order is its idempotency key: sent twice, it places one order.

/** @jsxImportSource preact */

import { findOpenService, findOpenServiceByNumber } from "../../db/catalogue/services.ts";
import type { Reader } from "../../db/port/port.ts";
import { findOwnLimits } from "../../db/users/reseller-limits.ts";
import { DEFAULT_SERVICE_TYPE, typeTerms } from "../../domain/catalogue/service-types.ts";
import {
  DRIP_FIELDS,
  EXTRA_FIELDS,
  type ExtraField,
  givenFields,
  LINE_FIELDS,
  MAY_BE_EMPTY,
} from "../../domain/orders/order-fields.ts";
import { isMistypedMagicLink } from "../../domain/orders/sandbox.ts";
import { appliedLimits, type OrderLimits } from "../../domain/users/reseller-limits.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { LINK, QUANTITY, REFERENCE } from "../../domain/values/kinds.ts";
import { previewMemberOrder } from "../../operations/members/portal-orders.ts";
import { Area, Field, Form } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { Typed, TypedLines } from "../../web/components/shown.tsx";
import { random } from "../../web/server/random.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { boundsText, priceText, usualTime } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

const SERVICE_NUMBER = /^\d{1,15}$/;
/** The token of a form that places orders: its idempotency key. */
export const TOKEN = /^[\w-]{22}$/;
export const TOKEN_BYTES = 16;

/** Finds the service by its number, at the reseller's price. Refuses: service_not_found. */
export function requireService(reader: Reader, visitor: Visitor, number: string) {
  const { payer } = visitor;
  const found = SERVICE_NUMBER.test(number)
    ? findOpenServiceByNumber(reader, payer.account, Number(number))
    : undefined;
  const service = found && findOpenService(reader, payer, found.id);
  if (!service) throw refusal("service_not_found");
  return service;
}

/** Returns the limits of the reseller's orders; null: none. Test orders have none. */
export function limitsOf(
  reader: Reader,
  { isTest, account }: Visitor,
  { settings }: Portal,
): OrderLimits | null {
  if (isTest) return null;
  return appliedLimits(findOwnLimits(reader, account), settings.orderLimits);
}

/** Reads the link. A link that asks the test side for an outcome must be one that it knows. */
function readLink({ form, visitor }: Submission): string {
  const link = form.required("link", LINK, "");
  if (visitor.isTest && isMistypedMagicLink(link))
    form.addError("link", visitor.t("test.linkWrong"));
  return link;
}

export async function newOrderPage(call: Call, { completionTimes }: Portal): Promise<View> {
  const { visitor, params } = call;
  const { t } = visitor;
  const number = params["service"]!;
  const service = await call.read((reader) => requireService(reader, visitor, number));
  const { quantity, fields } = typeTerms(service.type);
  const typed = (name: string) => call.filters.raw(name);
  const onlyQuantity = service.min === service.max ? String(service.min) : "";
  return {
    title: t("newOrder.title"),
    body: (
      <div class="narrow">
        <h1>
          <Typed text={service.name} />
        </h1>
        <p>
          {service.type !== DEFAULT_SERVICE_TYPE && `${t(`type.${service.type}`)} · `}
          {priceText(visitor, service)} · {t("services.time")}:{" "}
          {usualTime(visitor, completionTimes.of(Number(number)))} ·{" "}
          <a href="/new-order">{t("newOrder.otherService")}</a>
        </p>
        <Form action={`/new-order/${number}`} submit={t("newOrder.review")}>
          <Field
            name="link"
            label={t("orders.link")}
            hint={t("newOrder.linkHint")}
            value={typed("link")}
            required
          />
          {quantity === "named" && (
            <Field
              name="quantity"
              label={t("orders.quantity")}
              inputmode="numeric"
              hint={boundsText(visitor, service)}
              value={typed("quantity") || onlyQuantity}
              required
            />
          )}
          {[...fields, ...(service.dripfeed ? DRIP_FIELDS : [])].map((field) => (
            <ExtraInput visitor={visitor} field={field} value={typed(field)} />
          ))}
          <Field
            name="reference"
            label={t("orders.reference")}
            hint={t("newOrder.referenceHint")}
            value={typed("reference")}
          />
        </Form>
      </div>
    ),
  };
}

function ExtraInput({
  visitor: { t },
  field,
  value,
}: {
  visitor: Visitor;
  field: ExtraField;
  value: string;
}) {
  const label = t(`extra.${field}`);
  if (LINE_FIELDS.has(field)) {
    return <Area name={field} label={label} hint={t("newOrder.linesHint")} value={value} />;
  }
  const hint =
    field === "runs"
      ? t("newOrder.runsHint")
      : field === "interval"
        ? t("newOrder.intervalHint")
        : "";
  return <Field name={field} label={label} hint={hint} value={value} />;
}

/** Shows the order for confirmation. A form with the token of that page places it. */
export async function placeOrder(submission: Submission, portal: Portal): Promise<View | Redirect> {
  const { form, visitor } = submission;
  const link = readLink(submission);
  const quantity = form.optional("quantity", QUANTITY, 1);
  const reference = form.optional("reference", REFERENCE, "");
  // Absent on the first page. Without its amount nothing was confirmed.
  const charge = form.optionalWhole("charge", 0, Number.MAX_SAFE_INTEGER) ?? 0;
  form.check();
  const texts = textsOf(submission);
  const asked = { link, quantity, reference, ...givenFields(texts) };
  const { account: resellerAccount } = visitor;
  const read = await submission.read((reader) => {
    const { id } = requireService(reader, visitor, submission.params["service"]!);
    const terms = { ...asked, service: id, resellerAccount };
    const token = form.raw("token");
    const preview = TOKEN.test(token) ? null : previewMemberOrder(reader, terms, portal.now());
    const limits = limitsOf(reader, visitor, portal);
    return { id, token, preview, limits };
  });
  const { id: service, token, preview, limits } = read;
  if (preview !== null) {
    const values = { link, quantity: form.raw("quantity"), reference: reference ?? "", ...texts };
    return reviewView(submission, values, preview);
  }
  const { orderId, replayed } = await submission.submit("placeMemberOrder", {
    order: { ...asked, service },
    chargeMicros: charge,
    ...(limits && { limits }),
    claim: { key: `portal:${token}`, requestHash: hashOf({ ...asked, service }) },
  });
  const { t } = visitor;
  const note = replayed
    ? t("order.sentBefore")
    : t("order.placedNote", { number: String(orderId) });
  return { to: `/orders/${orderId}`, note };
}

/** Returns the fields of the service's type that are filled in, and the optional ones that the form left empty. */
function textsOf({ form }: Submission): Partial<Record<ExtraField, string>> {
  const given = EXTRA_FIELDS.filter(
    (field) => form.raw(field) !== "" || (MAY_BE_EMPTY.has(field) && form.values.has(field)),
  );
  return Object.fromEntries(given.map((field) => [field, form.raw(field)]));
}

export function hashOf(order: object): string {
  return Bun.SHA256.hash(JSON.stringify(order), "hex");
}

/** Shows what the order costs, and the balance after it. */
function reviewView(
  { visitor, path }: Submission,
  values: Record<string, string>,
  { service, chargeMicros, balanceMicros }: ReturnType<typeof previewMemberOrder>,
): View {
  const { t, formats } = visitor;
  const given = Object.entries(values).filter(([, value]) => value !== "");
  const amount = formats.money(chargeMicros);
  return {
    title: t("newOrder.reviewTitle"),
    body: (
      <div class="narrow">
        <h1>{t("newOrder.reviewTitle")}</h1>
        <Facts
          facts={[
            [t("orders.service"), <Typed text={service.name} />],
            ...given.map(
              ([name, value]) => [labelOf(visitor, name), <TypedLines text={value} />] as const,
            ),
            [t("newOrder.price"), priceText(visitor, service)],
            [t("orders.charge"), <strong>{amount}</strong>],
            [t("newOrder.balanceAfter"), formats.money(balanceMicros - BigInt(chargeMicros))],
          ]}
        />
        <Form
          action={path}
          hidden={{
            ...Object.fromEntries(given),
            charge: chargeMicros,
            token: random(TOKEN_BYTES),
          }}
        >
          <p class="actions">
            <button class="primary">{t("newOrder.place", { amount })}</button>
            <a href={`${path}?${new URLSearchParams(given)}`}>{t("newOrder.change")}</a>
          </p>
        </Form>
      </div>
    ),
  };
}

function labelOf({ t }: Visitor, name: string): string {
  if (name === "link" || name === "quantity" || name === "reference") return t(`orders.${name}`);
  return t(`extra.${name as ExtraField}`);
}
