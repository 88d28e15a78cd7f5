// Placing orders in the portal: what they cost is shown before anything is placed, and a form places one order.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { listTransfersOfOrder } from "../../../src/db/ledger/transactions.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let [buyer, owner, spaniard] = ["", "", ""];
let buyerId = "";

beforeAll(async () => {
  portal = await openPortal();
  portal.user("alice", "100");
  buyerId = portal.member("alice", "buyer@alice.example", "buyer");
  buyer = portal.session(buyerId);
  owner = portal.session(portal.member("alice", "owner@alice.example"));
  spaniard = portal.session(portal.member("alice", "es@alice.example", "owner", "es"));
  // Numbers 1, 2 and 3.
  portal.service({ id: "followers", price: "2.32", cancel: true });
  portal.service({ id: "comments", name: "Comments", type: "custom_comments", price: "10" });
  portal.service({ id: "hidden", private: true });
});
afterAll(() => portal.stop());

const ASKED = { link: "https://example.com/a", quantity: "1000" };
const orders = () => portal.query("SELECT * FROM orders").length;

test("the charge and the balance after it are shown before anything is placed", async () => {
  const before = portal.fingerprint();
  const { status, text } = await portal.post("/new-order/1", buyer, ASKED);
  expect(status).toBe(200);
  expect(text).toContain("<strong>$2.32</strong>");
  expect(text).toContain("$97.68");
  expect(text).toContain("Place the order for $2.32");
  expect(portal.fingerprint()).toBe(before);
});

test("a form that is sent five times at once, and again later, places one order", async () => {
  const { text } = await portal.post("/new-order/1", buyer, ASKED);
  const form = hiddenFields(text);
  const before = [orders(), portal.balance("alice")] as const;
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => portal.post("/new-order/1", buyer, form)),
  );
  const again = await portal.post("/new-order/1", buyer, form);
  expect(orders()).toBe(before[0] + 1);
  expect(portal.balance("alice")).toBe(before[1] - 2_320_000);
  const paths = [...replies, again].map(({ headers }) => headers.get("location"));
  expect(new Set(paths).size).toBe(1);
  const { text: order } = await portal.get(paths[0]!, buyer);
  expect(order).toContain("$2.32");
  // What a member does is written with who did it.
  const orderId = Number(paths[0]!.split("/").at(-1));
  const [charge] = portal.read((reader) => listTransfersOfOrder(reader, orderId));
  expect(charge!.actor).toEqual({ keyId: null, operator: memberAuthor(buyerId) });
  expect(order).toContain("buyer");
});

test("a form with other values than it was sent with before is refused", async () => {
  const { text } = await portal.post("/new-order/1", buyer, ASKED);
  const form = hiddenFields(text);
  await portal.post("/new-order/1", buyer, form);
  const before = portal.fingerprint();
  const changed = await portal.post("/new-order/1", buyer, { ...form, link: "https://x.example/" });
  expect(changed.status).toBe(422);
  expect(changed.text).toContain("This form was sent before with other values");
  expect(portal.fingerprint()).toBe(before);
});

test("an order whose price changed since it was shown is not placed", async () => {
  const { text } = await portal.post("/new-order/1", buyer, ASKED);
  const form = hiddenFields(text);
  const before = portal.fingerprint();
  for (const charge of ["1", ""]) {
    const forged = await portal.post("/new-order/1", buyer, { ...form, charge });
    expect(forged.status).toBe(422);
    expect(forged.text).toContain("The price has changed");
    // Nothing that was typed is lost.
    expect(forged.text).toContain('value="https://example.com/a"');
  }
  expect((await portal.post("/new-order/1", buyer, { ...form, charge: "x" })).status).toBe(422);
  expect(portal.fingerprint()).toBe(before);
});

test("refusals are beside their field, in the member's language, with what was typed", async () => {
  const wrong = { link: "https://example.com/a", quantity: "3" };
  const { status, text } = await portal.post("/new-order/1", spaniard, wrong);
  expect(status).toBe(422);
  expect(text).toMatch(/id="new-order-1-quantity-error">Como mínimo 10</);
  expect(text).toContain('value="3"');
  const empty = await portal.post("/new-order/1", spaniard, { link: "", quantity: "x" });
  expect(empty.text).toMatch(/id="new-order-1-link-error">Rellene este campo</);
  expect(empty.text).toMatch(/id="new-order-1-quantity-error">Introduzca un número entero/);
  const comments = await portal.post("/new-order/2", spaniard, { link: "x", comments: "" });
  expect(comments.text).toMatch(/id="new-order-2-comments-error">Rellene este campo</);
  const poor = await portal.post("/new-order/2", spaniard, {
    link: "x",
    comments: Array(10_000).fill("a").join("\n"),
  });
  expect(poor.text).toContain("Su saldo no alcanza");
});

test("a service of a type asks for its fields", async () => {
  const { text } = await portal.post("/new-order/2", owner, {
    link: "https://example.com/p",
    comments: Array(10).fill("nice").join("\r\n"),
  });
  expect(text).toContain("<strong>$0.10</strong>");
  const placed = await portal.post("/new-order/2", owner, hiddenFields(text));
  expect(placed.status).toBe(303);
});

test("a private service, and none, are the same 404", async () => {
  const [hidden, none] = [
    await portal.get("/new-order/3", buyer),
    await portal.get("/new-order/77", buyer),
  ];
  expect([hidden.status, none.status]).toEqual([404, 404]);
  expect(hidden.text).toBe(none.text);
});

test("services are found by words and category", async () => {
  const { text } = await portal.get("/new-order?q=FOLLOW", buyer);
  expect(text).toContain("/new-order/1");
  expect(text).not.toContain("/new-order/2");
  const none = await portal.get("/new-order?q=nothing+like+it", buyer);
  expect(none.text).toContain("No service matches.");
});

test("a member cancels an order where the service allows it, and sees it happen", async () => {
  const { text } = await portal.post("/new-order/1", buyer, ASKED);
  const { headers } = await portal.post("/new-order/1", buyer, hiddenFields(text));
  const path = headers.get("location")!;
  const asked = await portal.post(`${path}/cancel`, buyer);
  expect(asked.status).toBe(303);
  const { text: page } = await portal.get(path, buyer);
  expect(page).toContain("Cancellation was asked for");
  expect(page).not.toContain(`action="${path}/cancel"`);
  const again = await portal.post(`${path}/cancel`, buyer);
  expect([again.status, again.text.includes("already open")]).toEqual([422, true]);
  const refill = await portal.post(`${path}/refill`, buyer);
  expect([refill.status, refill.text.includes("cannot be refilled")]).toEqual([422, true]);
});

test("limits of the reseller hold for its members", async () => {
  portal.run("setLimits", { username: "alice", changes: { ordersPerMinute: 1 } });
  const place = async () => {
    const { text } = await portal.post("/new-order/1", buyer, ASKED);
    return portal.post("/new-order/1", buyer, hiddenFields(text));
  };
  expect((await place()).status).toBe(303);
  const second = await place();
  expect([second.status, second.text.includes("Too many orders in a minute")]).toEqual([422, true]);
  portal.run("setLimits", { username: "alice", changes: { ordersPerMinute: null } });
});

test("orders of members are in no audit entry of operators", () => {
  const entries = portal.read((reader) =>
    listAuditEntries(reader, { action: "order.place", limit: 10 }),
  );
  expect(entries).toEqual([]);
});
