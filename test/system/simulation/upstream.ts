// A simulated provider: its own records are correct, its replies are unreliable.
// It reports to the auditor what it was sent and which of its replies reached a live process.

import type { Reply, Send } from "../../../src/providers/call.ts";
import type { Auditor, Meaning, Sent } from "./auditor.ts";
import type { CostAuditor, Told } from "./cost-auditor.ts";
import type { RequestAuditor } from "./request-auditor.ts";
import { createUpstreamRequests } from "./upstream-requests.ts";
import type { Life, World } from "./world.ts";

const LATENCY_MS = 80;
const TIMEOUT_MS = 30_000;

/** The end of an order at the provider. */
interface Destiny {
  number: string;
  link: string;
  quantity: number;
  placedAt: number;
  /** Milliseconds from `placedAt` to the end. */
  endsAfter: number;
  end: Exclude<Meaning, "PROCESSING">;
  /** What remains at a partial end. */
  remains: number;
  /** What it changes to long after its end, if it does. */
  late: { after: number; meaning: Meaning } | null;
  /** Whether its entries in replies are always nonsense. */
  nonsense: boolean;
  /** The charge in millionths of the currency. It may change at any time. */
  charge: number;
}

const WORDS: Record<Meaning, readonly string[]> = {
  PROCESSING: ["Pending", "In progress", "Processing", "in-progress", "IN_PROGRESS"],
  COMPLETED: ["Completed", "completed"],
  PARTIAL: ["Partial", "PARTIAL"],
  CANCELLED: ["Canceled", "Cancelled", "Refunded"],
  FAILED: ["Fail", "failed", "Error"],
};

export interface SimulatedProvider {
  send(life: Life): Send;
  /** The number under which it has an order. */
  numberOf(link: string): string | undefined;
  /** Whether a refill has ended there. */
  hasRefillEnded(number: string): boolean;
  /** The ends of its orders, by link; undefined while an order is being delivered. */
  endOf(link: string): { meaning: Meaning; nonsense: boolean } | undefined;
}

export interface ProviderSetup {
  name: string;
  world: World;
  auditor: Auditor;
  costs: CostAuditor;
  currency: string;
  requests: RequestAuditor;
  /** Called when a live process read that an order was refused for lack of funds. */
  unfunded: () => void;
  /** Whether orders wait until it has funds. */
  holds: boolean;
  /** Our balance there. `told` is called when a live process read it. */
  balance: () => { balance: number; told: () => void };
  /** Returns how often something goes wrong, 0 to 1. Called each time. */
  faults: () => number;
}

