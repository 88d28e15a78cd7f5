// Random lives of payments by Stripe: customers, banks and the operator act in any order; events are lost, repeated, late
// and in any order; readings fail. In the end the payment is what Stripe's own objects say, and no more was credited than
// was received.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Fault } from "../support/peers/stripe/api.ts";
import { below, type Random, randomFrom } from "../support/random/seeded.ts";
import { runs } from "../support/runs.ts";
import type { Outcome, World } from "./stripe-cases/case.ts";
import { type Market, openMarket } from "./stripe-cases/world.ts";

const SEEDS = runs(150, 3000);
const STEPS_LIMIT = 14;
const RECEIVED = 25;
const FAULTS: readonly Fault[] = ["429", "500 before", "503 page", "no json", "redirect"];

let market: Market;
beforeAll(async () => void (market = await openMarket()));
afterAll(() => market.stop());

/** Refunds that give something back. */
const COUNTED = /^(succeeded|pending)$/;

type Act = () => void | Promise<void>;

/** What can happen at Stripe to the session as it is now. */
function acts({ local: { account }, session, reference }: World, random: Random): Act[] {
  if (session.status === "open") {
    return [
      () => account.payByCard(reference),
      () => account.payByCard(reference),
      () => account.payByCard(reference, true),
      () => account.payByBank(reference),
      () => account.payByBank(reference),
      ...(random() < 0.2 ? [() => void account.expire(reference)] : []),
      ...(random() < 0.2 ? [() => account.completeFree(reference)] : []),
    ];
  }
  if (session.status === "expired" || session.payment_intent === null) return [];
  const intent = account.intentOfSession(reference);
  if (intent.status === "processing") {
    return [true, true, false].map((isSuccess) => () => account.settle(reference, isSuccess));
  }
  if (intent.status !== "succeeded") return [];
  const charge = account.chargeOf(reference);
  const left = charge.amount - charge.amount_refunded;
  const part = () => 1 + below(random, random() < 0.3 ? left : Math.min(left, 700));
  const open = [...account.disputes.values()].filter(
    (each) => each.charge === charge.id && /needs_response|under_review/.test(each.status),
  );
  const status = random() < 0.3 ? "pending" : "succeeded";
  const returned = [...account.refunds.values()].filter(
    (each) => each.charge === charge.id && COUNTED.test(each.status ?? ""),
  );
  return [
    ...(left > 0 ? [() => void account.refund(reference, part(), status)] : []),
    ...(charge.disputed ? [] : [() => void account.dispute(reference, { amount: part() })]),
    ...returned.slice(0, 1).map(({ id }) => {
      const end = random() < 0.5 ? ("failed" as const) : ("canceled" as const);
      return () => account.endRefund(id, end);
    }),
    ...open.flatMap(({ id }) => [
      () => account.decide(id, "won"),
      () => account.decide(id, "lost"),
      () => account.submitEvidence(id),
    ]),
  ];
}

/** What the operator has done. */
interface Decided {
  hasApproved: boolean;
  hasDebited: boolean;
}

/** The operator approves before anything is reported, or debits all that it can for what was reversed, once each. */
async function decide(world: World & { outcome(): Promise<Outcome> }, decided: Decided) {
  const { state, awaits, balance } = await world.outcome();
  const isNew = ["pending", "failed", "expired"].includes(state) && awaits === null;
  const isPaid = world.session.payment_status === "paid";
  if (isNew && !isPaid && !decided.hasApproved) {
    world.operator.approve();
    decided.hasApproved = true;
  } else if (["refunded", "disputed"].includes(state) && balance >= 1 && !decided.hasDebited) {
    world.operator.debit(Math.floor(balance));
    decided.hasDebited = true;
  }
}

/** One random step: something happens at Stripe, an event arrives, or the job reads. */
async function step(world: World, first: number, random: Random): Promise<void> {
  const { local } = world;
  const possible = acts(world, random);
  if (random() < 0.5 && possible.length > 0) {
    await possible[below(random, possible.length)]!();
    return;
  }
  if (random() < 0.3) local.fail(/^GET/, FAULTS[below(random, FAULTS.length)]!);
  const known = local.events.slice(first);
  if (random() < 0.25 || known.length === 0) await world.read();
  else {
    const event = known[below(random, known.length)]!;
    await Promise.all(Array.from({ length: 1 + below(random, 3) }, () => world.deliver(event)));
  }
  local.mend();
}

