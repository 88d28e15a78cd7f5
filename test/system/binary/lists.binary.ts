// Lists on terminals of 80 and 140 columns, their filters, and several orders changed by one command line.

import { expect, test } from "bun:test";
import { binary, BINARY, binaryJson } from "../../support/binary.ts";
import type { Body } from "../../support/http/api.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { join } from "node:path";

const LINK = `https://www.instagram.com/p/${"x".repeat(60)}/?utm_source=share&igsh=`;
const NAME = "Instagram Followers, 30 days of refill";

/** Orders 1 to 6 of anna for two services, the first of them of provider acme. */
function market() {
  const folder = freshFolder();
  const database = freshDatabase(join(folder, "data"));
  database.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/api",
    key: "secret-of-acme",
  });
  const keys = ["anna", "bert"].map((user) => {
    database.user(user, "1000");
    const keyId = database.key(user, "order").id;
    const [row] = database.query("SELECT account FROM users WHERE username = ?", user);
    return { keyId, resellerAccount: Number(row!["account"]) };
  });
  const provided = database.service({
    name: NAME,
    provider: { name: "acme", service: "7" },
    min: 1,
  });
  const manual = database.service({ name: "Likes", min: 1 });
  for (const [number, service] of [provided, manual, manual, manual, manual].entries()) {
    const order = { service, link: LINK + number, quantity: 1000, reference: `ref-${number}` };
    database.run("placeOrder", { ...keys[0]!, ...order });
  }
  database.run("placeOrder", { ...keys[1]!, service: manual, link: "bert", quantity: 10 });
  database.run("settleOrder", { id: unknownOrder(database), providerOrder: "23501" });
  database.connection.sqlite.close();
  return { folder, provided };
}

/** Order 1, sent, and then nobody knows. */
function unknownOrder(database: TestDatabase): string {
  database.attempt(1, { outcome: "unknown", cause: "reset" });
  return "1";
}

const { folder, provided } = market();

/** What a command shows on a terminal of that many columns. */
function shown(columns: number, command: string): string {
  const script = `stty cols ${columns} rows 60; ${BINARY} ${command}`;
  const { stdout } = Bun.spawnSync(["script", "-qec", script, "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "xterm" },
  });
  return stdout.toString().replaceAll("\r\n", "\n");
}

const widest = (text: string) =>
  Math.max(...text.split("\n").map((line) => (line.includes(LINK) ? 0 : line.length)));

test("order list fits 80 columns with every link whole on a line of its own", () => {
  const text = shown(80, "admin order list");
  const [heading, below, order, link] = text.split("\n");
  expect(heading).toMatch(/^ORDER  STATUS +USER  SERVICE +QUANTITY  CHARGE USD  AGE$/);
  expect(below).toBe("  LINK");
  expect(order).toMatch(/^ +6  PROCESSING  bert  Likes +10 +0\.0232 +\d+[smhd]$/);
  expect(link).toBe("  bert");
  for (let number = 0; number < 5; number++) expect(text).toContain(`  ${LINK}${number}\n`);
  expect(text.replace(/\s+/g, " ")).toContain("Instagram Followers,");
  expect(widest(text)).toBeLessThanOrEqual(80);
});

test("order list on 140 columns, with all columns, with some, and to a pipe", async () => {
  expect(widest(shown(140, "admin order list"))).toBeLessThanOrEqual(140);
  const wide = shown(140, "admin order list --wide --id 1");
  for (const cell of [
    "PROVIDER ORDER   23501",
    "REFERENCE        ref-0",
    `LINK             ${LINK}0`,
  ]) {
    expect(wide).toContain(cell);
  }
  expect(shown(80, "admin order list --columns link,order,provider --id 1").split("\n")).toEqual([
    expect.stringMatching(/^LINK +ORDER +PROVIDER$|^LINK {6}/),
    ...Array(2).fill(expect.anything()),
    "",
  ]);
  const piped = (
    await binary(folder, ..."admin order list --columns order,charge-usd,link".split(" "))
  ).stdout;
  expect(piped.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^ORDER {2}CHARGE USD {2}LINK$/),
    "    6      0.0232  bert",
  ]);
  expect(
    await binary(folder, ..."admin order list --columns order,colour".split(" ")),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^error: --columns must be some of order, status, .*link, not "order,colour"/,
    ),
  });
  expect((await binary(folder, ..."admin order list --wide --columns order".split(" "))).code).toBe(
    2,
  );
});

