// One order: what was ordered, charged and refunded, what happened, and requests to cancel or refill it.

/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { findService } from "../../db/catalogue/services.ts";
import { listTransactionsBelow } from "../../db/ledger/transactions.ts";
import { listPastOrders, type OwnedPastOrder } from "../../db/imports/imports.ts";
import { findMember } from "../../db/members/members.ts";
import { listOrderEvents } from "../../db/orders/order-events.ts";
import { listRequestsOfOrder, readRefillTimes } from "../../db/orders/order-requests.ts";
import { findOrder, type Order } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import type { OrderRequest } from "../../db/tables/orders.ts";
import { keys } from "../../db/tables/users.ts";
import { memberOf } from "../../domain/members/members.ts";
import { extraFields, orderedQuantity } from "../../domain/orders/order-fields.ts";
import {
  isOpen,
  refuseRequest,
  REQUEST_KINDS,
  type RequestKind,
} from "../../domain/orders/order-requests.ts";
import { attempt, Refusal, refusal } from "../../domain/values/error-table.ts";
import { Form } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { Typed, TypedLines, TypedLink } from "../../web/components/shown.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { Status, Time } from "../parts/shown.tsx";
import type { Call, Submission } from "../server/call.ts";
import type { Portal } from "../server/portal.ts";
import type { Visitor } from "../server/visitor.ts";

/** Finds an order of the reseller by either id. Refuses: order_not_found. */
function requireOwnOrder(reader: Reader, { account }: Visitor, id: string): Order {
  const order = findOrder(reader, id);
  if (order?.resellerAccount !== account) throw refusal("order_not_found");
  return order;
}

export async function orderPage(call: Call, portal: Portal): Promise<View> {
  const { visitor, params } = call;
  const { t } = visitor;
  const past = await call.read((reader) => findPastOrder(reader, visitor, params["order"]!));
  if (past) return pastView(visitor, past);
  const read = await call.read((reader) => {
    const order = requireOwnOrder(reader, visitor, params["order"]!);
    const { orderId, serviceId } = order;
    const requests = listRequestsOfOrder(reader, orderId);
    const facts = {
      order,
      service: findService(reader, serviceId)!,
      ...readRefillTimes(reader, orderId),
    };
    const mayAsk = REQUEST_KINDS.filter((kind) => {
      const isAsked = requests.some((each) => each.kind === kind && isOpen(each.state));
      return (
        !isAsked && !(attempt(() => refuseRequest(kind, facts, portal.now())) instanceof Refusal)
      );
    });
    const charges = listTransactionsBelow(
      reader,
      { account: visitor.account, kind: null, orderId, window: { from: null, to: null } },
      Number.MAX_SAFE_INTEGER,
      3,
    ).rows;
    const service = facts.service.number;
    return {
      order,
      service,
      requests,
      mayAsk,
      charges,
      events: listOrderEvents(reader, orderId),
      author: authorOf(
        reader,
        visitor,
        charges.find(({ kind }) => kind === "order"),
      ),
    };
  });
  const { order, service, mayAsk, author } = read;
  const number = String(order.orderId);
  const { link, quantity } = order;
  const again = new URLSearchParams({ link, quantity: String(quantity) });
  return {
    title: t("order.title", { number }),
    body: (
      <>
        <div class="head">
          <h1>{t("order.title", { number })}</h1>
          <Status status={order.status} visitor={visitor} />
        </div>
        <div class="columns">
          <section class="card">
            <Facts facts={factsOf(visitor, order, author)} />
          </section>
          <section class="card">
            <h2>{t("order.timeline")}</h2>
            <Timeline visitor={visitor} entries={entriesOf(visitor, read)} />
            {visitor.may("order") && <Requests visitor={visitor} number={number} kinds={mayAsk} />}
            {visitor.may("order") && (
              <p>
                <a href={`/new-order/${service}?${again}`}>{t("order.again")}</a>
              </p>
            )}
          </section>
        </div>
      </>
    ),
  };
}

/** Finds an order of the reseller that was imported from another panel. */
function findPastOrder(reader: Reader, { account }: Visitor, id: string) {
  const past = listPastOrders(reader, [id]).get(id);
  return past?.resellerAccount === account ? past : null;
}

/** An order of another panel has no timeline and no transactions. */
function pastView(visitor: Visitor, past: OwnedPastOrder): View {
  const { t, formats } = visitor;
  const number = String(past.orderId);
  const { serviceName, link, quantity, startCount, remains, chargeMicros, createdAt } = past;
  return {
    title: t("order.title", { number }),
    body: (
      <>
        <div class="head">
          <h1>{t("order.title", { number })}</h1>
          <Status status={past.status} visitor={visitor} />
        </div>
        <p>{t("order.past")}</p>
        <section class="card">
          <Facts
            facts={[
              [t("orders.service"), <Typed text={serviceName} />],
              [t("orders.link"), <TypedLink text={link} />],
              [t("orders.quantity"), formats.number(quantity)],
              [t("order.startCount"), startCount === 0 ? "–" : formats.number(startCount)],
              [t("orders.remains"), formats.number(remains)],
              [t("orders.charge"), formats.money(chargeMicros)],
              [t("orders.placed"), <Time at={createdAt} visitor={visitor} />],
            ]}
          />
        </section>
      </>
    ),
  };
}