/** Checks the end of a payment against Stripe's objects. */
function check(
  { local: { account }, session, reference }: World,
  outcome: Outcome,
  { hasApproved }: Decided,
): void {
  const { state, awaits, balance, transfers, refunded, disputed, surplus, statuses } = outcome;
  const credit = transfers["payment"] ?? 0;
  const debit = transfers["payment_reversal"] ?? 0;
  expect(inCents(balance)).toBe(inCents(credit - debit));
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  if (hasApproved) {
    // What Stripe received later is other money, of which the rest is for the operator to give back or credit.
    const isPaid = session.payment_status === "paid";
    const left = isPaid ? RECEIVED - reversedOf(account, account.chargeOf(reference).id).all : 0;
    expect([state, credit, refunded, disputed]).toEqual(["paid", RECEIVED, 0, 0]);
    expect(inCents(surplus)).toBe(inCents(Math.max(0, left)));
    return;
  }
  if (session.payment_status !== "paid") {
    const intent = session.payment_intent === null ? null : account.intentOfSession(reference);
    const isOpen = session.status === "open" || intent?.status === "processing";
    const ended = session.status === "expired" ? "expired" : "failed";
    expect([state, awaits, credit]).toEqual([isOpen ? "pending" : ended, null, 0]);
    return;
  }
  const { given, lost, all } = reversedOf(account, account.chargeOf(reference).id);
  if (credit === 0) {
    // Nothing was left to credit, or the operator is to decide.
    expect(given === RECEIVED || lost > 0).toBe(true);
    expect([state, awaits]).toEqual(awaits === null ? ["failed", null] : ["pending", "disputed"]);
    return;
  }
  const before = Math.round((RECEIVED - credit) * 100) / 100;
  expect(before).toBeGreaterThanOrEqual(0);
  expect([refunded, disputed]).toEqual([given, lost]);
  expect(state).toBe(lost > 0 ? "disputed" : given > before ? "refunded" : "paid");
  expect(awaits).toBeNull();
  // What is missing in the balance is told, and no more than Stripe holds.
  if (debit === 0) expect(inCents(surplus)).toBe(inCents(Math.max(0, before - all)));
  else if (all === 0) expect(surplus).toBeGreaterThan(0);
  expect(inCents(surplus)).toBeLessThanOrEqual(inCents(Math.max(0, RECEIVED - all)));
}

const inCents = (dollars: number) => Math.round(dollars * 100);

/** What was given back of a charge, and what is lost in disputes. */
function reversedOf({ refunds, disputes }: World["local"]["account"], charge: string) {
  const sum = (rows: readonly { amount: number; charge: unknown }[]) =>
    rows.filter((row) => row.charge === charge).reduce((total, { amount }) => total + amount, 0);
  const given = sum([...refunds.values()].filter(({ status }) => COUNTED.test(status ?? "")));
  const lost = sum([...disputes.values()].filter(({ status }) => status !== "won"));
  return { given: given / 100, lost: lost / 100, all: (given + lost) / 100 };
}

test(`${SEEDS} payments end as Stripe says, credited once`, async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomFrom(seed);
    const first = market.local.events.length;
    const world = await market.world();
    const steps = 1 + below(random, STEPS_LIMIT);
    const decided: Decided = { hasApproved: false, hasDebited: false };
    for (let each = 0; each < steps; each += 1) {
      if (random() < 0.06) await decide(world, decided);
      await step(world, first, random);
    }
    await world.read();
    const outcome = await world.outcome();
    seen.add(outcome.awaits ?? outcome.state);
    if (outcome.surplus > 0) seen.add(decided.hasApproved ? "paid again" : "back");
    try {
      check(world, outcome, decided);
    } catch (error) {
      const happened = market.local.events.slice(first).map(({ type }) => type);
      throw new Error(`seed ${seed}: ${JSON.stringify(outcome)} after ${happened.join(", ")}`, {
        cause: error,
      });
    }
  }
  const all = ["paid", "refunded", "disputed", "failed", "expired", "pending", "paid again"];
  expect(all.filter((state) => !seen.has(state))).toEqual([]);
});
