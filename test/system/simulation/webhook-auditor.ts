// The auditor of webhooks: from the history of orders and transfers, from what the operator did and from what reached the
// receivers it recomputes which events there must be. It shares no code with the service.

import { Finding } from "./auditor.ts";
import type { MarketDatabase } from "./databases.ts";

export interface AuditedEndpoint {
  id: string;
  url: string;
  reseller: string;
  /** What it asked for; `*` stands for the usual ones. */
  events: readonly string[];
  /** In micros. */
  balanceLowBelow: number | null;
  /** It never replies. */
  isDead: boolean;
}

export interface WebhookAuditor {
  registered(endpoint: AuditedEndpoint): void;
  endpoints(): readonly AuditedEndpoint[];
  /** Something arrived, whatever is replied. */
  received(url: string, eventId: string, body: string): void;
  /** It was replied to with a success. */
  accepted(url: string, eventId: string): void;
  /** Its owner or the operator gave up what waited for it. */
  dropped(url: string): void;
  /** The operator did it, and it was committed. */
  credited(reseller: string): void;
  /** Returns how often it did. */
  serviceChanged(): number;
  /** Another discount of a reseller's changed the prices of so many services. */
  repriced(reseller: string, services: number): void;
  /** Throws Finding for the first thing that is wrong. */
  audit(): void;
  /** The same for what may not wait any more once nothing fails. */
  auditEnd(now: number): void;
  counts(): { deliveries: number; undelivered: number };
}

/** How late something that is due may be: timers lag, attempts take time, a lease has to end. */
const LATE_MS = 5 * 60_000;
/** What is under way is due again after so long; what waits is due within twice the longest step. */
const LEASE_MS = 60_000;
const LONGEST_WAIT_MS = 48 * 3_600_000;
/** How often a delivery is attempted at least before it is given up, and one of the test side. */
const ATTEMPTS = 10;
const TEST_ATTEMPTS = 3;
const ONLY_BY_NAME = new Set(["order.progress"]);

interface EventRow {
  id: string;
  username: string;
  type: string;
  orderId: number | null;
  sequence: number | null;
  body: string;
}

interface DeliveryRow {
  url: string;
  eventId: string;
  state: string;
  attempts: number;
  dueAt: number | null;
  active: number;
}

