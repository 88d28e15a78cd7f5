// What the commands print about the limits of a reseller.

import { afterAll, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";

const shop = openShop();
afterAll(() => shop.close());

/** The lines of `user show` about limits, by their names. */
async function shownLimits(): Promise<Record<string, string>> {
  const { stdout } = await shop.cli("admin", "user", "show", "alice");
  const lines = stdout.split("\n").map((line) => line.split(/ {2,}/));
  return Object.fromEntries(lines.filter(([, text]) => /limit|\/s$|server/.test(text ?? "")));
}

test("user show says of each limit whether it is the server's, none, or the reseller's own", async () => {
  const limits = (...flags: string[]) => shop.cli("admin", "user", "limits", "alice", ...flags);
  const server = {
    "rate limit": "the server's default",
    "orders this minute": "0; limit the server's default",
    "spend today usd": "0.00; limit the server's default",
    "spend this month usd": "0.00; limit the server's default",
    "open orders": "0; limit the server's default",
  };
  expect(await shownLimits()).toEqual(server);
  await limits("--rate-limit", "0", "--open-orders", "0", "--spend-per-day", "0");
  expect(await shownLimits()).toEqual({
    ...server,
    "rate limit": "no limit",
    "spend today usd": "0.00; no limit",
    "open orders": "0; no limit",
  });
  await limits("--rate-limit", "20/s", "--open-orders", "9", "--spend-per-day", "12.5");
  expect(await shownLimits()).toEqual({
    ...server,
    "rate limit": "20/s",
    "spend today usd": "0.00; limit 12.50",
    "open orders": "0; limit 9",
  });
});
