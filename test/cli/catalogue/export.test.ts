// `admin service export`: what it writes can be imported again unchanged.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { AMOUNT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";
import { PRICE_UNITS } from "../../../src/domain/catalogue/services.ts";
import { isLabel } from "../../../src/domain/values/text.ts";
import { readCatalogue } from "../../../src/imports/catalogue.ts";
import { catalogueCsv, catalogueRows } from "../../../src/imports/export.ts";
import { planImport } from "../../../src/operations/catalogue/service-import.ts";
import { REFILL_DAYS_LIMIT } from "../../../src/domain/orders/order-requests.ts";
import {
  isPackage,
  SERVICE_TYPES,
  standardUnit,
} from "../../../src/domain/catalogue/service-types.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";

const label = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom("'", "=", "+", "-", "@", '"', ",", ";", " ", "a"),
      minLength: 1,
      maxLength: 12,
    }),
  )
  .filter((text) => isLabel(text, 200));
const identifier = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);
const quantities = fc.tuple(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }));
const service = fc
  .record({
    id: identifier,
    name: label,
    category: label,
    priceMicros: fc.integer({ min: 0, max: AMOUNT_LIMIT_MICROS }),
    per: fc.constantFrom(...PRICE_UNITS),
    bounds: quantities,
    private: fc.boolean(),
    active: fc.boolean(),
    link: fc.option(identifier),
    type: fc.constantFrom(...SERVICE_TYPES),
    dripfeed: fc.boolean(),
    cancel: fc.boolean(),
    refill: fc.boolean(),
    refillDays: fc.integer({ min: 1, max: REFILL_DAYS_LIMIT }),
  })
  .map(({ bounds, link, per, dripfeed, ...terms }) => ({
    ...terms,
    // What goes with the type.
    per: isPackage(terms.type) ? "order" : per === "order" ? standardUnit(terms.type) : per,
    dripfeed: dripfeed && terms.type === "default" && per !== "order",
    min: Math.min(...bounds),
    max: Math.max(...bounds),
    provider: link === null ? null : "acme",
    providerService: link,
  }));
const catalogue = fc.uniqueArray(service, { selector: ({ id }) => id, minLength: 1, maxLength: 6 });

/** What a row says, in the members of an export. */
const rowOf = ({ provider, ...row }: ReturnType<typeof readCatalogue>["services"][number]) => ({
  ...row,
  provider: provider?.name ?? null,
  providerService: provider?.service ?? null,
});

test("is imported as it was exported, as CSV and as JSON, whatever its cells contain", () => {
  fc.assert(
    fc.property(catalogue, (services) => {
      for (const isUpdate of [true, false]) {
        const texts = [catalogueCsv(services), JSON.stringify(catalogueRows(services))];
        for (const text of texts) {
          const { wrong, services: rows } = readCatalogue("stdin", text, { isUpdate });
          expect(wrong).toEqual([]);
          expect(rows.map(rowOf)).toEqual(services as object[] as ReturnType<typeof rowOf>[]);
        }
      }
    }),
  );
});

test("changes nothing in its own database with --update, and recreates the services in an empty one", () => {
  fc.assert(
    fc.property(catalogue, (services) => {
      const [one, two] = [freshDatabase(), freshDatabase()];
      const { wrong, services: rows } = readCatalogue("stdin", catalogueCsv(services));
      expect(wrong).toEqual([]);
      const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
      for (const database of [one, two]) {
        database.run("createProvider", provider);
        database.run("importServices", { services: rows });
      }
      const again = readCatalogue("stdin", catalogueCsv(services), { isUpdate: true }).services;
      const plan = one.read((reader) => planImport(reader, again, true));
      expect(plan).toEqual({ created: [], updated: [], unchanged: services.length, problems: [] });
      const shown = (database: typeof one) =>
        database.query(`SELECT id, name, category, price_micros, per, min, max, private, active,
          provider_service FROM services ORDER BY id`);
      expect(shown(two)).toEqual(shown(one));
    }),
    { numRuns: 10 },
  );
});
