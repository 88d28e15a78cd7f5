// Judging unknown orders by their provider's answers: docs/specification/delivery.md#delivery-search.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  areNumbersOrdered,
  LATE_ARRIVAL_MS,
  type NumberedOrder,
  numbersNear,
  rangeOf,
  type SoughtOrder,
} from "../../../src/domain/delivery/number-ranges.ts";
import type { Report } from "../../../src/domain/delivery/polling.ts";
import {
  type DeliveryScene,
  judgeUnknown,
  type TakenNumber,
  type Verdict,
} from "../../../src/domain/delivery/unknown-matches.ts";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";

const USD = { rateToUsd: "1", currency: null };
const balances = { before: null, after: null };
const SENT_AT = 1_000_000;
const LATER = SENT_AT + 1000 + LATE_ARRIVAL_MS;

function sought(orderId: number, changes: Partial<SoughtOrder> = {}): SoughtOrder {
  return {
    orderId,
    attemptId: changes.sentFrom ?? SENT_AT,
    providerService: "7",
    quantity: 100,
    sentFrom: SENT_AT,
    sentUntil: SENT_AT + 1000,
    expected: parseDecimal("0.27819"),
    hasPlainCount: true,
    isRestored: false,
    ...changes,
  };
}

function numbered(orderId: number, number: number, startedAt: number): NumberedOrder {
  const order = { orderId, number: BigInt(number), providerService: "8", quantity: 5 };
  // Attempts are numbered as they begin.
  return { ...order, attemptId: startedAt, startedAt, finishedAt: startedAt + 10 };
}

const DENIED: Report = {
  word: null,
  startCount: null,
  remains: null,
  text: '{"error":"Incorrect order ID"}',
  isUnrecognized: true,
  isDenied: true,
};
const { isDenied: _, ...OMITTED } = DENIED;
const UNCLEAR: Report = { word: null, startCount: null, remains: null, text: '"try later"' };

function answer(charge: string | null, changes: Partial<Report> = {}): Report {
  const cost = charge === null ? {} : { cost: { charge, currency: "USD" } };
  return { word: "Pending", startCount: 0, remains: 100, text: "{}", ...cost, ...changes };
}

/** Lists every combination of one value of each list. */
function combinations<T extends Record<string, readonly unknown[]>>(lists: T) {
  return Object.entries(lists).reduce<Record<string, unknown>[]>(
    (found, [name, values]) =>
      found.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  ) as { [Name in keyof T]: T[Name][number] }[];
}

const CASES = combinations({
  lower: ["answers", "is denied", "was not asked", "absent"],
  upper: ["answers", "is omitted", "too early", "absent"],
  found: [
    "nothing",
    "one that fits",
    "one of another charge",
    "one without a charge",
    "one in another currency",
    "one of another quantity",
    "two that fit",
    "one that fits another unknown order too",
    "one that fits a rival too",
    "one that only another unknown order fits",
    "one of another order of ours",
    "one that another order was settled with",
    "one that another order was settled with, of another charge",
  ],
  asked: ["all", "all but one", "one without a clear answer", "one omitted from the reply"],
  numbers: ["grow", "do not grow"],
  isRestored: [false, true],
} as const);

type Case = (typeof CASES)[number];

