// Audits the changes feed: a reseller that applies all changes of the feed has the current catalogue at its own prices, and
// changes that were read once never differ later. It computes prices itself.

import type { ReadStore } from "../../../src/db/port/port.ts";
import { listServiceChanges } from "../../../src/db/catalogue/service-changes.ts";
import { Finding, priceOf } from "./auditor.ts";
import type { MarketDatabase } from "./databases.ts";

type Offer = Record<string, unknown>;

interface Service {
  id: string;
  name: string;
  price: number;
  per: string;
  min: number;
  max: number;
}

const PAGE = 50;
const NOT_OFFERED: Offer = {
  name: null,
  price: null,
  per: null,
  min: null,
  max: null,
  available: false,
};

export function createChangesAuditor(
  store: ReadStore,
  { query }: Pick<MarketDatabase, "query">,
  resellers: readonly string[],
) {
  const must = (holds: boolean, what: string) => {
    if (!holds) throw new Finding(`changes: ${what}`);
  };
  /** The changes that each reseller read at the last audit, by username. */
  const read = new Map<string, string[]>();

  const feedOf = async (account: number) => {
    const changes = [];
    for (let since = 0; ;) {
      const from = since;
      const page = await store.read(
        (reader) => listServiceChanges(reader, account, from, PAGE) ?? null,
      );
      if (!page) throw new Finding(`changes: the cursor ${since} is no longer known`);
      changes.push(...page.changes);
      if (page.isEnd) return changes;
      must(page.cursor > since, `the cursor ${since} leads to ${page.cursor}`);
      since = page.cursor;
    }
  };

  const auditOne = async (username: string, account: number, discountPpm: number) => {
    const feed = await feedOf(account);
    const catalogue = new Map<string, Offer>();
    let last = 0;
    for (const { seq, service, field, before, after } of feed) {
      const at = `${username}: ${service}.${field}`;
      must(seq > last, `${at} has number ${seq} after ${last}`);
      last = seq;
      const known = catalogue.get(service) ?? NOT_OFFERED;
      must(
        known[field] === before,
        `${at} was ${String(known[field])}, but the feed says ${before}`,
      );
      const isGone = field === "available" && after === false;
      catalogue.set(service, isGone ? NOT_OFFERED : { ...known, [field]: after });
    }
    const followed = new Map([...catalogue].filter(([, offer]) => offer["available"] === true));
    const services = query<Service>(
      "SELECT id, name, price_micros AS price, per, min, max FROM services WHERE active = 1",
    );
    const offered = services.map(({ id, name, price, per, min, max }): [string, Offer] => {
      const dollars = Number(priceOf(Number(price), discountPpm)) / 1_000_000;
      return [
        id,
        { name, price: dollars, per, min: Number(min), max: Number(max), available: true },
      ];
    });
    const own = new Map(offered);
    for (const service of new Set([...followed.keys(), ...own.keys()])) {
      const [is, should] = [followed.get(service), own.get(service)];
      const isSame = Bun.deepEquals(is, should);
      must(isSame, `${username} has ${service} as ${shown(is)}, but it is ${shown(should)}`);
    }
    const lines = feed.map((change) => JSON.stringify(change));
    const before = read.get(username) ?? [];
    must(
      before.every((line, place) => line === lines[place]),
      `what ${username} had read has changed`,
    );
    read.set(username, lines);
  };

  return {
    async audit() {
      const rows = query<{ username: string; account: number; discountPpm: number }>(
        `SELECT username, account, discount_ppm AS "discountPpm" FROM users WHERE test_of IS NULL`,
      ).filter(({ username }) => resellers.includes(username));
      for (const { username, account, discountPpm } of rows) {
        await auditOne(username, Number(account), Number(discountPpm));
      }
    },
  };
}

function shown(offer: Offer | undefined): string {
  return offer ? JSON.stringify(offer) : "not offered";
}

export type ChangesAuditor = ReturnType<typeof createChangesAuditor>;
