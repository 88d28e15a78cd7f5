// The provider of `reseller demo`: speaks the protocol of smm-api.ts and delivers each order within two minutes. An
// order's number holds what it needs to know, so it keeps nothing but the orders that were cancelled.

import type { InnerProvider } from "./call.ts";

/** Ends in a name that no name server knows (RFC 6761). */
export const DEMO_PROVIDER_URL = "http://provider.demo.invalid/api/v2";

/** Time until an order begins, and until it is delivered. */
const BEGINS_AFTER_MS = 5_000;
const TAKES_MS = 100_000;
const CANCELLED_LIMIT = 10_000;
/** Every seventh quantity ends short of this share. */
const PARTIAL_SHARE = 0.2;

/** The services that it offers: rates per 1,000 in US dollars. */
export const DEMO_PROVIDER_SERVICES = [
  { service: 101, name: "Instagram Followers", rate: "1.40", min: 50, max: 10_000 },
  { service: 102, name: "Instagram Likes", rate: "0.21", min: 10, max: 50_000 },
  { service: 103, name: "TikTok Views", rate: "0.006", min: 100, max: 1_000_000 },
  { service: 104, name: "Telegram Members", rate: "0.95", min: 100, max: 20_000 },
] as const;

/** A number: time in units of 10 ms, then the last digit of the service, then seven digits of the quantity. */
const NUMBER = /^(\d{9,11})(\d)(\d{7})$/;
const NUMBERS_SINCE = Date.UTC(2026, 0, 1);
const UNIT_MS = 10;
const FIRST_SERVICE = 100;

export function createDemoProvider(now: () => number = Date.now): InnerProvider {
  const cancelled = new Set<string>();
  let last = 0;

  const add = (form: URLSearchParams): object => {
    const service = DEMO_PROVIDER_SERVICES.find(
      (each) => String(each.service) === form.get("service"),
    );
    const quantity = Number(form.get("quantity"));
    if (!service) return { error: "Incorrect service ID" };
    if (!(quantity >= service.min && quantity <= service.max))
      return { error: "Quantity is wrong" };
    // Two orders of one moment differ.
    last = Math.max(last + 1, Math.floor((now() - NUMBERS_SINCE) / UNIT_MS));
    const digits = String(quantity).padStart(7, "0");
    return { order: `${last}${service.service - FIRST_SERVICE}${digits}` };
  };

  const status = (number: string): object => {
    const placed = readNumber(number);
    const service = DEMO_PROVIDER_SERVICES.find((each) => each.service === placed?.service);
    if (!placed || !service) return { error: "Incorrect order ID" };
    const { placedAt, quantity: wanted } = placed;
    const age = now() - placedAt;
    const isPartial = wanted % 7 === 0;
    const share = Math.min(1, Math.max(0, (age - BEGINS_AFTER_MS) / TAKES_MS));
    const delivered = Math.floor(wanted * (isPartial ? Math.min(share, 1 - PARTIAL_SHARE) : share));
    const ended = isPartial ? "Partial" : "Completed";
    const word = age < BEGINS_AFTER_MS ? "Pending" : share < 1 ? "In progress" : ended;
    const isCancelled = cancelled.has(number);
    const paid = isCancelled ? 0 : isPartial && share === 1 ? delivered : wanted;
    return {
      status: isCancelled ? "Canceled" : word,
      start_count: String(placedAt % 5000),
      remains: String(isCancelled ? wanted : wanted - delivered),
      charge: ((Number(service.rate) * paid) / 1000).toFixed(6),
      currency: "USD",
    };
  };

  const cancel = (number: string): object => {
    const ageMs = now() - (readNumber(number)?.placedAt ?? 0);
    const isEarly = ageMs < BEGINS_AFTER_MS + TAKES_MS;
    if (!isEarly || cancelled.size >= CANCELLED_LIMIT)
      return { error: "Order cannot be cancelled" };
    cancelled.add(number);
    return { order: number, cancel: 1 };
  };

  return (form) => {
    const orders = form.get("orders")?.split(",") ?? [];
    switch (form.get("action")) {
      case "services":
        return DEMO_PROVIDER_SERVICES.map((service) => ({
          ...service,
          type: "Default",
          category: "Demo",
          dripfeed: false,
          cancel: true,
          refill: true,
        }));
      case "balance":
        return { balance: "250.00", currency: "USD" };
      case "add":
        return add(form);
      case "status":
        if (form.has("order")) return status(form.get("order")!);
        return Object.fromEntries(orders.map((number) => [number, status(number)]));
      case "cancel":
        return orders.map(cancel);
      case "refill":
        return { refill: String(now()) };
      case "refill_status": {
        const refills = form.get("refills")?.split(",");
        if (!refills) return { status: "Completed" };
        return refills.map((refill) => ({ refill, status: "Completed" }));
      }
      default:
        return { error: "Incorrect action" };
    }
  };
}

function readNumber(text: string): { placedAt: number; service: number; quantity: number } | null {
  const [, units, service, quantity] = NUMBER.exec(text)?.map(Number) ?? [];
  if (units === undefined) return null;
  const placedAt = NUMBERS_SINCE + units * UNIT_MS;
  return { placedAt, service: FIRST_SERVICE + service!, quantity: quantity! };
}