/** Order 5 was sent between order 1, which has number 100, and order 9, which has 110. */
function sceneOf(each: Case): { scene: DeliveryScene; answers: Map<string, Report> } {
  const before = [
    ...(each.lower === "absent" ? [] : [numbered(1, 100, SENT_AT - 1000)]),
    ...(each.numbers === "grow" ? [] : [numbered(2, 99, LATER + 9000)]),
  ];
  const upperAt = each.upper === "too early" ? LATER - 1 : LATER;
  const after = each.upper === "absent" ? [] : [numbered(9, 110, upperAt)];
  const answers = new Map<string, Report>();
  for (let number = 101; number < 110; number++) answers.set(String(number), DENIED);
  if (each.asked === "all but one") answers.delete("108");
  if (each.asked === "one without a clear answer") answers.set("108", UNCLEAR);
  if (each.asked === "one omitted from the reply") answers.set("108", OMITTED);
  if (each.lower === "answers") answers.set("100", answer("0.1"));
  if (each.lower === "is denied") answers.set("100", DENIED);
  if (each.upper === "answers" || each.upper === "too early") answers.set("110", answer("0.1"));
  if (each.upper === "is omitted") answers.set("110", OMITTED);
  const unknown = [sought(5, { isRestored: each.isRestored })];
  const rivals = [];
  const taken = new Map<string, TakenNumber>();
  if (each.found !== "nothing") answers.set("104", answer("0.27819"));
  switch (each.found) {
    case "one of another charge":
      answers.set("104", answer("0.27821"));
      break;
    case "one without a charge":
      answers.set("104", answer(null));
      break;
    case "one in another currency":
      answers.set("104", answer("0.27819", { cost: { charge: "0.27819", currency: "INR" } }));
      break;
    case "one of another quantity":
      answers.set("104", answer("0.27819", { remains: 99 }));
      break;
    case "two that fit":
      answers.set("105", answer("0.27819"));
      break;
    case "one that fits another unknown order too":
      unknown.push(sought(6));
      break;
    case "one that fits a rival too":
      rivals.push({ ...sought(6), state: "was settled as not placed" });
      break;
    case "one that only another unknown order fits":
      answers.set("104", answer("0.5"));
      unknown.push(sought(6, { expected: parseDecimal("0.5") }));
      break;
    case "one of another order of ours":
      taken.set("104", { orderId: 77, isSettled: false });
      break;
    case "one that another order was settled with":
      taken.set("104", { orderId: 77, isSettled: true });
      break;
    case "one that another order was settled with, of another charge":
      answers.set("104", answer("0.5"));
      taken.set("104", { orderId: 77, isSettled: true });
      break;
  }
  const scene = {
    unknown,
    rivals,
    numbered: [...before, ...after],
    taken,
    currency: USD,
    balances,
  };
  return { scene, answers };
}

/** What a careful operator concludes. */
function conclusionOf(each: Case): Verdict {
  const { lower, upper, found, asked, numbers, isRestored } = each;
  const hasLower = lower !== "absent";
  // Order 2, whose number does not grow, comes after order 5 and is then its only upper end.
  const hasUpper = upper === "answers" || upper === "is omitted" || numbers === "do not grow";
  if (numbers === "do not grow" && (hasLower || upper !== "absent")) return "unclear";
  if (isRestored || (!hasLower && !hasUpper)) return "unclear";
  if (found === "one that fits" && !(numbers === "do not grow" && !hasLower)) return "sent";
  const isClosed = lower === "answers" && upper === "answers" && asked === "all";
  const isExplained =
    found === "nothing" ||
    found === "one of another order of ours" ||
    found === "one that another order was settled with, of another charge" ||
    found === "one that only another unknown order fits";
  return isClosed && isExplained ? "not_sent" : "unclear";
}

describe("a finding", () => {
  test(`is likely only where nothing speaks against it, in ${CASES.length} combinations of ends, answers and other orders`, () => {
    const counts = { sent: 0, not_sent: 0, unclear: 0 };
    for (const each of CASES) {
      const { scene, answers } = sceneOf(each);
      const [finding] = judgeUnknown(scene, answers);
      const expected = conclusionOf(each);
      expect([each, finding!.verdict]).toEqual([each, expected]);
      expect(finding!.providerOrder).toBe(expected === "sent" ? "104" : null);
      expect(finding!.evidence.length).toBeGreaterThan(0);
      counts[expected]++;
    }
    expect(Object.values(counts).every((count) => count > 0)).toBeTrue();
  });

  test("gives the same evidence and verdict in whatever order the orders and answers come", () => {
    for (const each of CASES.filter((_, index) => index % 7 === 0)) {
      const { scene, answers } = sceneOf(each);
      const reversed = {
        ...scene,
        unknown: scene.unknown.toReversed(),
        numbered: scene.numbered.toReversed(),
      };
      const verdicts = (findings: ReturnType<typeof judgeUnknown>) =>
        findings
          .map(({ orderId, verdict, providerOrder }) => [orderId, verdict, providerOrder])
          .toSorted(([a], [b]) => Number(a) - Number(b));
      const again = judgeUnknown(reversed, new Map([...answers].toReversed()));
      expect(verdicts(again)).toEqual(verdicts(judgeUnknown(scene, answers)));
    }
  });
});

