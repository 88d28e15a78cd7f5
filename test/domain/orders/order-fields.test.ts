// Properties of orders of all types: what is kept, charged, refunded and sent, whatever is asked for.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  erasedExtra,
  LINE_LENGTH_LIMIT,
  LINES_FORM,
  LINES_LIMIT,
  extraProblem,
  extraFields,
  type GivenFields,
  orderedQuantity,
  orderTerms,
  upstreamFields,
} from "../../../src/domain/orders/order-fields.ts";
import { decideTransition } from "../../../src/domain/orders/order-transitions.ts";
import { chargeMicros } from "../../../src/domain/orders/charges.ts";
import { QUANTITY_LIMIT } from "../../../src/domain/orders/orders.ts";
import { attempt, Refusal } from "../../../src/domain/values/error-table.ts";
import {
  mayDripFeed,
  SERVICE_TYPES,
  standardUnit,
} from "../../../src/domain/catalogue/service-types.ts";

const line = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const value = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("1", "2", "7") },
  fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => lines.join("\n")),
  line,
  fc.integer({ min: -1, max: 2000 }),
  fc.constantFrom("", " \r\n", "1", "2", false as const),
);
const FIELDS = [
  "comments", "keywords", "usernames", "hashtags", "hashtag", "username", "media", "answer_number", "groups", "country",
  "device", "type_of_traffic", "google_keyword", "referring_url",
]; // prettier-ignore
const given = fc.record(Object.fromEntries(FIELDS.map((name) => [name, value]))) as fc.Arbitrary<GivenFields>; // prettier-ignore
const service = fc
  .record({
    type: fc.constantFrom(...SERVICE_TYPES),
    dripfeed: fc.boolean(),
    min: fc.integer({ min: 1, max: 5 }),
    max: fc.integer({ min: 20_000, max: QUANTITY_LIMIT }),
    priceMicros: fc.oneof(fc.nat(10_000_000), fc.nat({ max: 10 ** 15 })),
  })
  .map(({ type, dripfeed, ...rest }) => {
    const per = standardUnit(type);
    return { ...rest, type, per, dripfeed: dripfeed && mayDripFeed({ type, per }) };
  });
const asked = fc.record({
  quantity: fc.option(
    fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: QUANTITY_LIMIT })),
    { freq: 20 },
  ),
  given,
  feed: fc.option(
    fc.record({ runs: fc.integer({ min: 0, max: 12_000 }), interval: fc.nat(600_000) }),
    { freq: 1 },
  ),
});

describe("any order for any service", () => {
  test("is refused with a code of the API, or gets the right quantity, charge, refund and provider request", () => {
    let placed = 0;
    fc.assert(
      fc.property(service, asked, fc.double({ min: 0, max: 1, noNaN: true }), (sold, ask, part) => {
        const fields = { ...ask.given, ...ask.feed };
        const terms = attempt(() => orderTerms(sold, { quantity: ask.quantity, given: fields }));
        if (terms instanceof Refusal) {
          expect(["field_missing", "field_invalid", "quantity_below_minimum", "quantity_above_maximum"]).toContain(terms.code); // prettier-ignore
          return;
        }
        placed += 1;
        const { quantity } = terms;
        expect(extraProblem(terms)).toBeNull();
        const left = terms.extra && erasedExtra(terms.extra);
        expect(extraProblem({ quantity, extra: left })).toBeNull();
        expect(left && erasedExtra(left)).toBe(left);
        for (const text of Object.values(extraFields({ extra: left }))) {
          if (typeof text === "string") expect(text).toMatch(/^(erased(\nerased)*)?$/);
        }
        const runs = BigInt(ask.feed?.runs ?? 1);
        const single = BigInt(orderedQuantity(terms));
        expect(BigInt(quantity)).toBe(sold.dripfeed ? single * runs : single);
        const isPackage = sold.type.includes("package");
        if (!isPackage) expect(single >= BigInt(sold.min) && single <= BigInt(sold.max)).toBe(true);
        const product = BigInt(sold.priceMicros) * BigInt(quantity);
        const exact = isPackage ? BigInt(sold.priceMicros) : (product + 999n) / 1000n;
        const charge = chargeMicros(sold.priceMicros, sold.per, quantity);
        if (exact <= BigInt(Number.MAX_SAFE_INTEGER)) expect(BigInt(charge)).toBe(exact);
        const sent = upstreamFields(terms);
        const shown = Object.entries(extraFields(terms)).filter(([, each]) => each !== "");
        const { quantity: named, ...others } = sent;
        expect(Object.entries(others)).toEqual(shown.map(([name, each]) => [name, String(each)]));
        expect(named === undefined || named === String(single)).toBe(true);
        if (charge > Number.MAX_SAFE_INTEGER) return;
        const remains = Math.floor(quantity * part);
        const order = { status: "PROCESSING" as const, quantity, remains: quantity };
        const money = { chargeMicros: charge, refundedMicros: 0 };
        const { refundMicros } = decideTransition({ ...order, ...money }, "PARTIAL", remains);
        expect(BigInt(refundMicros)).toBe((BigInt(charge) * BigInt(remains)) / BigInt(quantity));
      }),
      { numRuns: 3000 },
    );
    expect(placed).toBeGreaterThan(200);
  });

  test("storing a stored response again changes nothing", () => {
    fc.assert(
      fc.property(service, asked, (sold, ask) => {
        const first = attempt(() =>
          orderTerms(sold, { ...ask, given: { ...ask.given, ...ask.feed } }),
        );
        if (first instanceof Refusal || first.extra === null) return;
        const again = { quantity: ask.quantity, given: extraFields(first) as GivenFields };
        expect(orderTerms(sold, again)).toEqual(first);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the lines of a field", () => {
  const sold = {
    type: "custom_comments",
    per: "1000",
    dripfeed: false,
    min: 1,
    max: 20_000,
  } as const;
  const read = (comments: string | number | false) =>
    attempt(() => orderTerms(sold, { quantity: null, given: { comments } }));

  test("are trimmed, without empty ones, whatever ends them", () => {
    const terms = read("\r\n  first \r\n\n\n\tsecond\rthird  \n");
    expect(terms).toMatchObject({ quantity: 3 });
    expect(read("a")).toMatchObject({ quantity: 1 });
    expect(read("x".repeat(LINE_LENGTH_LIMIT))).toMatchObject({ quantity: 1 });
    expect(read("x\n".repeat(LINES_LIMIT))).toMatchObject({ quantity: LINES_LIMIT });
  });

  test.each([
    "", " \n\r\n", "a\u0007b", "a\u0085b", "a\ud800", "x".repeat(LINE_LENGTH_LIMIT + 1), "x\n".repeat(LINES_LIMIT + 1), 5, false as const,
  ])("%p is refused", (comments) => {
    const details = { field: "comments", must: LINES_FORM };
    expect(read(comments)).toMatchObject({ code: "field_invalid", details });
  }); // prettier-ignore
});

test.each([
  [2, '{"type":"custom_comments","comments":"a\\nb"}', null],
  [3, '{"type":"custom_comments","comments":"a\\nb"}', "its comments are 2 lines"],
  [6, '{"type":"default","runs":3,"interval":5}', null],
  [7, '{"type":"default","runs":3,"interval":5}', "not a multiple of its 3 runs"],
  [7, '{"type":"package"}', null],
  [7, null, null],
])("verify finds what a quantity of %d with %s has wrong: %s", (quantity, extra, problem) => {
  const found = extraProblem({ quantity, extra });
  if (problem === null) expect(found).toBeNull();
  else expect(found).toContain(problem);
});
