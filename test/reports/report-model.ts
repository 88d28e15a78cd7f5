// A random market that keeps its own account of orders, refunds and costs, added up one by one: what a report must say. It
// shares nothing with the service but the commands that it gives.

import type { Report } from "../../src/domain/delivery/polling.ts";
import { Refusal } from "../../src/domain/values/error-table.ts";
import { planCatalogue, requireProvider } from "../../src/operations/providers/providers.ts";
import { below, type Random, randomFrom } from "../support/random/seeded.ts";
import { OPERATOR, type TestDatabase } from "../support/databases/test-database.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Shortly before midnight in UTC. */
const START = Date.parse("2026-02-27T23:40:00.000Z");
/** Decimals of the plain computation: more than any amount here has. */
const SCALE = 10n ** 30n;

/** What happened, as it would be written in a book: an amount of one kind, when and of which order. */
export interface Entry {
  at: number;
  kind: "order" | "revenue" | "refund" | "cost";
  micros: bigint;
  service: string;
  reseller: string;
  provider: string | null;
  /** Whether the order is unknown now. */
  isUnknown: () => boolean;
}

interface ModelOrder {
  orderId: number;
  providerId: number;
  service: string;
  reseller: string;
  provider: string | null;
  quantity: number;
  charge: bigint;
  refunded: bigint;
  status: string;
  isTest: boolean;
  isPlaced: boolean;
  isUnknown: boolean;
  /** The provider service's rate when the order was made: micros per 1,000 in its currency, scaled. */
  rate: bigint | null;
  cost: bigint;
  charged: boolean;
  /** The rate to USD that it keeps, scaled. */
  factor: bigint | null;
}

interface Seller {
  name: string;
  rate: bigint | null;
  factor: bigint;
}

const SERVICES = [
  { id: "likes", price: "0.000333", per: "1", provider: null },
  { id: "views", price: "2.1", per: "1000", provider: "acme" },
  { id: "plays", price: "0.777777", per: "1000", provider: "acme" },
  { id: "pack", price: "0.333333", per: "order", provider: "bulk" },
  { id: "free", price: "0", per: "1000", provider: null },
] as const;

export class ReportModel {
  readonly entries: Entry[] = [];
  readonly #random: Random;
  readonly #orders: ModelOrder[] = [];
  readonly #keys = new Map<string, { account: number; id: string }>();
  readonly #providers = new Map<string, Seller>();
  #now = START;
  #numbers = 0;