test.each([
  ["--link INSTAGRAM.com", [5, 4, 3, 2, 1]],
  ["--link ert", [6]],
  ["--reference ref-2", [3]],
  ["--provider acme", [1]],
  ["--provider ACME --status PROCESSING", [1]],
  ["--provider-order 23501", [1]],
  ["--provider-order 23502", []],
  ["--user bert", [6]],
  ["--user anna --limit 2", [5, 4]],
  ["--user anna --limit 2 --cursor 4", [3, 2]],
  ["--from 1h", [6, 5, 4, 3, 2, 1]],
  ["--from 2026-01-01 --to 2026-01-02", []],
  ["--to 1h", []],
  ["--placement placed", [1]],
  ["--unknown", []],
  ["--id 2,5", [5, 2]],
])("order list %s", async (filters, expected) => {
  const rows: Body[] = await binaryJson(folder, "admin", "order", "list", ...filters.split(" "));
  expect(rows.map(({ orderId }) => orderId)).toEqual(expected);
});

test("order list --service", async () => {
  const rows: Body[] = await binaryJson(folder, "admin", "order", "list", "--service", provided);
  expect(rows.map(({ orderId }) => orderId)).toEqual([1]);
});

test("order show cuts nothing on a terminal of 40 columns", async () => {
  const note = "asked by mail, and by telephone, whether it could not be sooner ".repeat(5).trim();
  expect((await binary(folder, "admin", "order", "note", "1", note)).code).toBe(0);
  const text = shown(40, "admin order show 1").replace(/\s+/g, " ");
  expect(text).toContain(`${LINK}0`);
  expect(text).toContain(note);
  expect(text).not.toContain("…");
});

test("several orders are changed independently; each result is printed, and one refusal makes exit 1", async () => {
  const change = (command: string) =>
    binary(folder, ..."admin order".split(" "), ...command.split(" "));
  const both = await change("complete 2,3 3 --json");
  expect(both).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(both.stdout)).toMatchObject([
    { id: "2", done: true, order: { orderId: 2, status: "COMPLETED" } },
    { id: "3", done: true, order: { orderId: 3, status: "COMPLETED" } },
  ]);
  const some = await change("cancel 3 4 99 --json");
  expect(some.code).toBe(1);
  expect(JSON.parse(some.stdout)).toMatchObject([
    { id: "3", done: false, code: "order_transition_illegal" },
    { id: "4", done: true, order: { orderId: 4, status: "CANCELLED", refunded: 2.32 } },
    { id: "99", done: false, code: "order_not_found" },
  ]);
  expect(JSON.parse(some.stderr)).toMatchObject({ code: "orders_not_changed" });
  const told = await change("refund 2 4");
  expect(told.code).toBe(1);
  expect(told.stdout).toMatch(/^ +2  yes   REFUNDED +2\.32 +2\.32  -$/m);
  expect(told.stdout).toMatch(/^ +4  no    - +- +-  CANCELLED cannot become REFUNDED: see /m);
  expect(told.stderr).toBe("error: 1 of 2 orders were not changed, see above; the others were\n");
  // The same again does nothing twice.
  expect((await change("refund 2 4")).stderr).toStartWith("error: 2 of 2 orders were not changed");
  const partial = await change("partial 5 6 --remains 5 --json");
  expect(JSON.parse(partial.stdout)).toMatchObject([
    { done: true, order: { orderId: 5, status: "PARTIAL", remains: 5 } },
    { done: true, order: { orderId: 6, status: "PARTIAL", remains: 5 } },
  ]);
  // One alone is told as it always was.
  expect(await change("refund 5 --json")).toMatchObject({ code: 0 });
  expect(await binaryJson(folder, "verify")).toMatchObject({ ok: true });
});
