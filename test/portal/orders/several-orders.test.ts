// Several orders at once in the portal: every error is shown by its line, and all orders of a form are placed once or not
// at all.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listTransfersOfOrder } from "../../../src/db/ledger/transactions.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [buyer, spaniard, buyerId] = ["", "", ""];

beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "100");
  buyerId = portal.member("alice", "buyer@alice.example", "buyer");
  buyer = portal.session(buyerId);
  spaniard = portal.session(portal.member("alice", "es@alice.example", "owner", "es"));
  // Numbers 1 to 5.
  portal.service({ id: "followers", name: "Followers", price: "2" });
  portal.service({ id: "comments", name: "Comments", type: "custom_comments", price: "10" });
  portal.service({ id: "hidden", private: true });
  portal.service({ id: "package", name: "Package", type: "package", price: "5", per: "order" });
  portal.service({ id: "dear", name: "Dear", price: "60" });
});
afterAll(() => portal.stop());

const RIGHT =
  "1 | https://example.com/a | 1000\r\n\r\n4|https://example.com/b\n1|https://example.com/c|500";
const orders = () => portal.query("SELECT * FROM orders").length;
/** The form that places the orders which the page shows. */
const placing = (text: string) =>
  hiddenFields(/<form[^>]*id="new-orders-place".*?<\/form>/s.exec(text)![0]);
const check = (lines: string, cookie = buyer) => portal.post("/new-orders", cookie, { lines });

test("what each order costs, the total and the balance after it are shown before anything is placed", async () => {
  const before = portal.fingerprint();
  const { status, text } = await check(RIGHT);
  expect(status).toBe(200);
  for (const shown of ["$2.00", "$5.00", "$1.00", "<strong>$8.00</strong>", "$92.00"]) {
    expect(text).toContain(shown);
  }
  expect(text).toContain("Place 3 orders for $8.00");
  expect(portal.fingerprint()).toBe(before);
});

test("a form that is sent five times at once, and again later, places its orders once", async () => {
  const form = placing((await check(RIGHT)).text);
  const before = [orders(), portal.balance("alice")] as const;
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => portal.post("/new-orders", buyer, form)),
  );
  replies.push(await portal.post("/new-orders", buyer, form));
  expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(303));
  expect(orders()).toBe(before[0] + 3);
  expect(portal.balance("alice")).toBe(before[1] - 8_000_000);
  const [last] = portal.query("SELECT max(order_id) AS id FROM orders");
  const [charge] = portal.read((reader) => listTransfersOfOrder(reader, Number(last!["id"])));
  expect(charge!.actor).toEqual({ keyId: null, operator: memberAuthor(buyerId) });
  const changed = await portal.post("/new-orders", buyer, { ...form, total: "1" });
  expect([changed.status, changed.text.includes("sent before with other values")]).toEqual([
    422,
    true,
  ]);
});

const WRONG: [line: string, error: string][] = [
  ["1 https://example.com/a 100", "Escriba: número del servicio"],
  ["1|https://example.com/a|100|x", "Escriba: número del servicio"],
  ["77|https://example.com/a|100", "Este servicio ya no está disponible"],
  ["3|https://example.com/a|100", "Este servicio ya no está disponible"],
  ["1||100", "Enlace: Esto no es válido"],
  ["1|https://example.com/a|x", "Cantidad: Esto no es válido"],
  ["1|https://example.com/a|3", "Cantidad: Como mínimo 10"],
  ["1|https://example.com/a", "Cantidad: Rellene este campo"],
  ["2|https://example.com/a|100", "Este servicio necesita más datos"],
];

test.each(WRONG)(
  "the line %p is refused in the member's language, and nothing is placed",
  async (line, error) => {
    const before = portal.fingerprint();
    const lines = `1|https://example.com/a|100\n${line}`;
    const { status, text } = await check(lines, spaniard);
    expect(status).toBe(422);
    expect(text).toMatch(new RegExp(`>2</td>(?:(?!</tr>).)*<strong class="error">${error}`, "s"));
    // Nothing that was typed is lost.
    expect(text).toContain(`\n${lines}</textarea>`);
    expect(text).toContain("Hacer solo el 1 pedido correcto");
    expect(portal.fingerprint()).toBe(before);
  },
);

test("the right ones are placed only when the member says so, and the wrong ones never", async () => {
  const { text } = await check("1|https://example.com/a|100\nnonsense\n4|https://example.com/b");
  const before = [orders(), portal.balance("alice")] as const;
  const { headers } = await portal.post("/new-orders", buyer, placing(text));
  expect(headers.get("location")).toBe("/orders");
  expect([orders(), portal.balance("alice")]).toEqual([before[0] + 2, before[1] - 5_200_000]);
});

test("a token does not place lines that are wrong", async () => {
  const form = placing((await check(RIGHT)).text);
  const before = portal.fingerprint();
  const forged = await portal.post("/new-orders", buyer, { ...form, lines: `${form["lines"]}\nx` });
  expect([forged.status, portal.fingerprint()]).toEqual([422, before]);
});

test("orders beyond the balance are refused from the line on that exceeds it", async () => {
  const { status, text } = await check(
    "5|https://example.com/a|1000\n5|https://example.com/b|1000",
  );
  expect(status).toBe(422);
  expect(text).toContain("Place only the 1 right order for $60.00");
  expect(text).toMatch(/>2<\/td>(?:(?!<\/tr>).)*Your balance is too low/s);
});

test("no order of a form is placed if one of them can no longer be, or has another price", async () => {
  const form = placing((await check(RIGHT)).text);
  portal.run("updateService", { id: "package", changes: { priceMicros: 6_000_000 } });
  const before = portal.fingerprint();
  const { status, text } = await portal.post("/new-orders", buyer, form);
  expect([status, text.includes("The price has changed")]).toEqual([422, true]);
  expect(portal.fingerprint()).toBe(before);
  portal.run("setServiceActive", { id: "package", active: false });
  const off = portal.fingerprint();
  const refused = await portal.post("/new-orders", buyer, form);
  expect([refused.status, refused.text.includes("no longer available")]).toEqual([422, true]);
  expect(portal.fingerprint()).toBe(off);
});

test("a limit of the reseller that a later order of a form exceeds refuses all of them", async () => {
  const lines = Array.from({ length: 5 }, () => "1|https://example.com/a|100").join("\n");
  for (const limits of [
    { ordersPerMinute: 20, openOrders: orders() + 3 },
    { ordersPerMinute: 20, spendPerDayMicros: 100 },
  ]) {
    const form = placing((await check(lines)).text);
    portal.run("setLimits", { username: "alice", changes: limits });
    const before = portal.fingerprint();
    expect((await portal.post("/new-orders", buyer, form)).status).toBe(422);
    expect(portal.fingerprint()).toBe(before);
    const none = { ordersPerMinute: null, openOrders: null, spendPerDayMicros: null };
    portal.run("setLimits", { username: "alice", changes: none });
  }
});

test("more lines than a batch holds are refused as a whole, and so are none", async () => {
  const { status, text } = await check(Array(101).fill("1|https://example.com/a|100").join("\n"));
  expect([status, text.includes("Enter at most 100 orders")]).toEqual([422, true]);
  const none = await check(" \n ");
  expect([none.status, none.text.includes("Fill in this field")]).toEqual([422, true]);
});
