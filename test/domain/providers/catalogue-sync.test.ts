// Exact prices from rates, and what a catalogue sync does to each of our services.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countsOf } from "../../../src/domain/providers/sync-counts.ts";
import { planSync } from "../../../src/domain/providers/catalogue-sync.ts";
import { pricingOf } from "../../../src/domain/providers/pricing.ts";
import type { KnownService } from "../../../src/domain/providers/sync-plan.ts";
import { parseDecimal } from "../../../src/domain/providers/rate-decimals.ts";
import {
  CatalogueError,
  priceWithMarkup,
  type UpstreamEntry,
  type UpstreamService,
} from "../../../src/domain/providers/upstream-services.ts";
import { attempt, Refusal } from "../../../src/domain/values/error-table.ts";
import {
  refuseUnfitType,
  SERVICE_TYPES,
  standardUnit,
  typeTerms,
} from "../../../src/domain/catalogue/service-types.ts";
import type { PriceUnit } from "../../../src/domain/catalogue/services.ts";

const NO_RULES = { categoryMarkups: "{}", roundPrices: "none" } as const;
const NONE = pricingOf("0", NO_RULES);
const UPSTREAM: UpstreamService = {
  service: "1",
  name: "Likes",
  category: "Instagram",
  type: "Default",
  dripfeed: false,
  rate: "0.90",
  min: 50,
  max: 10_000,
  cancel: false,
  refill: false,
};
const KNOWN: KnownService = {
  id: "ours",
  providerService: "1",
  name: "Likes",
  category: "Instagram",
  priceMicros: 900_000,
  per: "1000",
  min: 50,
  max: 10_000,
  active: true,
  nameByHand: false,
  categoryByHand: false,
  priceByHand: false,
  minByHand: false,
  maxByHand: false,
  delisted: false,
  suspended: false,
  routeDelisted: false,
  type: "default",
  dripfeed: false,
  typeByHand: false,
  dripfeedByHand: false,
  cancel: false,
  refill: false,
  cancelByHand: false,
  refillByHand: false,
};
const NOTHING = {
  added: 0,
  updated: 0,
  unchanged: 0,
  deactivated: 0,
  reactivated: 0,
  delisted: 0,
  skipped: 0,
  unreadable: 0,
  belowCost: 0,
};

test.each([
  ["0.90", "0", 900_000],
  ["0.90", "30", 1_170_000],
  ["1", "33.333333", 1_333_334],
  ["0.0000001", "0", 1],
  ["1e-7", "0", 1],
  ["1.5E+2", "10", 165_000_000],
  ["0.123456789", "12.5", 138_889],
  ["0", "30", 0],
])("rate %s with %s %% is %d micros", (rate, markup, micros) => {
  expect(priceWithMarkup(parseDecimal(rate)!, parseDecimal(markup)!)).toBe(micros);
});

test("a price is never below the rate with its markup, and less than a micro above it", () => {
  const digits = fc.bigInt(0n, 10n ** 15n);
  fc.assert(
    fc.property(digits, fc.nat(12), digits, fc.nat(8), (rate, rateScale, markup, markupScale) => {
      const micros = priceWithMarkup(
        { digits: rate, scale: rateScale },
        { digits: markup % 1_000_000n, scale: markupScale },
      );
      fc.pre(micros !== null);
      const unit = 10n ** BigInt(rateScale + markupScale);
      const exact = rate * (100n * 10n ** BigInt(markupScale) + (markup % 1_000_000n)) * 10_000n;
      const priced = BigInt(micros) * unit;
      return priced >= exact && priced - exact < unit;
    }),
  );
});

test.each(["", "-1", "1.2.3", "abc", "1e999", "0x1", "Infinity", "1,5", " 1"])(
  "%p is not a decimal",
  (text) => {
    expect(parseDecimal(text)).toBeNull();
  },
);

