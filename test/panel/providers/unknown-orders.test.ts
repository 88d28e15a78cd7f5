// The page of a provider's unknown orders: what the provider answers for, and the settlement of many orders at once.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { HOUR_MS, type Night, openNight } from "../../support/seeds/bad-night.ts";
import { hiddenFields, openPanel, shownNote, type TestPanel } from "../../support/worlds/panel.ts";

const PAGE = "/providers/acme/unknown";
const SETTLE = `${PAGE}/settle`;

let upstream: Upstream;
let night: Night<TestPanel>;
let orders: { sent: number; lost: number; one: number; other: number };
let onCommand = (_name: string) => {};

beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

/** One order that arrived as 103, one that did not, and two that only 125 fits. */
beforeEach(async () => {
  await night?.shop.stop();
  upstream.received.length = 0;
  upstream.always("status", null);
  onCommand = () => {};
  const panel = await openPanel({ onCommand: (name) => onCommand(name) });
  panel.user("alice", "10");
  night = openNight(panel, upstream);
  const begin = Date.now() - 10 * HOUR_MS;
  night.accepted(begin, 100);
  const sent = night.unknown(begin + HOUR_MS, 100, 103);
  night.accepted(begin + 2 * HOUR_MS, 110);
  const lost = night.unknown(begin + 3 * HOUR_MS, 300);
  night.accepted(begin + 4 * HOUR_MS, 120);
  const one = night.unknown(begin + 5 * HOUR_MS, 70, 125);
  const other = night.unknown(begin + 5 * HOUR_MS, 70);
  night.accepted(begin + 6 * HOUR_MS, 130);
  orders = { sent, lost, one, other };
});
afterAll(() => night.shop.stop());

/** The form as the page sends it: a choice for each order, and boxes for those that are ticked. */
function ticked(choices: Record<string, string>, boxes: readonly number[], name = "order") {
  const form = new URLSearchParams({ nearby: "50" });
  for (const [order, choice] of Object.entries(choices)) form.set(`as-${order}`, choice);
  for (const order of boxes) form.append(name, String(order));
  return form;
}

async function confirmed(form: URLSearchParams) {
  const { shop } = night;
  const asked = await shop.postForm(SETTLE, form);
  const whole = new URLSearchParams(form);
  for (const [name, value] of Object.entries(hiddenFields(asked.text))) whole.set(name, value);
  // Fields that come several times stay as they were.
  for (const name of ["order", "likely"]) {
    whole.delete(name);
    for (const value of form.getAll(name)) whole.append(name, value);
  }
  return { asked, reply: await shop.postForm(SETTLE, whole) };
}

const stateOf = (orderId: number) =>
  night.shop.query(
    "SELECT status, placement, provider_order AS number FROM orders WHERE order_id = ?",
    orderId,
  )[0];