export function createWebhookAuditor({ query }: Pick<MarketDatabase, "query">): WebhookAuditor {
  const endpoints: AuditedEndpoint[] = [];
  const receipts = new Map<string, string[]>();
  const successes = new Set<string>();
  const dropped = new Set<string>();
  const credits = new Map<string, number>();
  let serviceChanges = 0;
  const repricings = new Map<string, number>();
  const keyOf = (url: string, eventId: string) => `${url} ${eventId}`;
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(`webhooks: ${what}`);
  };
  /** Each body is looked at in every audit. */
  const told = new Map<string, { data: Told }>();
  const parsed = (body: string) => {
    const known = told.get(body) ?? (JSON.parse(body) as { data: Told });
    told.set(body, known);
    return known;
  };
  const wants = ({ events }: AuditedEndpoint, type: string) =>
    events.includes(type) || (events.includes("*") && !ONLY_BY_NAME.has(type));
  const wanting = (reseller: string, type: string) =>
    endpoints.filter((endpoint) => endpoint.reseller === reseller && wants(endpoint, type));

  const selectEvents = () =>
    query<EventRow>(`SELECT webhook_events.id, username, type, order_id AS "orderId", sequence, body
      FROM webhook_events JOIN users ON account = reseller_account ORDER BY event_id`);
  const selectDeliveries = () =>
    query<DeliveryRow>(`SELECT url, webhook_events.id AS "eventId", state, attempts,
        due_at AS "dueAt", active
      FROM webhook_deliveries JOIN webhooks ON webhooks.webhook_id = webhook_deliveries.webhook_id
        JOIN webhook_events ON webhook_events.event_id = webhook_deliveries.event_id
      WHERE webhooks.reseller_account IS NOT NULL ORDER BY delivery_id`);

  /** Each transition of the orders' history is an event where it is wanted, and nothing else is. */
  const auditTransitions = (events: readonly EventRow[]) => {
    const history = query<{ orderId: number; username: string; from: string; to: string }>(
      `SELECT order_events.order_id AS "orderId", username, from_status AS "from", to_status AS "to"
        FROM order_events JOIN orders ON orders.order_id = order_events.order_id
        JOIN users ON account = reseller_account ORDER BY seq`,
    );
    const expected = history
      .map((move) => ({ ...move, type: `order.${move.to.toLowerCase()}` }))
      .filter(({ username, type }) => wanting(username, type).length > 0)
      .map(({ orderId, type, from, to }) => `${orderId} ${type} ${from} ${to}`);
    const found = events
      .filter(({ orderId, type }) => orderId !== null && type !== "order.progress")
      .map(({ orderId, type, body, sequence }) => {
        const { data } = parsed(body);
        must(data.order.orderId === Number(orderId), `an event of ${orderId} tells of another`);
        must(data.sequence === Number(sequence), `an event of ${orderId} tells another sequence`);
        return `${orderId} ${type} ${data.previousStatus} ${data.order.status}`;
      });
    const [wrong] = differences(expected, found);
    must(wrong === undefined, `transitions and events differ: ${wrong}`);
  };

  /** Who asked for all of an order's events has every sequence from 1 to the order's; others have gaps, no repetition. */
  const auditSequences = (events: readonly EventRow[]) => {
    const orders = query<{ orderId: number; username: string; sequence: number }>(
      `SELECT order_id AS "orderId", username, sequence FROM orders
        JOIN users ON account = reseller_account`,
    );
    const byOrder = Map.groupBy(events, ({ orderId }) => Number(orderId));
    for (const { orderId, username, sequence } of orders) {
      const found = (byOrder.get(Number(orderId)) ?? []).map((event) => Number(event.sequence));
      const ascends = found.every((each, index) => index === 0 || each > found[index - 1]!);
      must(ascends, `the sequences of order ${orderId} are ${found.join()}`);
      must((found.at(-1) ?? 0) <= Number(sequence), `order ${orderId} has had ${sequence} events`);
      const isWhole = endpoints.some(
        ({ reseller, events: asked }) =>
          reseller === username && asked.includes("*") && asked.includes("order.progress"),
      );
      if (!isWhole) continue;
      must(
        found.length === Number(sequence),
        `order ${orderId} has had ${sequence} events, there are ${found.join()}`,
      );
    }
  };

  /** Credits and changes of services by what the operator did, low balances by the transfers. */
  const auditOthers = (events: readonly EventRow[]) => {
    const count = (username: string, type: string) =>
      events.filter((event) => event.username === username && event.type === type).length;
    for (const reseller of new Set(endpoints.map((endpoint) => endpoint.reseller))) {
      const check = (type: string, happened: number) => {
        const expected = wanting(reseller, type).length > 0 ? happened : 0;
        const found = count(reseller, type);
        must(found === expected, `${reseller} has ${found} of ${type}, not ${expected}`);
      };
      check("balance.credited", credits.get(reseller) ?? 0);
      check("service.changed", serviceChanges + (repricings.get(reseller) ?? 0));
      const thresholds = wanting(reseller, "balance.low").map((each) => each.balanceLowBelow);
      const falls = [...new Set(thresholds)].map((threshold) => countFalls(reseller, threshold));
      const expected = falls.reduce((sum, each) => sum + each, 0);
      const found = count(reseller, "balance.low");
      must(found === expected, `${reseller} has ${found} of balance.low, not ${expected}`);
    }
  };

  /** How often a charge took the balance below the threshold. */
  const countFalls = (reseller: string, threshold: number | null): number => {
    if (threshold === null) return 0;
    const debits = query<{ amount: number; after: number }>(
      `SELECT amount_micros AS amount, balance_after_micros AS after FROM transfers
        JOIN users ON account = debit_account WHERE username = ?`,
      reseller,
    );
    return debits.filter(
      ({ amount, after }) =>
        Number(after) < threshold && Number(after) + Number(amount) >= threshold,
    ).length;
  };

  /** Each event is on its way to each endpoint that wants it, and to no other; delivered is what a receiver accepted. */
  const auditDeliveries = (events: readonly EventRow[], deliveries: readonly DeliveryRow[]) => {
    const expected = events.flatMap(({ id, username, type }) =>
      type === "balance.low" ? [] : wanting(username, type).map(({ url }) => keyOf(url, id)),
    );
    const bodies = new Map(events.map((event) => [event.id, event]));
    const found = deliveries
      .filter(({ eventId }) => bodies.get(eventId)!.type !== "balance.low")
      .map(({ url, eventId }) => keyOf(url, eventId));
    const [wrong] = differences(expected, found);
    must(wrong === undefined, `wanted events and deliveries differ: ${wrong}`);
    const byKey = new Map(deliveries.map((each) => [keyOf(each.url, each.eventId), each]));
    for (const [key, received] of receipts) {
      const delivery = byKey.get(key);
      if (!delivery) throw new Finding(`webhooks: ${key} was sent and is not there`);
      const { body } = bodies.get(delivery.eventId)!;
      must(
        received.every((each) => each === body),
        `${key} was sent with another body`,
      );
      must(received.length <= Number(delivery.attempts), `${key} came more often than attempted`);
    }
    const tests = new Set(
      endpoints.filter(({ reseller }) => reseller.startsWith("test:")).map(({ url }) => url),
    );
    for (const { url, eventId, state, attempts } of deliveries) {
      const isDelivered = state === "delivered";
      must(!isDelivered || successes.has(keyOf(url, eventId)), `${url} never accepted ${eventId}`);
      const isGivenUp = state === "failed" && !dropped.has(url);
      const least = tests.has(url) ? TEST_ATTEMPTS : ATTEMPTS;
      must(
        !isGivenUp || Number(attempts) >= least,
        `${eventId} to ${url} was given up after ${attempts} attempts`,
      );
    }
  };

  return {
    registered: (endpoint) => void endpoints.push(endpoint),
    endpoints: () => endpoints,
    received(url, eventId, body) {
      const key = keyOf(url, eventId);
      receipts.set(key, [...(receipts.get(key) ?? []), body]);
    },
    accepted: (url, eventId) => void successes.add(keyOf(url, eventId)),
    dropped: (url) => void dropped.add(url),
    credited: (reseller) => void credits.set(reseller, (credits.get(reseller) ?? 0) + 1),
    serviceChanged: () => (serviceChanges += 1),
    repriced: (reseller, services) =>
      void repricings.set(reseller, (repricings.get(reseller) ?? 0) + services),
    audit() {
      const events = selectEvents();
      auditTransitions(events);
      auditSequences(events);
      auditOthers(events);
      auditDeliveries(events, selectDeliveries());
    },
    counts() {
      const deliveries = selectDeliveries();
      const undelivered = deliveries.filter(({ state }) => state !== "delivered").length;
      return { deliveries: deliveries.length, undelivered };
    },
    auditEnd(now) {
      for (const { url, eventId, state, active, dueAt } of selectDeliveries()) {
        if (state === "delivered" || state === "failed") continue;
        // Listed as undelivered. To endpoints that are in use and reply, what is due is under way; one that never
        // replies is sent one at a time, and may have many.
        if (Number(active) === 0 || endpoints.some((each) => each.url === url && each.isDead))
          continue;
        const latest = now + (state === "sending" ? LEASE_MS : LONGEST_WAIT_MS);
        must(
          dueAt !== null && Number(dueAt) > now - LATE_MS && Number(dueAt) <= latest,
          `${url} waits for ${eventId}, ${state} since ${new Date(Number(dueAt)).toISOString()}`,
        );
      }
    },
  };
}

interface Told {
  order: { orderId: number; status: string };
  previousStatus: string;
  sequence: number;
}

/** What one list has more often than the other. */
function differences(expected: readonly string[], found: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const each of expected) counts.set(each, (counts.get(each) ?? 0) + 1);
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) - 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([each, count]) => `${each} (${count > 0 ? "missing" : "too many"})`);
}
