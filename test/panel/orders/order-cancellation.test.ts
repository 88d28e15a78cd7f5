// Ending an order that a provider delivers: the page says so, and the provider is asked to cancel it where it can be.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { hiddenFields, openPanel, shownNote } from "../../support/worlds/panel.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let market: PanelMarket;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  market = seedPanelMarket(await openPanel({ role: "operator" }));
  const changes = { url: upstream.url, key: PROVIDER_KEY };
  market.run("updateProvider", { name: "acme", changes });
});
afterAll(async () => {
  await market.stop();
  await upstream.stop();
});
beforeEach(() => {
  market.run("updateService", { id: "likes", changes: { cancel: true } });
  upstream.always("cancel", null);
});

let last = 900;
/** An order that the provider delivers, or is not known to. */
function placed(state: "placed" | "unknown" = "placed") {
  const providerOrder = String((last += 1));
  upstream.book.set(providerOrder, { form: {}, status: {} });
  const id = market.delivered(state === "placed" ? { placed: providerOrder } : state);
  return { id, providerOrder, path: `/orders/${id}/change` };
}
const cancels = () => upstream.received.filter(({ action }) => action === "cancel");
const noteOf = (id: number) =>
  market.query<{ note: string | null }>(
    "SELECT note FROM order_events WHERE order_id = ? ORDER BY seq DESC LIMIT 1",
    id,
  )[0]!.note;
const CANCEL = { to: "CANCELLED" };

test("a cancellation names who delivers the order, asks there once, and then refunds the amount shown", async () => {
  const { id, providerOrder, path } = placed();
  const before = [cancels().length, market.balance("alice")] as const;
  const { status, asked } = await market.confirm(path, { ...CANCEL, note: "by mail" });
  expect(asked).toContain(`acme delivers it as number ${providerOrder}.`);
  expect(asked).toContain("unless it agrees, nothing is changed here");
  expect([status, market.status(id)]).toEqual([303, "CANCELLED"]);
  expect(cancels().slice(before[0])).toEqual([
    { key: PROVIDER_KEY, action: "cancel", orders: providerOrder },
  ]);
  expect(market.balance("alice")).toBe(before[1] + 100_000);
  expect(noteOf(id)).toBe("by mail; acme was asked to cancel it and agreed");
});

test.each([
  ["says no", json({ error: "Order cannot be canceled" }), "acme does not cancel it"],
  ["fails", { status: 500, body: "oops" }, "It is not known whether acme cancels it"],
  ["has too much to do", { status: 429, body: "" }, "acme could not be asked to cancel it"],
] as const)(
  "nothing changes when the provider %s, unless the operator chose not to ask",
  async (_, reply, why) => {
    upstream.always("cancel", reply);
    const { id, path } = placed();
    const before = [cancels().length, market.balance("alice")] as const;
    const asked = await market.post(path, CANCEL);
    const refused = await market.post(path, { ...CANCEL, ...hiddenFields(asked.text) });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(why)]);
    expect([market.status(id), market.balance("alice")]).toEqual(["PROCESSING", before[1]]);
    expect(cancels().length).toBe(before[0] + 1);
    const again = await market.post(path, CANCEL);
    const fields = { ...CANCEL, ...hiddenFields(again.text), unasked: "yes" };
    expect((await market.post(path, fields)).status).toBe(303);
    expect([market.status(id), market.balance("alice")]).toEqual([
      "CANCELLED",
      before[1] + 100_000,
    ]);
    expect(cancels().length).toBe(before[0] + 1);
  },
);

test("a cancellation that is refused anyway is refused before the provider is asked", async () => {
  market.run("grantService", { id: "likes", username: "alice", priceMicros: 0 });
  const { id, path } = placed();
  market.run("revokeService", { id: "likes", username: "alice" });
  const before = cancels().length;
  // It was free: without a refund the user would never see the note.
  const fields = { ...CANCEL, "public-note": "sorry" };
  const asked = await market.post(path, fields);
  const refused = await market.post(path, { ...fields, ...hiddenFields(asked.text) });
  expect(refused.status).toBe(422);
  expect([market.status(id), cancels().length]).toEqual(["PROCESSING", before]);
});