describe("the page", () => {
  test("lists the unknown orders without asking the provider, and Today and the provider's page lead to it", async () => {
    const { shop } = night;
    const { status, text } = await shop.get(PAGE);
    expect(status).toBe(200);
    for (const id of Object.values(orders)) expect(text).toContain(`href="/orders/${id}"`);
    expect(text.split("<main")[1]).not.toContain('type="checkbox"');
    expect(upstream.received).toEqual([]);
    for (const path of ["/", "/providers", "/providers/acme"]) {
      expect((await shop.get(path)).text).toContain(`href="${PAGE}"`);
    }
  });

  test("shows the evidence after the provider was asked, with nothing ticked, and changes nothing", async () => {
    const { shop } = night;
    const before = shop.fingerprint();
    const { status, text } = await shop.post(PAGE, { nearby: "50" });
    expect(status).toBe(200);
    expect(text).toContain("1 likely sent");
    expect(text).toContain("1 likely not sent");
    expect(text).toContain("2 unclear");
    expect(text).toContain("103 is Pending, charge 0.27819 USD, remains 100");
    expect(text).not.toContain("checked");
    expect(text).toContain(`name="likely" value="${orders.sent}"`);
    expect(text).toContain(`name="likely" value="${orders.lost}"`);
    expect(text).toContain(`name="order" value="${orders.one}"`);
    const optionsOf = (id: number) =>
      /<select.*?<\/select>/s.exec(text.slice(text.indexOf(`<select name="as-${id}"`)))![0];
    expect(optionsOf(orders.sent)).toContain('<option value="sent-103" selected>');
    expect(optionsOf(orders.lost)).toContain('<option value="not-sent" selected>');
    expect(optionsOf(orders.one)).toContain("<option value selected>");
    expect(optionsOf(orders.one)).toContain('<option value="sent-125">');
    expect(shop.fingerprint()).toBe(before);
    expect(new Set(upstream.received.map(({ action }) => action))).toEqual(
      new Set(["status", "balance"]),
    );
  });

  test("has no search and no form for support, who may only look", async () => {
    const { shop } = night;
    shop.administrator("sam", "support");
    const cookie = shop.session("sam");
    const { status, text } = await shop.ask(PAGE, { headers: { cookie } });
    expect(status).toBe(200);
    expect(text).not.toContain(`action="${PAGE}"`);
  });

  test("says so if the provider cannot be asked", async () => {
    upstream.always("status", { status: 429, body: "" });
    const { text } = await night.shop.post(PAGE, { nearby: "50" });
    expect(text).toContain("was not asked about all numbers");
    expect(text).toContain("4 orders: 0 likely sent, 0 likely not sent, 4 unclear");
  });
});

