// `admin transaction list` and `export`: the transactions of all users, complete and equal in every form.

import { beforeAll, describe, expect, test } from "bun:test";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;
/** The ledger of the live side as SQL reads it, newest first. */
let ledger: { seq: number; username: string; kind: string; change: number; balance: number }[];

beforeAll(async () => {
  shop = openShop();
  for (let times = 0; times < 5; times += 1) shop.order(100 + times);
  await shop.cli("admin", "order", "cancel", "2");
  await shop.cli(
    "admin",
    "user",
    "credit",
    "bob",
    "1.5",
    "--reference",
    "=inv",
    "--note",
    'a "b", c',
  );
  await shop.cli("admin", "user", "debit", "kid", "0.000001", "--public-note", "sorry");
  shop.key("alice", "order", "all", true);
  ledger = shop.query(`SELECT seq, username, kind,
      CASE WHEN credit_account > 2 THEN amount_micros ELSE -amount_micros END AS change, balance_after_micros AS balance
    FROM transfers JOIN users ON account IN (debit_account, credit_account)
    WHERE debit_account > 0 AND credit_account > 0 ORDER BY seq DESC`);
});

const dollars = (micros: number) => Number(micros) / 1e6;
const numbers = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => Number(line.split(",")[0]));

test("every transaction of every user is in each form, newest first, and none of a test account", async () => {
  const isTest = (text: string) => text.includes("test:");
  const csv = await shop.cli("admin", "transaction", "export", "--all");
  const [header, ...lines] = csv.stdout.trim().split("\n");
  expect(header).toBe(
    "seq,username,kind,amount,balanceAfter,orderId,by,reference,note,publicNote,createdAt",
  );
  const cells = lines.map((line) => line.split(","));
  expect(
    cells.map(([seq, user, kind, amount, balance]) => [seq, user, kind, amount, balance]),
  ).toEqual(
    ledger.map(({ seq, username, kind, change, balance }) => [
      String(seq),
      username,
      kind,
      formatMicros(Number(change)),
      formatMicros(Number(balance)),
    ]),
  );
  const jsonLines = await shop.cli("admin", "transaction", "export", "--json-lines");
  const json = await shop.cli("admin", "transaction", "export", "--json");
  const list = await shop.cli("admin", "transaction", "list", "--json", "--limit", "1000");
  const parsed = jsonLines.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(parsed).toEqual(json.json);
  expect(parsed).toEqual(list.json);
  expect(parsed.map(({ seq, username, amount }) => [seq, username, amount])).toEqual(
    ledger.map(({ seq, username, change }) => [Number(seq), username, dollars(change)]),
  );
  expect([csv.stdout, jsonLines.stdout].filter(isTest)).toEqual([]);
  const listed = await shop.cli("admin", "transaction", "list", "--csv");
  expect(listed.stdout).toBe(csv.stdout);
});

test("the author is the operator, or the key by its id", async () => {
  const { json } = await shop.cli("admin", "transaction", "list", "--json");
  const keyId = shop.query<{ id: string }>("SELECT id FROM keys ORDER BY created_at, id")[0]!.id;
  const by = (kind: string) => json.find((row: { kind: string }) => row.kind === kind).by;
  expect(by("order")).toMatch(/^key \w{24}$/);
  expect(keyId).toHaveLength(24);
  expect(by("adjustment")).not.toMatch(/^key /);
});

test("no cell is a formula, and quotes and commas are kept", async () => {
  const { stdout } = await shop.cli("admin", "transaction", "list", "--user", "bob", "--csv");
  expect(stdout).toContain(`,'=inv,"a ""b"", c",`);
});

describe("filters and pages", () => {
  const kinds = ["recharge", "order", "partial_refund", "refund", "adjustment"];
  test.each(kinds)("--kind %s lists exactly those", async (kind) => {
    const { stdout } = await shop.cli("admin", "transaction", "export", "--kind", kind);
    expect(numbers(stdout)).toEqual(
      ledger.filter((row) => row.kind === kind).map(({ seq }) => Number(seq)),
    );
  });

  test.each([[1], [2], [3], [100]])(
    "pages of %p lead through the whole list, each row once",
    async (limit) => {
      const seen: number[] = [];
      for (let cursor: string[] = []; ;) {
        const page = await shop.cli(
          "admin",
          "transaction",
          "list",
          "--csv",
          "--limit",
          String(limit),
          ...cursor,
        );
        const found = numbers(page.stdout);
        if (found.length === 0 || Number.isNaN(found[0])) break;
        seen.push(...found);
        cursor = ["--cursor", String(found.at(-1))];
      }
      expect(seen).toEqual(ledger.map(({ seq }) => Number(seq)));
    },
  );

  test("--order lists the charge and the refund of an order, whoever's it is", async () => {
    const { json } = await shop.cli("admin", "transaction", "list", "--order", "2", "--json");
    expect(json.map((row: { kind: string; orderId: number }) => [row.kind, row.orderId])).toEqual([
      ["refund", 2],
      ["order", 2],
    ]);
  });

  test("--since and --until bound the list, both included", async () => {
    const at = (window: string[]) =>
      shop.cli("admin", "transaction", "export", "--json", ...window);
    const [newest] = (await at([])).json;
    const exact = await at(["--since", newest.at, "--until", newest.at]);
    expect(exact.json).toContainEqual(newest);
    expect((await at(["--until", "2001-01-01"])).json).toEqual([]);
    expect((await at(["--since", "2999-01-01"])).stdout).toBe("[]\n");
  });

  test("--user and --all together are wrong usage", async () => {
    const ran = await shop.cli("admin", "transaction", "export", "--all", "--user", "bob");
    expect([ran.code, ran.stdout]).toEqual([2, ""]);
  });
});