export function createProvider(setup: ProviderSetup): SimulatedProvider {
  const { name, world, auditor, costs, requests, currency, faults } = setup;
  const { chance } = world;
  /** How often a reply has a charge, and how often a currency with it. */
  const tells = { charge: chance.pick([0, 0.5, 1]), currency: chance.pick([0, 0.5, 1]) };
  const book = new Map<string, Destiny>();
  const numbers = new Map<string, string>();
  let downUntil = 0;
  /** Until then it answers orders with web pages, which pauses submissions. */
  let brokenUntil = 0;
  let refusesUntil = 0;
  let lastNumber = chance.whole(1, 5) * 1000;

  const goes = (fault: number) => chance.happens(fault * faults());

  const upstreamRequests = createUpstreamRequests(world, requests, goes);
  const requestIn = (form: Record<string, string>) => {
    const kind = form["action"];
    const order = book.get(form["orders"] ?? form["order"] ?? "");
    return order && (kind === "cancel" || kind === "refill")
      ? ({ kind, link: order.link } as const)
      : null;
  };

  const send =
    (life: Life): Send =>
    (form, { stop }) =>
      new Promise((resolve) => {
        const isAdd = form["action"] === "add";
        const link = form["link"] ?? "";
        const attempt = isAdd ? auditor.sent(link, name, form["service"]!, world.elapsed()) : null;
        let over = false;
        const end = (reply: Reply, heard: () => void) => {
          if (over || life.dead) return;
          over = true;
          heard();
          resolve(reply);
        };
        const fail = (failure: "not_sent" | "unanswered", cause: string) =>
          end({ kind: "failure", failure, cause }, () => {
            if (attempt && failure === "not_sent") auditor.heardNotSent(attempt);
            if (request && failure === "not_sent") requests.notSent(request.link, request.kind);
          });
        const request = requestIn(form);
        if (request) requests.sent(request.link, request.kind);
        if (goes(0.05)) downUntil = world.elapsed() + chance.whole(1000, 900_000);
        if (faults() > 0 && world.elapsed() < downUntil) {
          world.later(chance.whole(1, LATENCY_MS), life, () => fail("not_sent", "ECONNREFUSED"));
          return;
        }
        if (goes(0.05)) {
          world.later(chance.whole(1, LATENCY_MS), life, () => fail("not_sent", "HTTP 429"));
          return;
        }
        stop.addEventListener("abort", () => fail("unanswered", "stopped"));
        world.later(TIMEOUT_MS, life, () => fail("unanswered", "no answer"));
        // A request that was sent arrives or is lost, even if its sender has died.
        const isLost = goes(0.05);
        world.later(chance.whole(1, LATENCY_MS), null, () => {
          if (isLost) return;
          const asked = upstreamRequests.answer(form, (number) => book.get(number));
          const { reply, heard } =
            form["action"] === "balance"
              ? tellBalance()
              : asked
                ? spoil(json(asked.body), asked.heard)
                : attempt
                  ? takeOrder(form, attempt)
                  : tellStatus(form);
          const latency = chance.whole(1, goes(0.1) ? 45_000 : LATENCY_MS);
          if (reply !== "never") world.later(latency, life, () => end(reply, heard));
        });
      });

  const takeOrder = (form: Record<string, string>, attempt: Sent) => {
    const { link } = attempt;
    auditor.received(link, form);
    // Without funds or without the service it refuses all orders for a while.
    if (goes(0.03)) refusesUntil = world.elapsed() + chance.whole(1000, 900_000);
    if (goes(0.08) || (faults() > 0 && world.elapsed() < refusesUntil)) {
      const isUnfunded = chance.happens(0.5);
      const error = isUnfunded ? "neworder.error.not_enough_funds" : "Incorrect link";
      return spoil(json({ error }), () => {
        if (isUnfunded && setup.holds) auditor.heardNoFunds(attempt);
        else auditor.heardRefusal(attempt);
        if (isUnfunded) setup.unfunded();
      });
    }
    if (goes(0.04)) return spoil(unreadable("HTTP 500"), () => {});
    if (goes(0.02)) brokenUntil = world.elapsed() + chance.whole(1000, 600_000);
    const isBroken = faults() > 0 && world.elapsed() < brokenUntil;
    if (isBroken && chance.happens(0.5)) return { reply: unreadable("HTTP 502"), heard: () => {} };
    lastNumber += 1;
    const number = String(lastNumber);
    book.set(number, destinyOf(number, link, auditor.dossier(link).quantity));
    numbers.set(link, number);
    auditor.taken(link, name);
    const order = chance.happens(0.5) ? lastNumber : number;
    // It took the order, but its front end reports an error.
    if (isBroken) return { reply: unreadable("HTTP 502"), heard: () => {} };
    return spoil(json({ order }), () => auditor.heardAccepted(attempt, number));
  };

  /** Sometimes spoils a reply. `heard` is called only for a reply that arrives unchanged. */
  const spoil = (reply: Reply, heard: () => void) => {
    const nothing = () => {};
    if (!goes(0.25)) return { reply, heard };
    switch (chance.whole(1, 6)) {
      case 1:
        return { reply: "never" as const, heard: nothing };
      case 2:
        return { reply: unreadable("HTTP 200, a page"), heard: nothing };
      case 3:
        return { reply: { ...json({ order: 7 }), status: 500 } as Reply, heard: nothing };
      case 4:
        return { reply: json({ order: 32, error: "Try again" }), heard: nothing };
      case 5:
        return {
          reply: json(chance.pick<unknown>([{}, [], "ok", null, { order: -1 }])),
          heard: nothing,
        };
      default:
        return {
          reply: { kind: "failure", failure: "unanswered", cause: "ECONNRESET" } as Reply,
          heard: nothing,
        };
    }
  };

  const tellBalance = () => {
    const { balance, told } = setup.balance();
    return spoil(json({ balance: String(balance), currency }), told);
  };

  const tellStatus = (form: Record<string, string>) => {
    const single = form["order"];
    const asked = single === undefined ? form["orders"]!.split(",") : [single];
    auditor.asked(asked.length);
    const heards: (() => void)[] = [];
    const entries = asked.flatMap((number): [string, unknown][] => {
      if (goes(0.02)) return [];
      return [[number, entryOf(number, heards)]];
    });
    const body = single === undefined ? Object.fromEntries(entries) : (entries[0]?.[1] ?? {});
    return spoil(json(body), () => {
      for (const heard of heards) heard();
    });
  };

  const entryOf = (number: string, heards: (() => void)[]): unknown => {
    const order = book.get(number);
    if (!order) return { error: "Incorrect order ID" };
    if (order.nonsense || goes(0.1)) return nonsense(order);
    const meaning = meaningOf(order);
    const left = Math.round(order.quantity * chance.number());
    const remains = meaning === "PARTIAL" ? order.remains : meaning === "COMPLETED" ? 0 : left;
    const startCount = chance.pick<unknown>([0, "3572", "Unknown", null, -5]);
    const told = moneyOf(order, meaning, remains);
    heards.push(() => {
      auditor.heardReport(order.link, meaning, remains);
      costs.heard(order.link, { at: world.elapsed(), meaning, remains, told });
    });
    const written = meaning !== "PARTIAL" && goes(0.2) ? order.quantity + 1 : remains;
    const shown = chance.happens(0.5) ? written : String(written);
    const money = told ?? chance.pick<object>([{}, { charge: null }, { charge: "Unknown" }]);
    return {
      status: chance.pick(WORDS[meaning]),
      remains: shown,
      start_count: startCount,
      ...money,
    };
  };

  /** Returns the current charge, as a reply reports it; null: the reply has none. */
  const moneyOf = (order: Destiny, meaning: Meaning, remains: number): Told | null => {
    if (goes(0.1)) order.charge = chance.whole(0, 3_000_000);
    if (!chance.happens(tells.charge)) return null;
    // Many providers still report a charge that they have refunded.
    const isFree = (meaning === "CANCELLED" || meaning === "FAILED") && chance.happens(0.5);
    const part = meaning === "PARTIAL" ? order.quantity - remains : order.quantity;
    const micros = isFree ? 0 : Math.floor((order.charge * part) / order.quantity);
    const said = goes(0.05) ? "XTS" : chance.happens(tells.currency) ? currency : null;
    return {
      charge: `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`,
      currency: said,
    };
  };

  /** Returns an entry that must change nothing. */
  const nonsense = ({ quantity }: Destiny): unknown =>
    chance.pick<unknown>([
      { status: 3, remains: "0" },
      { status: "2" },
      { status: "Delivered" },
      { status: "Partial", remains: String(quantity + 1) },
      { status: "Partial", remains: quantity * 1000 },
      { status: "Partial", remains: "-1" },
      { status: "Partial", remains: "Unknown" },
      { status: "Partial" },
      "Canceled",
      { error: "Incorrect order ID" },
      null,
    ]);

  const destinyOf = (number: string, link: string, quantity: number): Destiny => {
    const end = chance.pick(["COMPLETED", "COMPLETED", "PARTIAL", "CANCELLED", "FAILED"] as const);
    const lateMeaning = chance.pick(["CANCELLED", "PARTIAL", "COMPLETED"] as const);
    const changesLate = chance.happens(0.15) && lateMeaning !== end;
    return {
      number,
      link,
      quantity,
      placedAt: world.elapsed(),
      endsAfter: chance.whole(1000, 2_400_000),
      end,
      remains: chance.whole(0, quantity),
      late: changesLate ? { after: chance.whole(60_000, 600_000), meaning: lateMeaning } : null,
      nonsense: goes(0.05),
      charge: chance.whole(0, 3_000_000),
    };
  };

  const meaningOf = ({ placedAt, endsAfter, end, late }: Destiny): Meaning => {
    const age = world.elapsed() - placedAt;
    if (age < endsAfter) return "PROCESSING";
    return late && age > endsAfter + late.after ? late.meaning : end;
  };

  world.trace(`provider ${name} counts from ${lastNumber}`);
  return {
    send,
    numberOf: (link) => numbers.get(link),
    hasRefillEnded: (number) => upstreamRequests.hasEnded(number),
    endOf(link) {
      const order = book.get(numbers.get(link) ?? "");
      if (!order || meaningOf(order) === "PROCESSING") return undefined;
      return { meaning: meaningOf(order), nonsense: order.nonsense };
    },
  };
}

function json(body: unknown): Reply {
  return { kind: "json", status: 200, json: body };
}

function unreadable(cause: string): Reply {
  return { kind: "failure", failure: "unreadable", cause };
}
