// The orders of two weeks that a quickstart begins with, so that the panel has something to show: of a reseller of their
// own, in each state that the operator's own deliveries reach.

import { randomBytes } from "node:crypto";
import { findUser } from "../db/users.ts";
import { formatKey, hashKey, KEY_RANDOM_BYTES, startOfKey } from "../domain/keys.ts";
import { MICROS_PER_DOLLAR } from "../domain/money.ts";
import type { CommandInput, CommandName, UnsignedInput } from "../operations/commands.ts";
import { execute } from "../operations/execute.ts";
import { type Session, signed } from "./command.ts";
import type { parseCatalogue } from "./service-import.ts";

export const SAMPLE_USER = "sample";
const CREDIT_MICROS = 200 * MICROS_PER_DOLLAR;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 14;

type End = "open" | "half" | "COMPLETED" | "PARTIAL" | "CANCELLED" | "FAILED";

/** Days ago, service, quantity, how it ended; the oldest first. */
const ORDERS: readonly (readonly [days: number, service: string, quantity: number, end: End])[] = [
  [13, "instagram-followers", 2000, "COMPLETED"],
  [12, "tiktok-views", 50_000, "COMPLETED"],
  [11, "instagram-likes", 5000, "COMPLETED"],
  [10, "telegram-members", 1500, "PARTIAL"],
  [9, "instagram-followers", 1000, "COMPLETED"],
  [8, "youtube-watch-hours", 200, "CANCELLED"],
  [7, "profile-review", 1, "COMPLETED"],
  [6, "instagram-likes", 8000, "COMPLETED"],
  [5, "tiktok-views", 100_000, "FAILED"],
  [4, "instagram-followers", 3000, "COMPLETED"],
  [3, "telegram-members", 2000, "COMPLETED"],
  [2, "instagram-followers", 2500, "half"],
  [1, "instagram-likes", 4000, "half"],
  [0.1, "youtube-watch-hours", 300, "open"],
];

export const SAMPLE_ORDERS = ORDERS.length;

/** On an empty database. With the services, which they are orders of. */
export async function seedOrders(
  { store }: Session,
  services: ReturnType<typeof parseCatalogue>,
  now: number,
): Promise<void> {
  const run = <Name extends CommandName>(name: Name, input: CommandInput<Name>, at: number) =>
    execute(store, name, input, at);
  const sign = <Name extends CommandName>(input: UnsignedInput<Name>) => signed<Name>(input);
  const begin = now - DAYS * DAY_MS;
  await run("importServices", sign<"importServices">({ services }), begin);
  const user = { username: SAMPLE_USER, name: "Sample", parent: null };
  await run("createUser", sign<"createUser">(user), begin);
  const credit = { username: SAMPLE_USER, amountMicros: CREDIT_MICROS, note: "quickstart" };
  await run("creditUser", sign<"creditUser">(credit), begin);
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES));
  const key = await run(
    "createKey",
    // Its text is not kept: nobody uses it again.
    sign<"createKey">({
      username: SAMPLE_USER,
      type: "order",
      reach: "all",
      label: "quickstart",
      hash: hashKey(text),
      start: startOfKey(text),
    }),
    begin,
  );
  const { account } = (await store.read((reader) => findUser(reader, SAMPLE_USER)))!;
  for (const [at, [days, service, quantity, end]] of ORDERS.entries()) {
    const link = `https://example.com/sample/${at + 1}`;
    const order = { resellerAccount: account, keyId: key.id, service, link, quantity };
    const placedAt = now - days * DAY_MS;
    const { orderId } = await run("placeOrder", order, placedAt);
    const id = String(orderId);
    const half = Math.floor(quantity / 2);
    if (end === "open") continue;
    if (end === "half") {
      const progress = sign<"progressOrder">({ id, startCount: 120, remains: half });
      await run("progressOrder", progress, placedAt + HOUR_MS);
      continue;
    }
    const move = {
      id,
      to: end,
      note: null,
      ...(end === "PARTIAL" ? { remains: half } : {}),
    };
    await run("transitionOrder", sign<"transitionOrder">(move), placedAt + 6 * HOUR_MS);
  }
  const off = sign<"setKeyActive">({ id: key.id, active: false });
  await run("setKeyActive", off, now);
}