describe("a charge fits", () => {
  const judge = (order: SoughtOrder, report: Report, others: Map<string, Report> = new Map()) => {
    const ends = [numbered(1, 100, SENT_AT - 1000), numbered(9, 110, LATER)];
    const scene = {
      unknown: [order],
      rivals: [],
      numbered: ends,
      taken: new Map(),
      currency: USD,
      balances,
    };
    const [finding] = judgeUnknown(scene, new Map([["104", report], ...others]));
    return finding!.verdict === "sent" ? "fits" : (finding!.candidates[0]?.fit ?? "differs");
  };

  test("exactly when it is the expected one, rounded up or down to the provider's decimals", () => {
    const amount = fc.record({ digits: fc.bigInt(1n, 10n ** 12n), scale: fc.nat(12) });
    fc.assert(
      fc.property(amount, fc.integer({ min: 2, max: 9 }), (expected, decimals) => {
        // Fewer units of the last decimal say little: see below.
        fc.pre(expected.digits * 10n ** BigInt(decimals) >= 30n * 10n ** BigInt(expected.scale));
        const unit = (digits: bigint) => {
          const text = String(digits).padStart(decimals + 1, "0");
          return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
        };
        const shifted = expected.digits * 10n ** BigInt(decimals);
        const down = shifted / 10n ** BigInt(expected.scale);
        const up = down * 10n ** BigInt(expected.scale) === shifted ? down : down + 1n;
        // Another order's charge shows how many decimals the provider writes.
        const precise = answer(unit(10n ** BigInt(decimals) + 1n));
        const fit = (digits: bigint) =>
          judge(sought(5, { expected }), answer(unit(digits)), new Map([["100", precise]]));
        expect([fit(down), fit(up), fit(up + 1n)]).toEqual(["fits", "fits", "differs"]);
        expect(fit(down - 1n)).toBe("differs");
      }),
    );
  });

  test("in proportion to the charge of our order for the same service, where no rate is known", () => {
    const alike = { ...numbered(1, 100, SENT_AT - 1000), providerService: "7", quantity: 400 };
    const fit = (charge: string, of: Partial<Report> = {}, expected: string | null = null) => {
      const order = sought(5, { expected: expected === null ? null : parseDecimal(expected) });
      const scene = {
        unknown: [order],
        rivals: [],
        numbered: [alike, numbered(9, 110, LATER)],
        taken: new Map(),
        currency: USD,
        balances,
      };
      const answers = new Map([
        ["100", answer("1.11276", { remains: 400, ...of })],
        ["104", answer(charge)],
      ]);
      const [finding] = judgeUnknown(scene, answers);
      return finding!.verdict === "sent" ? "fits" : (finding!.candidates[0]?.fit ?? "differs");
    };
    expect(fit("0.27819")).toBe("fits");
    expect(fit("0.27825")).toBe("differs");
    expect(fit("0.27819", {}, "0.2")).toBe("fits");
    expect(fit("0.2", {}, "0.2")).toBe("fits");
    expect(fit("0.27819", { word: "Partial" })).toBe("possible");
    expect(fit("0.27819", { word: "Canceled" })).toBe("possible");
  });

  test.each([
    ["the part that a partial order delivered", "0.20864", "Partial", 25, "fits"],
    ["the whole charge of a partial order", "0.27819", "Partial", 25, "fits"],
    ["a part that was not delivered", "0.06955", "Partial", 25, "differs"],
    ["nothing, of a cancelled order", "0", "Canceled", 100, "possible"],
    ["nothing, of a failed order", "0", "Fail", 100, "possible"],
    ["nothing, of a pending order", "0", "Pending", 100, "differs"],
    ["the charge, with a word that is not known", "0.27819", "Moderation", 100, "fits"],
    ["the charge, before the provider counts", "0.27819", "Pending", 0, "fits"],
    ["the charge of another quantity", "0.27819", "Pending", 400, "differs"],
    ["the charge, in progress", "0.27819", "In progress", 40, "fits"],
    ["the charge, completed", "0.27819", "Completed", 0, "fits"],
  ] as const)("%s", (_title, charge, word, remains, expected) => {
    expect(judge(sought(5), answer(charge, { word, remains }))).toBe(expected);
  });

  test.each([
    ["0", "0", "possible"],
    ["0.001", "0", "possible"],
    ["0.001", "0.01", "possible"],
    ["0.19", "0.19", "possible"],
    ["0.2", "0.2", "fits"],
    ["0.001", "0.02", "differs"],
  ] as const)("only possibly, if many orders round to it: %s as %s", (expected, charge, fit) => {
    expect(judge(sought(5, { expected: parseDecimal(expected) }), answer(charge))).toBe(fit);
  });

  test("whatever remains, of an order whose provider counts in units of its own", () => {
    const order = sought(5, { hasPlainCount: false });
    expect(judge(order, answer("0.27819", { remains: 3 }))).toBe("fits");
  });
});

