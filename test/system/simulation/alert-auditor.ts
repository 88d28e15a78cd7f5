// The auditor of alerts: from what was committed and what reached the operator's endpoints it checks that each alert is told
// once when it begins and once when it ends, that none is lost, and that at the end what is open is what is wrong.
// It shares no code with the service.

import { Finding } from "./auditor.ts";
import type { MarketDatabase } from "./databases.ts";

export interface AlertAuditor {
  /** The URL or the chat of an endpoint of the operator. */
  registered(target: string): void;
  isEndpoint(target: string): boolean;
  received(target: string, eventId: string, body: string): void;
  accepted(target: string, eventId: string): void;
  /** Something went wrong that was not: at most one alert may begin of it. */
  began(kind: string, subject: string): void;
  /** What is wrong now, by kind, of the kinds that are known outside. */
  truth(subjects: () => Record<string, readonly string[]>): void;
  audit(): void;
  auditEnd(now: number): void;
}

const LATE_MS = 5 * 60_000;
/** Whose beginnings are known outside. */
const COUNTED =
  /^(disk_low|provider_balance_low|provider_out_of_funds|webhook_disabled|placement_unknown|sync_held) /;

interface EventRow {
  id: string;
  type: string;
  body: string;
}

interface DeliveryRow {
  target: string;
  eventId: string;
  state: string;
  attempts: number;
  dueAt: number | null;
  active: number;
}