describe("settling", () => {
  const choices = () => ({
    [orders.sent]: "sent-103",
    [orders.lost]: "not-sent",
    [orders.one]: "",
    [orders.other]: "",
  });

  test("settles only what is ticked, after a confirmation with counts and money", async () => {
    const { shop } = night;
    const balance = shop.balance("alice");
    const form = ticked(choices(), [orders.sent, orders.lost], "likely");
    const before = shop.fingerprint();
    const asked = await shop.postForm(SETTLE, form);
    expect(asked.text).toContain("Settle 2 orders: 1 as sent, 1 as not sent");
    expect(asked.text).toContain("+1.20 USD");
    expect(shop.fingerprint()).toBe(before);
    const { reply } = await confirmed(form);
    expect([reply.status, reply.headers.get("location")]).toEqual([303, PAGE]);
    expect(stateOf(orders.sent)).toEqual({
      status: "PROCESSING",
      placement: "placed",
      number: "103",
    });
    expect(stateOf(orders.lost)).toEqual({ status: "FAILED", placement: "refused", number: null });
    expect(stateOf(orders.one)).toMatchObject({ placement: "unknown" });
    expect(shop.balance("alice") - balance).toBe(1_200_000);
  });

  test("takes the operator's own choice for an unclear order", async () => {
    const form = ticked({ [orders.one]: "sent-125", [orders.other]: "not-sent" }, [
      orders.one,
      orders.other,
    ]);
    const { reply } = await confirmed(form);
    expect(shownNote(reply)).toStartWith("good 2 orders settled: 1 as sent, 1 as not sent");
    expect(stateOf(orders.one)).toMatchObject({ status: "PROCESSING", number: "125" });
    expect(stateOf(orders.other)).toMatchObject({ status: "FAILED" });
  });

  test.each([
    ["nothing is ticked", () => ticked(choices(), []), "Select at least one order"],
    ["an order has no choice", () => ticked(choices(), [orders.one]), "Choose how order"],
    [
      "two orders have one number",
      () =>
        ticked({ [orders.one]: "sent-125", [orders.other]: "sent-125" }, [
          orders.one,
          orders.other,
        ]),
      "cannot both be 125",
    ],
    [
      "the provider does not know the number",
      () => ticked({ [orders.one]: "sent-999" }, [orders.one]),
      "acme does not know 999",
    ],
    [
      "a choice is none",
      () => ticked({ [orders.one]: "sent-0 OR 1=1" }, [orders.one]),
      "Choose how order",
    ],
    [
      "an order is not unknown",
      () => ticked({ 1: "not-sent" }, [1]),
      "None of the selected orders is unknown any more",
    ],
    [
      "an order does not exist",
      () => ticked({ 99_999: "not-sent" }, [99_999]),
      "None of the selected orders is unknown any more",
    ],
  ] as const)(
    "is refused if %s, with the evidence shown again and what was ticked",
    async (_title, form, says) => {
      const before = night.shop.fingerprint();
      const sent = form();
      const { status, text } = await night.shop.postForm(SETTLE, sent);
      expect([status, text]).toEqual([422, expect.stringContaining(says)]);
      expect(text).toContain("1 likely sent");
      expect(text).toContain("Nothing was changed");
      const own = sent.getAll("order").filter((id) => text.includes(`value="${id}"`));
      const boxes = [...text.matchAll(/name="(?:likely|order)" value="(\d+)" checked/g)];
      const shown = Object.values(orders).map(String);
      expect(boxes.map(([, id]) => id!)).toEqual(own.filter((id) => shown.includes(id)));
      expect(night.shop.fingerprint()).toBe(before);
    },
  );

  test("is refused if the provider cannot be asked for the number", async () => {
    upstream.always("status", { status: 500, body: "{}" });
    const before = night.shop.fingerprint();
    const { status, text } = await night.shop.postForm(
      SETTLE,
      ticked({ [orders.sent]: "sent-103" }, [orders.sent], "likely"),
    );
    expect([status, text]).toEqual([422, expect.stringContaining("acme gave no answer about 103")]);
    expect(night.shop.fingerprint()).toBe(before);
  });

  test("leaves an order as it is that another operator settled meanwhile, and never corrects its number", async () => {
    const { shop } = night;
    const form = ticked(choices(), [orders.sent, orders.lost], "likely");
    let before = "";
    onCommand = (name) => {
      if (name !== "settleOrder" || before !== "") return;
      shop.run("settleOrder", { id: String(orders.sent), providerOrder: "777" });
      before = shop.fingerprint();
    };
    const { reply } = await confirmed(form);
    onCommand = () => {};
    expect(reply.status).toBe(303);
    expect(shownNote(reply)).toStartWith("busy 1 order settled: 0 as sent, 1 as not sent");
    expect(stateOf(orders.sent)).toMatchObject({ status: "PROCESSING", number: "777" });
    expect(stateOf(orders.lost)).toMatchObject({ status: "FAILED" });
    const again = await shop.postForm(SETTLE, form);
    expect(again.text).toContain("None of the selected orders is unknown any more");
  });

  test("says in red that none was settled", async () => {
    onCommand = () => {
      onCommand = () => {};
      night.shop.run("settleOrder", { id: String(orders.sent), providerOrder: "777" });
    };
    const { reply } = await confirmed(ticked(choices(), [orders.sent], "likely"));
    expect(shownNote(reply)).toStartWith("bad 0 orders settled");
  });

  test("by two operators at once settles each order once", async () => {
    const { shop } = night;
    const form = ticked(choices(), [orders.sent, orders.lost], "likely");
    const balance = shop.balance("alice");
    await Promise.all([confirmed(form), confirmed(form)]);
    expect(stateOf(orders.sent)).toMatchObject({ status: "PROCESSING", number: "103" });
    expect(shop.balance("alice") - balance).toBe(1_200_000);
    const events = shop.query("SELECT 1 FROM order_events WHERE note LIKE 'settled:%'");
    expect(events.length).toBe(2);
  });

  test("settles 200 orders with one form", async () => {
    const { shop } = night;
    const at = Date.now() - 3 * HOUR_MS;
    const lost = Array.from({ length: 200 }, (_, index) => night.unknown(at + index, 10));
    night.accepted(Date.now() - HOUR_MS, 140);
    const balance = shop.balance("alice");
    const form = ticked(Object.fromEntries(lost.map((id) => [id, "not-sent"])), lost, "likely");
    const { asked, reply } = await confirmed(form);
    expect(asked.text).toContain("Settle 200 orders: 0 as sent, 200 as not sent");
    expect(reply.status).toBe(303);
    expect(shop.balance("alice") - balance).toBe(200 * 40_000);
    expect(stateOf(lost[199]!)).toMatchObject({ status: "FAILED" });
  });
});