describe("numbers near an order", () => {
  test("lie inside its range, are no order of ours, and are as many as wanted or as there are", () => {
    const world = fc.record({
      lower: fc.option(fc.integer({ min: 1, max: 500 })),
      size: fc.integer({ min: 0, max: 300 }),
      hasUpper: fc.boolean(),
      nearby: fc.integer({ min: 1, max: 100 }),
      ours: fc.array(fc.integer({ min: 1, max: 800 })),
      sentAt: fc.integer({ min: SENT_AT - 1000, max: LATER }),
    });
    fc.assert(
      fc.property(world, ({ lower, size, hasUpper, nearby, ours, sentAt }) => {
        const from = lower ?? 0;
        const ends = [
          ...(lower === null ? [] : [numbered(1, from, SENT_AT - 2000)]),
          ...(hasUpper ? [numbered(9, from + size + 1, LATER + LATE_ARRIVAL_MS)] : []),
        ];
        const order = sought(5, { sentFrom: sentAt, sentUntil: sentAt });
        const range = rangeOf(order, ends);
        const own = new Set(ours.map(BigInt));
        const found = numbersNear(order, range, own, nearby).map(Number);
        expect(new Set(found).size).toBe(found.length);
        for (const each of found) {
          expect(each > from && (!hasUpper || each <= from + size)).toBeTrue();
          expect(own.has(BigInt(each))).toBeFalse();
        }
        const isAny = lower !== null || hasUpper;
        const inside = Array.from({ length: hasUpper ? size : 2000 }, (_, step) => from + 1 + step);
        const free = inside.filter((each) => !own.has(BigInt(each))).length;
        expect(found.length).toBe(isAny ? Math.min(nearby, free) : 0);
      }),
    );
  });

  test("are those closest to where its time falls between the ends", () => {
    const ends = [numbered(1, 1000, 0), numbered(9, 2000, 1_000_000_000)];
    const near = (sentFrom: number) =>
      numbersNear(
        sought(5, { sentFrom, sentUntil: sentFrom }),
        rangeOf(sought(5, { sentFrom, sentUntil: sentFrom }), ends),
        new Set(),
        3,
      );
    expect(near(500_000_000)).toEqual([1500n, 1501n, 1499n]);
    expect(near(11)).toEqual([1001n, 1002n, 1003n]);
  });
});

test("a clock that was set back only widens a range", () => {
  const before = numbered(1, 100, SENT_AT - 5000);
  const after = numbered(9, 110, LATER);
  const order = sought(5);
  expect(rangeOf(order, [before, after])).toEqual({ lower: before, upper: after });
  // An order sent later, at an earlier time by the clock, and one sent earlier at a later time.
  const later = { ...numbered(7, 105, SENT_AT - 2000), attemptId: SENT_AT + 1 };
  const earlier = { ...numbered(2, 104, LATER + 1000), attemptId: SENT_AT - 1 };
  expect(rangeOf(order, [before, later, earlier, after])).toEqual({ lower: before, upper: after });
});

test("numbers grow with time unless an order that was answered before another was sent has the higher number", () => {
  const order = fc.record({
    number: fc.integer({ min: 1, max: 12 }),
    startedAt: fc.nat(20),
    took: fc.nat(6),
  });
  fc.assert(
    fc.property(fc.array(order, { maxLength: 6 }), (orders) => {
      const all = orders.map(({ number, startedAt, took }, index) => ({
        ...numbered(index, number, startedAt),
        finishedAt: startedAt + took,
      }));
      const isBroken = all.some((a) =>
        all.some((b) => a.finishedAt < b.startedAt && a.number >= b.number),
      );
      expect(areNumbersOrdered(all)).toBe(!isBroken);
    }),
  );
});