export function createAlertAuditor({ query }: Pick<MarketDatabase, "query">): AlertAuditor {
  const endpoints = new Set<string>();
  const receipts = new Map<string, string[]>();
  const successes = new Set<string>();
  const begins = new Map<string, number>();
  let subjectsOf: () => Record<string, readonly string[]> = () => ({});
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(`alerts: ${what}`);
  };
  const selectEvents = () =>
    query<EventRow>(
      "SELECT id, type, body FROM webhook_events WHERE reseller_account IS NULL ORDER BY event_id",
    );
  const selectDeliveries = () =>
    query<DeliveryRow>(`SELECT coalesce(telegram_chat, url) AS target, webhook_events.id AS "eventId",
        state, attempts, due_at AS "dueAt", active
      FROM webhook_deliveries JOIN webhooks ON webhooks.webhook_id = webhook_deliveries.webhook_id
        JOIN webhook_events ON webhook_events.event_id = webhook_deliveries.event_id
      WHERE webhooks.reseller_account IS NULL ORDER BY delivery_id`);

  /** How often it became unknown whether a provider has an order: of each at most one alert begins. */
  const countUnknown = () => {
    const rows = query<{ name: string; times: number }>(
      `SELECT name, count(*) AS times FROM attempts
        JOIN providers ON providers.provider_id = attempts.provider_id
        WHERE outcome = 'unknown' AND protocol <> 'sandbox' GROUP BY name`,
    );
    return new Map(rows.map(({ name, times }) => [`placement_unknown ${name}`, Number(times)]));
  };

  /** A begin, an end, a begin, …; and no more begins than there were reasons. Returns what is open. */
  const auditStory = (events: readonly EventRow[]): Set<string> => {
    const open = new Set<string>();
    const amounts = new Map<string, number>();
    const counts = new Map<string, number>();
    for (const { type, body } of events) {
      const told = JSON.parse(body) as Record<string, string>;
      const key = `${told["kind"]} ${told["subject"]}`;
      must(told["type"] === type, `${key} is told as another type than it is`);
      const amount = Number(/\d+/.exec(told["message"]!)?.[0] ?? 0);
      const before = amounts.get(key) ?? 0;
      amounts.set(key, amount);
      if (type === "alert.raised" && open.has(key)) {
        const isWorse = key.startsWith("placement_unknown ")
          ? amount >= 2 * before
          : key.startsWith("disk_low ") && amount <= before / 2;
        must(isWorse, `${key} begins twice, with ${before} and ${amount}`);
      } else if (type === "alert.raised") {
        open.add(key);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      } else {
        must(type === "alert.resolved" && open.delete(key), `${key} ends without a beginning`);
      }
    }
    const unknown = countUnknown();
    for (const [key, count] of counts) {
      if (!COUNTED.test(key)) continue;
      const most = begins.get(key) ?? unknown.get(key) ?? 0;
      must(count <= most, `${key} began ${most} times and was told ${count} times`);
    }
    return open;
  };

  const auditDeliveries = (events: readonly EventRow[]) => {
    const deliveries = selectDeliveries();
    const byKey = new Map(deliveries.map((each) => [`${each.target} ${each.eventId}`, each]));
    must(
      byKey.size === deliveries.length && byKey.size === events.length * endpoints.size,
      `${events.length} events have ${deliveries.length} deliveries to ${endpoints.size} endpoints`,
    );
    const bodies = new Map(events.map(({ id, body }) => [id, body]));
    for (const [key, received] of receipts) {
      const delivery = byKey.get(key);
      if (!delivery) throw new Finding(`alerts: ${key} was sent and is not there`);
      const body = bodies.get(delivery.eventId);
      must(
        received.every((each) => each === body),
        `${key} was sent with another body`,
      );
      must(received.length <= Number(delivery.attempts), `${key} came more often than attempted`);
    }
    for (const { target, eventId, state, active } of deliveries) {
      must(Number(active) === 1, `${target} was disabled`);
      if (state === "delivered") {
        must(successes.has(`${target} ${eventId}`), `${target} never accepted ${eventId}`);
      }
    }
  };

  const auditOpen = (): Set<string> => {
    const events = selectEvents();
    const open = auditStory(events);
    auditDeliveries(events);
    const rows = query<{ kind: string; subject: string }>(
      "SELECT kind, subject FROM alerts WHERE resolved_at IS NULL",
    ).map(({ kind, subject }) => `${kind} ${subject}`);
    must(
      rows.toSorted().join() === [...open].toSorted().join(),
      `open are ${rows.join()}, told were ${[...open].join()}`,
    );
    return open;
  };

  return {
    registered: (target) => void endpoints.add(target),
    isEndpoint: (target) => endpoints.has(target),
    received(target, eventId, body) {
      const key = `${target} ${eventId}`;
      receipts.set(key, [...(receipts.get(key) ?? []), body]);
    },
    accepted: (target, eventId) => void successes.add(`${target} ${eventId}`),
    began(kind, subject) {
      const key = `${kind} ${subject}`;
      begins.set(key, (begins.get(key) ?? 0) + 1);
    },
    truth: (subjects) => void (subjectsOf = subjects),
    audit: () => void auditOpen(),
    auditEnd(now) {
      const open = auditOpen();
      const unknown = query<{ name: string }>(
        `SELECT DISTINCT name FROM orders JOIN providers ON providers.provider_id = orders.provider_id
          WHERE status = 'PENDING' AND placement = 'unknown' AND protocol <> 'sandbox'`,
      ).map(({ name }) => name);
      const unfunded = query<{ name: string }>(
        "SELECT name FROM providers WHERE active = 1 AND out_of_funds_at IS NOT NULL",
      ).map(({ name }) => name);
      const held = query<{ name: string }>(
        "SELECT name FROM providers WHERE active = 1 AND sync_held IS NOT NULL",
      ).map(({ name }) => name);
      const pausedProviders = query<{ name: string }>(
        "SELECT name FROM providers WHERE active = 1 AND paused_by = 'unknown'",
      ).map(({ name }) => name);
      const waiting = query<{ name: string }>(
        "SELECT name FROM providers WHERE active = 1 AND paused_by = 'funds'",
      ).map(({ name }) => name);
      must(waiting.length === 0, `${waiting.join()} has funds, and is still paused`);
      must(pausedProviders.length === 0, `${pausedProviders.join()} stayed paused without faults`);
      const disabled = query<{ id: string }>(
        `SELECT webhooks.id FROM webhooks JOIN users ON users.account = webhooks.reseller_account
          WHERE test_of IS NULL AND disabled_reason IN ('failures', 'gone')`,
      ).map(({ id }) => id);
      const truth = {
        ...subjectsOf(),
        webhook_disabled: disabled,
        placement_unknown: unknown,
        provider_out_of_funds: unfunded,
        provider_paused: pausedProviders,
        sync_held: held,
      };
      for (const [kind, subjects] of Object.entries(truth)) {
        const told = [...open].filter((key) => key.startsWith(`${kind} `)).toSorted();
        const wrong = subjects.map((subject) => `${kind} ${subject}`).toSorted();
        must(told.join() === wrong.join(), `wrong is ${wrong.join()}, told is ${told.join()}`);
      }
      const texts = query<{ subject: string; message: string; unknown: number }>(
        `SELECT subject, message, (SELECT count(*) FROM orders JOIN providers USING (provider_id)
            WHERE name = subject AND status = 'PENDING' AND placement = 'unknown') AS "unknown"
          FROM alerts WHERE resolved_at IS NULL AND kind = 'placement_unknown'`,
      );
      for (const { subject, message, unknown: count } of texts) {
        const isSo = message.includes(` received ${Number(count)} order`);
        must(isSo, `${Number(count)} unknown orders at ${subject} are told as: ${message}`);
      }
      for (const { target, eventId, state, dueAt } of selectDeliveries()) {
        if (state === "delivered" || state === "failed") continue;
        must(Number(dueAt) > now - LATE_MS, `${target} waits for ${eventId}, ${state}`);
      }
    },
  };
}
