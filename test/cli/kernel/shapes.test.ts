// What --json prints: one document with exactly the members of docs/specification/command-line.md#cli-json.

import { describe, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";

const USER = ["id", "username", "name", "balance", "childBalance", "resellerId"];
const LISTED_USER = [...USER, "active", "discount", "email"];
const LIMITED_USER = [...LISTED_USER, "note", "limits", "used"];
const ADJUSTED = [...USER, "previousBalance", "amount"];
const KEY = [
  "id", "type", "reach", "createsCredit", "rechargeLimit", "rechargeDaily", "username", "label", "active", "test", "imported", "expiresAt", "allow",
]; // prettier-ignore
const NEW_KEY = [...KEY, "key"];
const LISTED_KEY = [...KEY, "start", "state", "lastUsedAt", "lastAddress", "replacedBy"];
const SERVICE = [
  "id", "number", "name", "category", "price", "per", "min", "max", "type", "dripfeed", "active", "private",
  "provider", "providerService", "cancel", "refill", "refillDays", "apiV2",
]; // prettier-ignore
const ORDER = [
  "id", "orderId", "service", "link", "quantity", "charge", "status", "startCount", "remains", "createdAt",
  "username", "refunded", "provider", "providerOrder", "placement",
]; // prettier-ignore
const COST = ["cost", "costBasis", "providerCharge", "providerCurrency"];

const shop = openShop();
const keyId = shop.key("alice", "order").id;
const numbers = Array.from({ length: 7 }, () => String(shop.order(100)));
await shop.cli("admin", "order", "complete", numbers[0]!);

const SHAPES: [title: string, argv: string[], members: string[]][] = [
  ["user create", ["admin", "user", "create", "carol"], USER],
  ["user create --parent", ["admin", "user", "create", "cora", "--parent", "alice"], USER],
  ["user show", ["admin", "user", "show", "alice"], LIMITED_USER],
  ["user show, a child user", ["admin", "user", "show", "cora"], [...LISTED_USER, "note"]],
  ["user limits", ["admin", "user", "limits", "alice", "--open-orders", "9"], LIMITED_USER],
  ["user update", ["admin", "user", "update", "carol", "--name", "Carol"], [...LISTED_USER, "note"]],
  ["user deactivate", ["admin", "user", "deactivate", "carol"], [...LISTED_USER, "keys"]],
  ["user activate", ["admin", "user", "activate", "carol"], [...LISTED_USER, "keys"]],
  ["user credit", ["admin", "user", "credit", "alice", "1.5"], ADJUSTED],
  ["user debit", ["admin", "user", "debit", "alice", "1.5"], ADJUSTED],
  ["key create", ["admin", "key", "create", "--user", "bob", "--type", "order"], NEW_KEY],
  ["key deactivate", ["admin", "key", "deactivate", keyId], LISTED_KEY],
  ["key activate", ["admin", "key", "activate", keyId], LISTED_KEY],
  ["service create", ["admin", "service", "create", "--name", "N", "--price", "1", "--min", "1", "--max", "2"], SERVICE],
  ["service update", ["admin", "service", "update", "followers", "--max", "20000"], SERVICE],
  ["service deactivate", ["admin", "service", "deactivate", "followers"], SERVICE],
  ["service activate", ["admin", "service", "activate", "followers"], SERVICE],
  ["service grant", ["admin", "service", "grant", "secret", "--user", "alice"], ["service", "username", "price"]],
  ["service revoke", ["admin", "service", "revoke", "secret", "--user", "alice"], ["service", "username", "revoked"]],
  ["user credit --reference", ["admin", "user", "credit", "alice", "1.5", "--reference", "a"], [...ADJUSTED, "reference", "repeated"]],
  ["user discount", ["admin", "user", "discount", "bob", "10%"], LISTED_USER],
  ["service show", ["admin", "service", "show", "followers"], [...SERVICE, "grants"]],
  ["order show", ["admin", "order", "show", numbers[1]!], [...ORDER, ...COST, "resends", "resentAs", "timeline"]],
  ["order progress", ["admin", "order", "progress", numbers[1]!, "--remains", "3"], ORDER],
  ["order complete", ["admin", "order", "complete", numbers[1]!], ORDER],
  ["order partial", ["admin", "order", "partial", numbers[2]!, "--remains", "50"], ORDER],
  ["order cancel", ["admin", "order", "cancel", numbers[3]!], ORDER],
  ["order fail", ["admin", "order", "fail", numbers[4]!], ORDER],
  ["order refund", ["admin", "order", "refund", numbers[0]!], ORDER],
  ["verify", ["verify"], ["ok", "database", "users", "orders", "transfers", "usedKeys", "problems", "problemCount"]],
  ["version", ["version"], ["version", "commit", "bun", "sqlite"]],
]; // prettier-ignore

const LISTS: [title: string, argv: string[], members: string[]][] = [
  ["user list", ["admin", "user", "list"], LISTED_USER],
  ["transaction list", ["admin", "transaction", "list", "--user", "alice"], ["seq", "at", "kind", "amount", "balance", "orderId", "note", "publicNote", "reference", "by"]],
  ["service list --user", ["admin", "service", "list", "--user", "alice"], [...SERVICE, "standardPrice", "own"]],
  ["key list", ["admin", "key", "list"], [...LISTED_KEY, "requests", "errors"]],
  ["key list --user", ["admin", "key", "list", "--user", "ALICE"], [...LISTED_KEY, "requests", "errors"]],
  ["service list", ["admin", "service", "list"], SERVICE],
  ["order list", ["admin", "order", "list"], [...ORDER, ...COST, "reportedLate"]],
  ["order list --status --user", ["admin", "order", "list", "--status", "COMPLETED", "--user", "alice"], [...ORDER, ...COST, "reportedLate"]],
]; // prettier-ignore

describe("--json prints exactly one document on stdout, with the specified members", () => {
  test.each(SHAPES)("%s", async (_, argv, members) => {
    const { code, stdout, stderr, json } = await shop.cli(...argv, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(Object.keys(json).toSorted()).toEqual(members.toSorted());
    expect(stdout).toBe(`${stdout.trim()}\n`);
  });

  test.each(LISTS)("%s is an array of those", async (_, argv, members) => {
    const { code, json } = await shop.cli(...argv, "--json");
    expect(code).toBe(0);
    expect(json.length).toBeGreaterThan(0);
    for (const row of json) expect(Object.keys(row).toSorted()).toEqual(members.toSorted());
  });

  test("an empty list is an empty array", async () => {
    const { json } = await shop.cli("admin", "key", "list", "--user", "bob", "--json");
    expect(json).toHaveLength(1);
    const none = await shop.cli("admin", "order", "list", "--user", "bob", "--json");
    expect(none.json).toEqual([]);
  });
});

describe("without --json the same commands print text for a person on stdout", () => {
  test.each(LISTS)("%s: a heading and one line for each row", async (_, argv) => {
    const { json } = await shop.cli(...argv, "--json");
    const { code, stdout, stderr } = await shop.cli(...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(json.length + 1);
    expect(lines[0]).toBe(lines[0]!.toUpperCase());
  });
});