describe("a sync", () => {
  const counts = (upstream: UpstreamEntry[], known: KnownService[], markup = "0") =>
    countsOf(planSync(upstream, known, pricingOf(markup, NO_RULES)));

  test("adds what is new, at the rate with the markup", () => {
    const plan = planSync([UPSTREAM], [], pricingOf("30", NO_RULES));
    expect(plan.added).toEqual([
      {
        name: "Likes",
        category: "Instagram",
        priceMicros: 1_170_000,
        per: "1000",
        min: 50,
        max: 10_000,
        type: "default",
        dripfeed: false,
        cancel: false,
        refill: false,
        providerService: "1",
      },
    ]);
    expect(countsOf(plan)).toEqual({ ...NOTHING, added: 1 });
  });

  test("updates only services that have changed", () => {
    expect(counts([UPSTREAM], [KNOWN])).toEqual({ ...NOTHING, unchanged: 1 });
    expect(counts([UPSTREAM], [KNOWN], "10")).toEqual({ ...NOTHING, updated: 1 });
    expect(counts([{ ...UPSTREAM, max: 5000 }], [KNOWN])).toEqual({ ...NOTHING, updated: 1 });
    const moved = { ...UPSTREAM, category: "TikTok" };
    expect(counts([moved], [KNOWN])).toEqual({ ...NOTHING, updated: 1 });
  });

  test("copies the flags of requests, unless they were set by hand", () => {
    const listed = { ...UPSTREAM, cancel: true, refill: true };
    const flagsAfter = (known: KnownService) => {
      const [updated] = planSync([listed], [known], NONE).updated;
      return updated && [updated.after.cancel, updated.after.refill];
    };
    expect(flagsAfter(KNOWN)).toEqual([true, true]);
    expect(flagsAfter({ ...KNOWN, cancelByHand: true })).toEqual([false, true]);
    expect(flagsAfter({ ...KNOWN, cancelByHand: true, refillByHand: true })).toBeUndefined();
    expect(planSync([listed], [], NONE).added).toMatchObject([{ cancel: true, refill: true }]);
  });

  test("keeps each field that was set by hand, and warns of a price below the rate", () => {
    const byHand = {
      ...KNOWN,
      nameByHand: true,
      categoryByHand: true,
      priceByHand: true,
      priceMicros: 899_999,
      name: "Mine",
      category: "My own",
    };
    const plan = planSync([{ ...UPSTREAM, category: "TikTok", max: 5000 }], [byHand], NONE);
    expect(plan.updated[0]!.after).toEqual({
      name: "Mine",
      category: "My own",
      priceMicros: 899_999,
      per: "1000",
      min: 50,
      max: 5000,
      type: "default",
      dripfeed: false,
      cancel: false,
      refill: false,
    });
    expect(countsOf(plan)).toEqual({ ...NOTHING, updated: 1, belowCost: 1 });
  });

  test("compares prices by the unit they are for", () => {
    const each = { ...KNOWN, priceByHand: true, per: "1" as const };
    expect(counts([UPSTREAM], [{ ...each, priceMicros: 900 }]).belowCost).toBe(0);
    expect(counts([UPSTREAM], [{ ...each, priceMicros: 899 }]).belowCost).toBe(1);
    const whole = { ...KNOWN, priceByHand: true, per: "order" as const };
    expect(counts([UPSTREAM], [{ ...whole, priceMicros: 9_000_000 }]).belowCost).toBe(0);
    expect(counts([UPSTREAM], [{ ...whole, priceMicros: 8_999_999 }]).belowCost).toBe(1);
  });

  test("deactivates a delisted service once, and reactivates it when listed again unless the operator deactivated it", () => {
    const other = { ...UPSTREAM, service: "2" };
    expect(counts([other], [KNOWN])).toEqual({ ...NOTHING, added: 1, deactivated: 1 });
    const gone = { ...KNOWN, active: false, delisted: true };
    expect(counts([other], [gone])).toEqual({ ...NOTHING, added: 1 });
    expect(counts([UPSTREAM], [gone], "10")).toEqual({ ...NOTHING, reactivated: 1 });
    expect(counts([UPSTREAM], [{ ...gone, delisted: false }])).toEqual({
      ...NOTHING,
      unchanged: 1,
    });
  });

  test("skips unknown types by name, and deactivates a service whose type became one", () => {
    const posts = { ...UPSTREAM, name: "Posts", type: "Subscriptions", service: "3" };
    const plan = planSync([UPSTREAM, posts], [], NONE);
    expect(countsOf(plan)).toEqual({ ...NOTHING, added: 1, skipped: 1 });
    expect(plan.skipped).toEqual([{ service: "3", name: "Posts", reason: "type Subscriptions" }]);
    const another = { ...UPSTREAM, service: "9" };
    expect(counts([another, { ...UPSTREAM, type: "Subscriptions" }], [KNOWN])).toEqual({
      ...NOTHING,
      added: 1,
      deactivated: 1,
      skipped: 1,
    });
  });

  test("refuses a list without a service of a known type", () => {
    const posts = [{ ...UPSTREAM, type: "Subscriptions" }];
    expect(() => planSync(posts, [KNOWN], NONE)).toThrow("no service of a known type");
    expect(counts(posts, [])).toEqual({ ...NOTHING, skipped: 1 });
  });

  test.each(SERVICE_TYPES)("takes type %s, however its words are written", (type) => {
    const words = typeTerms(type).words;
    for (const written of [words, words.toUpperCase(), type, ` ${words.replaceAll(" ", "-")} `]) {
      const { added } = planSync([{ ...UPSTREAM, type: written, dripfeed: true }], [], NONE);
      const per = type.includes("package") ? "order" : "1000";
      expect(added).toMatchObject([{ type, per, dripfeed: type === "default" }]);
    }
  });

  test("copies a package's rate as the price of an order", () => {
    const plan = planSync([{ ...UPSTREAM, type: "Package", rate: "12.5" }], [KNOWN], NONE);
    const after = { type: "package", per: "order", priceMicros: 12_500_000 };
    expect(plan.updated[0]!.after).toMatchObject(after);
    const ours = { ...KNOWN, ...plan.updated[0]!.after };
    expect(counts([{ ...UPSTREAM, type: "Package", rate: "12.5" }], [ours])).toEqual({
      ...NOTHING,
      unchanged: 1,
    });
    const byHand = { ...ours, priceByHand: true, priceMicros: 12_499_999 };
    expect(counts([{ ...UPSTREAM, type: "Package", rate: "12.5" }], [byHand])).toEqual({
      ...NOTHING,
      unchanged: 1,
      belowCost: 1,
    });
  });

  test("copies no price of another unit, and no type that conflicts with a price set by hand", () => {
    const pack = { ...UPSTREAM, type: "Package", rate: "12.5" };
    for (const byHand of [{ typeByHand: true }, { priceByHand: true }]) {
      expect(counts([pack], [{ ...KNOWN, ...byHand }])).toEqual({ ...NOTHING, unchanged: 1 });
    }
  });

  test("plans only valid services, whatever is set by hand, and planning again changes nothing", () => {
    const unit = fc.constantFrom<PriceUnit>("1000", "1", "order");
    const typed = fc
      .record({ type: fc.constantFrom(...SERVICE_TYPES), per: unit, dripfeed: fc.boolean() })
      .filter((service) => !(attempt(() => refuseUnfitType(service)) instanceof Refusal));
    const byHand = fc.record({
      typeByHand: fc.boolean(),
      dripfeedByHand: fc.boolean(),
      priceByHand: fc.boolean(),
    });
    const listed = fc.record({ type: fc.constantFrom(...SERVICE_TYPES), dripfeed: fc.boolean() });
    fc.assert(
      fc.property(typed, byHand, listed, (terms, hands, { type, dripfeed }) => {
        // What a sync made has the unit of its type.
        fc.pre(hands.priceByHand || terms.per === standardUnit(terms.type));
        const known = { ...KNOWN, ...terms, ...hands };
        const upstream = [{ ...UPSTREAM, type, dripfeed }];
        const [update] = planSync(upstream, [known], NONE).updated;
        const after = { ...known, ...update?.after };
        refuseUnfitType(after);
        if (hands.typeByHand) expect(after.type).toBe(known.type);
        if (hands.priceByHand) expect([after.priceMicros, after.per]).toEqual([known.priceMicros, known.per]); // prettier-ignore
        expect(counts(upstream, [after])).toMatchObject({ unchanged: 1, updated: 0 });
      }),
    );
  });

  test("takes 0 for no minimum and more than a billion for no maximum", () => {
    const [added] = planSync([{ ...UPSTREAM, min: 0, max: 2_147_483_647 }], [], NONE).added;
    expect(added).toMatchObject({ min: 1, max: 1_000_000_000 });
  });

  test("keeps both bounds when one set by hand conflicts with the provider's other", () => {
    const byHand = { ...KNOWN, min: 5000, minByHand: true };
    expect(counts([{ ...UPSTREAM, max: 100 }], [byHand])).toEqual({ ...NOTHING, unchanged: 1 });
  });

  const GOOD = { ...UPSTREAM, service: "90" };
  const unread = (service: string | null): UpstreamEntry => ({ service, unreadable: "nonsense" });

  test.each<[what: string, entries: UpstreamEntry[], reason: string]>([
    ["crossed in its bounds", [{ ...UPSTREAM, min: 100, max: 50 }], "min 100 is above its max 50"],
    ["at a rate beyond every price", [{ ...UPSTREAM, rate: "99999999999" }], "is no price"],
    ["at an invalid rate", [{ ...UPSTREAM, rate: "free" }], "its rate free is no price"],
    ["unreadable", [unread("1")], "nonsense"],
    ["listed twice", [UPSTREAM, { ...UPSTREAM, rate: "5" }], "listed more than once"],
    ["listed thrice", [UPSTREAM, UPSTREAM, UPSTREAM], "listed more than once"],
    ["listed as another type too", [UPSTREAM, { ...UPSTREAM, type: "Pack" }], "more than once"],
  ])("leaves out and names an entry that is %s; its service stays as it was", (_, entries, why) => {
    const good = [GOOD, { ...GOOD, service: "91" }, { ...GOOD, service: "92" }];
    const plan = planSync([...good, ...entries], [{ ...KNOWN, name: "Old" }], NONE);
    const skipped = entries.filter((entry) => "type" in entry && entry.type === "Pack").length;
    const unreadable = entries.length - skipped;
    expect(countsOf(plan)).toEqual({ ...NOTHING, added: 3, skipped, unreadable });
    expect(plan.unreadable[0]).toMatchObject({ entry: 4, service: "1" });
    for (const { reason } of plan.unreadable) expect(reason).toContain(why);
    // Nor is it made where it is not known yet.
    expect(counts([...good, ...entries], [])).toMatchObject({ added: 3, unreadable });
  });

  test("names both entries when one of two with the same id is unreadable", () => {
    const plan = planSync([GOOD, { ...GOOD, service: "91" }, unread("1"), UPSTREAM], [KNOWN], NONE);
    expect(countsOf(plan)).toEqual({ ...NOTHING, added: 2, unreadable: 2 });
  });

  test("delists no service while an entry has no readable id", () => {
    const list = [GOOD, { ...GOOD, service: "91" }];
    expect(counts([...list, unread(null)], [KNOWN])).toEqual({
      ...NOTHING,
      added: 2,
      unreadable: 1,
    });
    expect(counts([...list, unread("x-***")], [KNOWN])).toEqual({
      ...NOTHING,
      added: 2,
      deactivated: 1,
      unreadable: 1,
    });
  });

  test("takes a list of which half cannot be read, and refuses one of which more than half cannot", () => {
    const half = [GOOD, unread("1")];
    expect(counts(half, [KNOWN])).toEqual({ ...NOTHING, added: 1, unreadable: 1 });
    expect(() => planSync([...half, unread("2")], [KNOWN], NONE)).toThrow(
      "2 of 3 entries cannot be read; the first is entry 2: nonsense",
    );
    expect(() => planSync([UPSTREAM, UPSTREAM], [], NONE)).toThrow(CatalogueError);
  });

  test("refuses an empty list", () => {
    expect(() => planSync([], [KNOWN], NONE)).toThrow(CatalogueError);
  });
});