test("if it cannot be asked, or for another final status, the page says that the provider continues", async () => {
  market.run("updateService", { id: "likes", changes: { cancel: false } });
  const before = cancels().length;
  for (const to of ["CANCELLED", "FAILED"]) {
    const { id, path } = placed();
    const { status, asked } = await market.confirm(path, { to });
    expect(asked).toContain(
      "acme is not told, and may still deliver and charge it. Cancel it there as well.",
    );
    expect([status, market.status(id)]).toEqual([303, to]);
  }
  const early = placed();
  const { asked } = await market.confirm(`/orders/${early.id}/partial`, { remains: "50" });
  expect(asked).toContain("acme is not told");
  const unknown = placed("unknown");
  const shown = await market.post(unknown.path, CANCEL);
  expect(shown.text).toContain("It is not known whether acme has it");
  const { path } = { path: `/orders/${market.order()}/change` };
  expect((await market.post(path, CANCEL)).text).not.toContain("delivers it");
  expect(cancels().length).toBe(before);
});

test("a request of the reseller that was sent is not sent again", async () => {
  const { id, path } = placed();
  const [key] = market.query<{ id: string; account: number }>(
    "SELECT keys.id, reseller_account AS account FROM keys JOIN users ON account = reseller_account WHERE username = 'alice'",
  );
  const asker = { resellerAccount: Number(key!.account), keyId: key!.id };
  const { requestId } = market.run("makeRequest", { ...asker, kind: "cancel", id: String(id) });
  market.run("startRequest", { requestId, providerId: 1, server: "test", placeRetryMs: 1000 });
  const before = cancels().length;
  const { status, asked } = await market.confirm(path, CANCEL);
  expect(asked).toContain("acme has been asked to cancel it");
  expect([status, market.status(id), cancels().length]).toEqual([303, "CANCELLED", before]);
});

test("several together, of which none can be cancelled: the list says which and why, with its filters", async () => {
  const refused = [placed(), placed()];
  for (const { providerOrder } of refused) upstream.book.delete(providerOrder);
  const body = new URLSearchParams({ ...CANCEL, query: "status=PROCESSING" });
  for (const { id } of refused) body.append("order", String(id));
  const { status, asked, text } = await market.confirm("/orders/change", body);
  expect(asked).toContain("Charges of the selected orders: 0.20 USD.");
  const [first, second] = refused.map(({ id }) => id);
  expect(status).toBe(422);
  expect(text).toContain(`orders ${first}, ${second}: acme does not cancel it`);
  expect(text).toMatch(/aria-current="true">Processing/);
  expect(refused.map(({ id }) => market.status(id))).toEqual(["PROCESSING", "PROCESSING"]);
});

test("several together that have ended: the list says which and why before anything is asked", async () => {
  const ended = [market.order(), market.order()];
  for (const id of ended) {
    const operator = { actor: { keyId: null, operator: "panel:tester" } };
    market.run("transitionOrder", { id: String(id), to: "COMPLETED", note: null, ...operator });
  }
  const body = new URLSearchParams(CANCEL);
  for (const id of ended) body.append("order", String(id));
  const { status, text } = await market.postForm("/orders/change", body);
  expect(status).toBe(422);
  expect(text).toMatch(new RegExp(`orders ${ended.join(", ")}: [A-Z]`));
});

test("several together: those that the provider agrees to are cancelled, the others are named", async () => {
  const [first, second, byHand] = [placed(), placed(), market.order()];
  upstream.book.delete(second.providerOrder);
  const body = new URLSearchParams(CANCEL);
  for (const id of [first.id, second.id, byHand]) body.append("order", String(id));
  const asked = await market.postForm("/orders/change", body);
  expect(asked.text).toContain(`acme delivers it as number ${first.providerOrder}.`);
  for (const [name, value] of Object.entries(hiddenFields(asked.text))) {
    if (name !== "order" && name !== "to") body.append(name, value);
  }
  const done = await market.postForm("/orders/change", body);
  expect(done.status).toBe(303);
  expect(shownNote(done)).toContain(
    `busy Cancel: 2 of 3 orders were changed. Not order ${second.id}: acme does not cancel it`,
  );
  expect([first.id, second.id, byHand].map((id) => market.status(id))).toEqual([
    "CANCELLED",
    "PROCESSING",
    "CANCELLED",
  ]);
});
