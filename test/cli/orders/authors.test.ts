// Who is named in the audit log, and found there; several orders changed by one command line. On either engine.

import { afterAll, expect, test } from "bun:test";
import { authorOf, operator } from "../../../src/cli/kernel/operator.ts";
import { isAuthor } from "../../../src/domain/administrators/audit.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { seedEndedOrders } from "../../support/seeds/shop-orders.ts";

const shop = await seedEndedOrders(openShop());
afterAll(() => shop.close());
const user = operator().operator!;

test.each([
  [["reseller", null, undefined], "reseller"],
  [["reseller", "reseller", undefined], "reseller"],
  [["reseller", "alice", undefined], "reseller (alice)"],
  [["reseller", "alice", "nightly"], "reseller (alice) as nightly"],
  [["uid 999", null, "nightly"], "uid 999 as nightly"],
] as [Parameters<typeof authorOf>, string][])("%p is recorded as %p", (names, author) => {
  expect(authorOf(...names)).toBe(author);
  for (const name of [author, ...names.filter((name) => name !== null && name !== undefined)]) {
    expect([name, isAuthor(author, name)]).toEqual([name, true]);
  }
  for (const name of ["as", "", "(alice)", "alic", "res"]) {
    expect([name, isAuthor(author, name)]).toEqual([name, false]);
  }
});

test("an administrator of the panel is found by name", () => {
  const names = ["alice", "panel:alice", "panel", "lice", "alice "];
  expect(names.map((name) => isAuthor("panel:alice", name))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("--by finds the operator, and the name of --as", async () => {
  await shop.cli("admin", "user", "create", "zoe", "--as", "nightly");
  await shop.cli("admin", "user", "create", "yan", "--as", "nightly.2");
  await shop.cli("admin", "user", "create", "xia");
  const by = async (name: string, ...more: string[]) => {
    const argv = ["admin", "audit", "list", "--by", name, "--action", "user.create", ...more];
    const rows: { subject: string }[] = (await shop.cli(...argv, "--json")).json;
    return rows.map(({ subject }) => subject);
  };
  expect(await by("nightly")).toEqual(["zoe"]);
  expect(await by(`${user} as nightly.2`)).toEqual(["yan"]);
  expect((await by(user)).slice(0, 3)).toEqual(["xia", "yan", "zoe"]);
  expect(await by(user, "--limit", "1")).toEqual(["xia"]);
  expect(await by("nobody")).toEqual([]);
});

test("several orders are changed independently, and each result is printed", async () => {
  const { code, json, told } = await shop.cli(
    "admin",
    "order",
    "cancel",
    "2",
    "1,3",
    "99",
    "--json",
  );
  expect(code).toBe(1);
  expect(json).toMatchObject([
    { id: "2", done: false, code: "order_transition_illegal" },
    { id: "1", done: true, order: { orderId: 1, status: "CANCELLED" } },
    { id: "3", done: false, code: "order_transition_illegal" },
    { id: "99", done: false, code: "order_not_found" },
  ]);
  expect(told).toBe("error: 3 of 4 orders were not changed, see above; the others were\n");
  expect((await shop.cli("verify", "--json")).json).toMatchObject({ ok: true });
});

test("refunds of several orders are confirmed together, and a refused change refunds nothing", async () => {
  const [one, other] = [shop.order(100), shop.order(100)];
  const ids = [String(one), String(other), "99"];
  const cancel = (...more: string[]) => shop.cli("admin", "order", "cancel", ...ids, ...more);
  const before = shop.dump();
  const asked = await cancel("--confirm-above", "0.3");
  expect([asked.code, shop.dump() === before]).toEqual([2, true]);
  expect(asked.stderr).toContain(
    "refund 0.464 USD of 3 orders needs confirmation: more than 0.3 USD",
  );
  const { json, code } = await cancel("--confirm-above", "0.3", "--yes", "--json");
  expect(code).toBe(1);
  expect(json).toMatchObject([
    { done: true, order: { refunded: 0.232 } },
    { done: true, order: { refunded: 0.232 } },
    { done: false, code: "order_not_found" },
  ]);
});

test("columns are chosen by their headings", async () => {
  const list = (...argv: string[]) => shop.cli("admin", "order", "list", ...argv);
  const heading = async (...argv: string[]) => (await list(...argv)).stdout.split("\n")[0];
  expect(await heading("--columns", "link,order")).toMatch(/^LINK +ORDER$/);
  expect(await heading()).toMatch(
    /^ORDER +STATUS +USER +SERVICE +QUANTITY +CHARGE USD +AGE +LINK$/,
  );
  expect(await heading("--wide")).toMatch(
    / PLACEMENT .* PROVIDER ORDER +REPORTED LATE +COST USD +PROVIDER CHARGE +REFERENCE +ID +LINK$/,
  );
  expect((await list("--columns", "order,nothing")).code).toBe(2);
});