  constructor(
    readonly database: TestDatabase,
    seed: number,
  ) {
    this.#random = randomFrom(seed);
    for (const name of ["anna", "bert", "tess"]) {
      if (name !== "tess") database.user(name, "1000000");
      const key = database.key(name === "tess" ? "anna" : name, "full", "all", name === "tess");
      const username = name === "tess" ? "test:anna" : name;
      const [{ account }] = database.query<{ account: number }>(
        "SELECT reseller_account AS account FROM keys WHERE id = ?",
        key.id,
      ) as [{ account: number }];
      this.#keys.set(username, { account: Number(account), id: key.id });
    }
    const test = this.#keys.get("test:anna")!;
    const recharge = { keyId: test.id, resellerAccount: test.account, username: "anna" };
    database.run("recharge", { ...recharge, amountMicros: 1e12, isTest: true });
    for (const name of ["acme", "bulk"]) {
      const provider = { name, protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
      const terms = name === "bulk" ? { rateToUsd: "0.0123456789", currency: "INR" } : {};
      database.run("createProvider", { ...provider, ...terms });
      const factor = name === "bulk" ? (SCALE * 123_456_789n) / 10_000_000_000n : SCALE;
      this.#providers.set(name, { name, rate: null, factor });
    }
    for (const { id, price, per, provider } of SERVICES) {
      const upstream = provider === null ? {} : { provider: { name: provider, service: "7" } };
      database.service({ id, price, per, min: 1, max: 100_000, ...upstream });
    }
  }

  get now(): number {
    return this.#now;
  }

  step(): void {
    this.#now += below(this.#random, 3) === 0 ? below(this.#random, 7 * HOUR) : 1000;
    // The clock is put back, over midnight or a day.
    if (below(this.#random, 25) === 0) this.#now -= below(this.#random, 30 * HOUR);
    const steps = [
      ...Array<() => void>(8).fill(() => this.#place()),
      ...Array<() => void>(6).fill(() => this.#report()),
      ...Array<() => void>(4).fill(() => this.#move()),
      () => this.#settle(),
      () => this.#adjust(),
      () => this.#sync(),
      () => this.#changeFactor(),
      ...Array<() => void>(3).fill(() => this.count(1 + below(this.#random, 8))),
    ];
    try {
      steps[below(this.#random, steps.length)]!();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** Counts rows into the totals, as the job does. */
  count(limit: number): void {
    this.database.execute("countDailyTotals", { limit }, this.#now);
  }

  /** A credit or debit by one of two operators, or a recharge by a key, also of test money. */
  #adjust(): void {
    const amountMicros = 1 + below(this.#random, 900_000_000);
    const username = this.#pick(["anna", "bert"]);
    const [owner, { id: keyId, account: resellerAccount }] = this.#pick([...this.#keys]);
    const isTest = owner.startsWith("test:");
    const actor = { keyId: null, operator: this.#pick(["tester", "key of nobody"]) };
    const adjustment = { username, amountMicros, note: null, actor };
    const recharge = { keyId, resellerAccount, username, amountMicros, isTest };
    this.#pick([
      () => void this.database.execute("creditUser", adjustment, this.#now),
      () => void this.database.execute("debitUser", adjustment, this.#now),
      () => void this.database.execute("recharge", recharge, this.#now),
    ])();
  }

  #pick<T>(from: readonly T[]): T {
    return from[below(this.#random, from.length)]!;
  }

  #book(order: ModelOrder, kind: Entry["kind"], micros: bigint): void {
    if (order.isTest) return;
    const { service, reseller, provider } = order;
    const isUnknown = () => order.isUnknown;
    this.entries.push({ at: this.#now, kind, micros, service, reseller, provider, isUnknown });
  }

  #place(): void {
    const service = this.#pick(SERVICES);
    const reseller = this.#pick([...this.#keys.keys()]);
    const { account: resellerAccount, id: keyId } = this.#keys.get(reseller)!;
    const quantity = 1 + below(this.#random, 5000);
    const isTest = reseller.startsWith("test:");
    const input = { resellerAccount, keyId, service: service.id, link: "x", quantity };
    const placed = this.database.execute("placeOrder", input, this.#now);
    const price = BigInt(Math.round(Number(service.price) * 1e6));
    const units = price * BigInt(quantity);
    const charge =
      service.per === "order" ? price : service.per === "1" ? units : (units + 999n) / 1000n;
    const order: ModelOrder = {
      orderId: placed.orderId,
      providerId: placed.delivery?.providerId ?? 0,
      service: service.id,
      reseller,
      provider: isTest ? "test" : service.provider,
      quantity,
      charge,
      refunded: 0n,
      status: placed.status,
      isTest,
      isPlaced: false,
      isUnknown: false,
      rate: this.#providers.get(service.provider ?? "")?.rate ?? null,
      cost: 0n,
      charged: false,
      factor: null,
    };
    this.#orders.push(order);
    this.#book(order, "order", 0n);
    this.#book(order, "revenue", charge);
    if (service.provider !== null && below(this.#random, 8) > 0) this.#submit(order);
  }

  #submit(order: ModelOrder): void {
    const { orderId, providerId } = order;
    const attempt = { orderId, providerId, server: "s", placeRetryMs: HOUR };
    const started = this.database.execute("startAttempt", attempt, this.#now);
    if (!started.send) return;
    const isRefused = below(this.#random, 6) === 0;
    const isUnknown = !isRefused && !order.isTest && below(this.#random, 5) === 0;
    const result = isRefused
      ? ({ outcome: "refused", cause: "no", outOfFunds: false } as const)
      : isUnknown
        ? ({ outcome: "unknown", cause: "no reply" } as const)
        : ({ outcome: "accepted", providerOrder: String((this.#numbers += 1)) } as const);
    const { attemptId } = started;
    const finished = { orderId, attemptId, result, placeRetryMs: HOUR, backoffMs: 1000 };
    this.database.execute("finishAttempt", finished, this.#now);
    if (isRefused) this.#refund(order, "FAILED", 0);
    else if (isUnknown) order.isUnknown = true;
    else Object.assign(order, { isPlaced: true, status: "PROCESSING" });
  }

  /** An order that is unknown is settled, either way. */
  #settle(): void {
    const order = this.#pick(this.#orders.filter(({ isUnknown }) => isUnknown));
    if (!order) return;
    const isThere = below(this.#random, 2) === 0;
    const providerOrder = isThere ? String((this.#numbers += 1)) : null;
    const input = { id: String(order.orderId), providerOrder, actor: OPERATOR };
    this.database.execute("settleOrder", input, this.#now);
    order.isUnknown = false;
    if (isThere) Object.assign(order, { isPlaced: true, status: "PROCESSING" });
    else this.#refund(order, "FAILED", 0);
  }

  #refund(order: ModelOrder, status: string, remains: number): void {
    const { charge, refunded, quantity } = order;
    const full = charge - refunded;
    const part = (charge * BigInt(remains)) / BigInt(quantity);
    const micros = status === "COMPLETED" ? 0n : status === "PARTIAL" ? part : full;
    order.status = status;
    order.refunded += micros;
    if (micros > 0n) this.#book(order, "refund", micros);
  }

  /** The operator's: also long after the order, and of orders at a provider. */
  #move(): void {
    const order = this.#pick(this.#orders);
    if (!order) return;
    const to = this.#pick(["COMPLETED", "PARTIAL", "CANCELLED", "FAILED", "REFUNDED"] as const);
    const remains = below(this.#random, order.quantity + 1);
    const more = to === "PARTIAL" ? { remains } : {};
    const input = { id: String(order.orderId), to, note: null, actor: OPERATOR, ...more };
    this.database.execute("transitionOrder", input, this.#now);
    // An unknown order can be cancelled.
    order.isUnknown = false;
    this.#refund(order, to, remains);
  }

  #report(): void {
    const name = this.#pick([...this.#providers.keys()]);
    const placed = this.#orders.filter(({ provider, isPlaced }) => isPlaced && provider === name);
    const chosen = [...new Set([1, 2, 3].flatMap(() => this.#pick(placed) ?? []))];
    if (chosen.length === 0) return;
    const [row] = this.database.query<{ id: number }>(
      "SELECT provider_id AS id FROM providers WHERE name = ?",
      name,
    );
    const told = chosen.map((order) => ({ order, report: this.#reportOf(order) }));
    this.database.execute(
      "recordReports",
      {
        providerId: Number(row!.id),
        reports: told.map(({ order: { orderId }, report }) => ({ orderId, report })),
        pollIntervalMs: 60_000,
        jitter: 0,
      },
      this.#now,
    );
    for (const { order, report } of told) this.#hear(order, report);
  }

  #reportOf({ quantity, provider }: ModelOrder): Report {
    const word = this.#pick(["In progress", "In progress", "Completed", "Partial", "Canceled", "Failed", "odd"]); // prettier-ignore
    const remains = below(this.#random, 10) === 0 ? null : below(this.#random, quantity + 1);
    const charge = String(below(this.#random, 1e6) / 1e5);
    // A currency that is not the provider's, which costs nothing.
    const currency = this.#pick([null, provider === "bulk" ? "INR" : "USD", "XTS"]);
    const isTold = below(this.#random, 3) > 0;
    const cost = {
      charge,
      currency: currency === "XTS" && below(this.#random, 3) ? null : currency,
    };
    return { word, startCount: null, remains, text: "{}", ...(isTold ? { cost } : {}) };
  }

  #hear(order: ModelOrder, { word, remains, cost }: Report): void {
    if (word === "odd" || (word === "Partial" && remains === null)) return;
    const { factor } = this.#providers.get(order.provider!)!;
    const isFree = word === "Canceled" || word === "Failed";
    if (isFree && (cost || order.charged)) {
      order.factor ??= factor;
      order.charged = true;
      this.#cost(order, 0n);
    } else if (cost) {
      const isForeign = cost.currency === "XTS";
      order.factor ??= isForeign ? null : factor;
      // A charge in a currency without a rate is replaced by the next one with a rate.
      if (isForeign) order.factor = null;
      order.charged = true;
      this.#cost(order, isForeign ? 0n : ceil(scaled(cost.charge) * order.factor!));
    } else if (!order.charged && order.rate !== null) {
      const left = { Partial: remains!, Canceled: order.quantity, Failed: order.quantity }[word!];
      order.factor ??= factor;
      const units = BigInt(order.quantity - (left ?? 0));
      this.#cost(order, ceil((order.rate * units * order.factor) / 1000n));
    }
    if (order.status !== "PROCESSING" || word === "In progress") return;
    const status = { Completed: "COMPLETED", Partial: "PARTIAL", Canceled: "CANCELLED" }[word!];
    this.#refund(order, status ?? "FAILED", remains ?? 0);
  }

  #cost(order: ModelOrder, micros: bigint): void {
    if (micros !== order.cost) this.#book(order, "cost", micros - order.cost);
    order.cost = micros;
  }

  #sync(): void {
    const name = this.#pick([...this.#providers.keys()]);
    const rate = String(below(this.#random, 1e6) / 1e4);
    const type = "Default";
    const entry = {
      service: "7",
      name: "Seven",
      category: "c",
      type,
      rate,
      min: 1,
      max: 100_000,
      dripfeed: false,
      cancel: false,
      refill: false,
    };
    const upstream = [entry];
    const plan = this.database.read((reader) =>
      planCatalogue(reader, requireProvider(reader, name), upstream, { markup: "0" }),
    );
    const input = { name, upstream, markup: "0", plan, actor: OPERATOR };
    this.database.execute("syncCatalogue", input, this.#now);
    this.#providers.get(name)!.rate = scaled(rate);
  }

  #changeFactor(): void {
    const rateToUsd = String((1 + below(this.#random, 1e6)) / 1e6);
    const changes = { rateToUsd, currency: "INR" };
    this.database.execute("updateProvider", { name: "bulk", changes, actor: OPERATOR }, this.#now);
    this.#providers.get("bulk")!.factor = scaled(rateToUsd);
  }
}

/** A decimal times SCALE. */
function scaled(decimal: string): bigint {
  const [whole = "0", fraction = ""] = Number(decimal).toFixed(12).split(".");
  return (BigInt(whole + fraction) * SCALE) / 10n ** 12n;
}

/** Micros, rounded up, of a product of two that are scaled. */
function ceil(product: bigint): bigint {
  const divisor = (SCALE * SCALE) / 1_000_000n;
  return (product + divisor - 1n) / divisor;
}

export { DAY, START };
