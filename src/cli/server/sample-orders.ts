// Creates a month of orders of demo resellers, so that the pages of a fresh quickstart or demo have something to show.
// The orders are few and the same in every database. Their services are delivered by hand, so nothing is sent to
// providers.

import type { Tx } from "../../db/port/port.ts";
import { MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { createCommandIds } from "../../operations/batch/execute.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  runCommand,
  type UnsignedInput,
} from "../../operations/batch/commands.ts";
import { createContext } from "../../operations/batch/context.ts";
import { signed } from "../kernel/command.ts";
import { newKey } from "../users/keys.ts";
import { HOUR_MS, DAY_MS } from "../../domain/values/spans.ts";

export interface Shop {
  username: string;
  name: string;
}

export const CORNER_SHOP: Shop = { username: "corner-shop", name: "Corner Shop" };
/** How many orders a reseller places before the next one does. Not a divisor of the number of samples. */
const IN_A_ROW = 4;
const BALANCE_MICROS = 200 * MICROS_PER_DOLLAR;
const DAYS = 30;

const SAMPLES = [
  { service: "instagram-followers", quantity: 500, link: "https://example.com/corner.shop" },
  { service: "tiktok-views", quantity: 20_000, link: "https://example.com/@corner/video/7301" },
  { service: "instagram-likes", quantity: 800, link: "https://example.com/corner.shop/p/C1" },
  { service: "telegram-members", quantity: 300, link: "https://example.com/cornershop" },
  { service: "youtube-watch-hours", quantity: 100, link: "https://example.com/watch?v=corner" },
  { service: "profile-review", quantity: 1, link: "https://example.com/corner.shop" },
] as const;

/** Number of orders per day, by the age of the day. Repeats each week. */
const ORDERS_A_DAY = [2, 1, 3, 1, 2, 0, 2];
const AGES = Array.from({ length: DAYS }, (_, at) => DAYS - 1 - at).flatMap((age) =>
  Array.from({ length: ORDERS_A_DAY[age % ORDERS_A_DAY.length]! }, (_, orderOfDay) => ({
    age,
    orderOfDay,
  })),
);

/** The number of sample orders. */
export const SAMPLE_ORDERS = AGES.length;

type Change = Omit<UnsignedInput<"transitionOrder">, "id">;

/** Returns the final transition of an order, or null if it is still being delivered. */
function finalTransition(number: number, age: number): Change | null {
  if (age < 2) return null;
  if (number % 9 === 4) return { to: "PARTIAL", remains: 1, note: "the rest was not available" };
  if (number % 11 === 5) return { to: "CANCELLED", note: "the link is private" };
  if (number % 17 === 6) return { to: "FAILED", note: "the account is gone" };
  return { to: "COMPLETED", note: null };
}

/**
 * Returns a function that creates the resellers and their orders, which they place by turns. Call it in the transaction that created the services, after them. It can
 * be repeated, because PostgreSQL may repeat a transaction.
 */
export function sampleOrders(now: number, shops: readonly Shop[]): (tx: Tx) => void {
  const begin = now - (DAYS + 1) * DAY_MS;
  const openings = shops.map((shop) => {
    const { input: key } = newKey({ user: shop.username, type: "order", label: "shop" });
    return {
      ...shop,
      key,
      createUser: prepare("createUser", begin),
      creditUser: prepare("creditUser", begin),
      createKey: prepare("createKey", begin, key),
    };
  });
  const orders = AGES.map(({ age, orderOfDay }, at) => {
    const placedAt = now - age * DAY_MS - (3 - orderOfDay) * HOUR_MS;
    const endsAt = placedAt + DAY_MS / 2;
    const [place, end] = [prepare("placeOrder", placedAt), prepare("transitionOrder", endsAt)];
    return {
      number: at + 1,
      sample: SAMPLES[at % SAMPLES.length]!,
      shop: Math.floor(at / IN_A_ROW) % shops.length,
      age,
      placedAt,
      endsAt,
      place,
      end,
    };
  });
  return (tx) => {
    const callers = openings.map(({ username, name, key, createUser, creditUser, createKey }) => {
      const user = { username, name, parent: null };
      const { account } = createUser(tx, signed<"createUser">(user));
      const credit = { username, amountMicros: BALANCE_MICROS, note: "cash" };
      creditUser(tx, signed<"creditUser">(credit));
      const { id: keyId } = createKey(tx, signed<"createKey">(key));
      return { resellerAccount: account, keyId };
    });
    const open: { endsAt: number; end: () => void }[] = [];
    // Orders that end before the next one is placed are ended first, so that times only increase.
    const endUntil = (time: number) => {
      while (open.length > 0 && open[0]!.endsAt <= time) open.shift()!.end();
    };
    for (const { number, sample, shop, age, placedAt, endsAt, place, end } of orders) {
      endUntil(placedAt);
      const reference = `shop-${number}`;
      const { orderId } = place(tx, { ...callers[shop]!, ...sample, reference });
      const change = finalTransition(number, age);
      if (!change) continue;
      const input = signed<"transitionOrder">({ id: String(orderId), ...change });
      open.push({ endsAt, end: () => void end(tx, input) });
    }
    endUntil(now);
  };
}

/**
 * Returns a function that runs a command at a given time. Its ids are created here, so that a repeated transaction uses
 * the same ones. `counted`: the fields of the input that decide how many ids are needed.
 */
function prepare<Name extends CommandName>(
  name: Name,
  at: number,
  counted: Partial<CommandInput<Name>> = {},
): (tx: Tx, input: CommandInput<Name>) => CommandOutput<Name> {
  const ids = createCommandIds(name, counted as CommandInput<Name>);
  return (tx, input) => runCommand(tx, name, input, createContext(at, ids, crypto.randomUUID()));
}