function factsOf(
  visitor: Visitor,
  order: Order,
  author: ComponentChildren,
): (readonly [string, ComponentChildren])[] {
  const { t, formats } = visitor;
  const { chargeMicros, refundedMicros, startCount, remains, reference } = order;
  const extra = Object.entries(extraFields(order)).filter(([, value]) => value !== "");
  return [
    [t("orders.service"), <Typed text={order.serviceName} />],
    [t("orders.link"), <TypedLink text={order.link} />],
    [t("orders.quantity"), formats.number(orderedQuantity(order))],
    ...extra.map(
      ([field, value]) =>
        [t(`extra.${field as "runs"}`), <TypedLines text={String(value)} />] as const,
    ),
    ...(reference === null ? [] : [[t("orders.reference"), <Typed text={reference} />] as const]),
    [t("order.startCount"), startCount === 0 ? "–" : formats.number(startCount)],
    [t("orders.remains"), formats.number(remains)],
    [t("orders.charge"), formats.money(chargeMicros)],
    ...(refundedMicros === 0
      ? []
      : [
          [t("order.refunded"), formats.money(refundedMicros)] as const,
          [t("order.paid"), formats.money(chargeMicros - refundedMicros)] as const,
        ]),
    [t("orders.placed"), <Time at={order.createdAt} visitor={visitor} />],
    [t("order.by"), author],
  ];
}

/** Returns who placed the order: a member, a key, or the operator. */
function authorOf(
  reader: Reader,
  { t }: Visitor,
  charge: { keyId: string | null; operator: string | null } | undefined,
): ComponentChildren {
  if (charge?.keyId) {
    return t("order.byKey", { label: reader.row(keys.byKey, charge.keyId)?.label ?? "" });
  }
  const id = memberOf(charge?.operator ?? null);
  const member = id === null ? undefined : findMember(reader, id);
  return member ? <Typed text={member.name} /> : t("order.byOperator");
}

interface Entry {
  at: number;
  text: ComponentChildren;
  note?: string | null;
}

interface History {
  order: Order;
  requests: readonly OrderRequest[];
  events: ReturnType<typeof listOrderEvents>;
  charges: ReturnType<typeof listTransactionsBelow>["rows"];
}

/** What the reseller may know of the order's history. Notes of operators, providers and attempts are left out. */
function entriesOf(visitor: Visitor, { order, requests, events, charges }: History): Entry[] {
  const { t, formats } = visitor;
  return [
    { at: order.createdAt, text: t("order.wasPlaced") },
    ...events.map(({ createdAt: at, toStatus }) => {
      return { at, text: <Status status={toStatus} visitor={visitor} /> };
    }),
    ...charges
      .filter(({ kind }) => kind !== "order")
      .map(({ createdAt: at, amountMicros, publicNote: note }) => {
        return { at, text: t("order.refundOf", { amount: formats.money(amountMicros) }), note };
      }),
    ...requests.flatMap(({ kind, state, createdAt, changedAt }) => {
      const asked = { at: createdAt, text: t(`request.${kind}.requested`) };
      if (state === "requested" || state === "sent") return [asked];
      return [asked, { at: changedAt, text: t(`request.${kind}.${state}`) }];
    }),
  ].toSorted((a, b) => a.at - b.at);
}

function Timeline({ visitor, entries }: { visitor: Visitor; entries: readonly Entry[] }) {
  return (
    <ol class="timeline">
      {entries.map(({ at, text, note }) => (
        <li>
          <Time at={at} visitor={visitor} /> {text}
          {note && (
            <>
              {" "}
              <Typed text={note} />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

function Requests({
  visitor: { t },
  number,
  kinds,
}: {
  visitor: Visitor;
  number: string;
  kinds: readonly RequestKind[];
}) {
  return (
    <>
      {kinds.map((kind) => (
        <Form action={`/orders/${number}/${kind}`} submit={t(`order.${kind}`)}>
          <p class="hint">{t(`order.${kind}Text`)}</p>
        </Form>
      ))}
    </>
  );
}

export async function askRequest(submission: Submission): Promise<Redirect> {
  const { visitor, params } = submission;
  const kind = REQUEST_KINDS.find((each) => each === params["kind"]);
  const { orderId } = await submission.read((reader) =>
    requireOwnOrder(reader, visitor, params["order"]!),
  );
  if (!kind) throw refusal("order_not_found");
  await submission.submit("makeMemberRequest", { kind, id: String(orderId) });
  return { to: `/orders/${orderId}`, note: visitor.t("order.asked") };
}
