// The pages Orders and Order: lists, and every change with its preview, its refusals and its author.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { stateText } from "../../../src/web/components/shown.tsx";
import { hiddenFields, openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

const numbersIn = (html: string) =>
  [...html.matchAll(/data-label="Order"><a href="\/orders\/(\d+)"/g)].map(([, id]) => Number(id));

describe("the list", () => {
  test("has the filters of the query string, and its CSV holds the same orders", async () => {
    const [first, second, third] = [
      market.order({ link: "https://example.com/first" }),
      market.order({ user: "bob", link: "https://example.com/second" }),
      market.delivered("unknown"),
    ] as const;
    const filters: [string, number[]][] = [
      ["user=bob", [second]],
      [`ids=${first}+${second}`, [second, first]],
      ["link=/FIRST", [first]],
      ["provider=acme&placement=unknown", [third]],
      ["service=likes", [third]],
      ["status=PROCESSING", [second, first]],
      ["from=2020-01-01&to=2020-01-02", []],
    ];
    for (const [query, expected] of filters) {
      const { status, text } = await market.get(`/orders?${query}`);
      expect([query, status, numbersIn(text)]).toEqual([query, 200, expected]);
      const csv = await market.get(`/orders.csv?${query}`);
      const numbers = csv.text.trim().split("\r\n").slice(1);
      expect(numbers.map((line) => Number(line.split(",")[0]))).toEqual(expected);
    }
  });

  test("shows the error beside a wrong filter and lists nothing", async () => {
    const { text } = await market.get("/orders?user=nobody&ids=x!");
    expect(text).toContain("Not found");
    expect(text).toContain("ids must be order numbers or ids, separated by spaces");
    expect(numbersIn(text)).toEqual([]);
    const csv = await market.get("/orders.csv?user=nobody");
    expect(csv.headers.get("content-type")).toContain("text/html");
  });

  test("pages by cursor, and the filters stay", async () => {
    for (let each = 0; each < 60; each++) market.order({ link: "https://example.com/many" });
    const first = await market.get("/orders?link=many");
    const [, next] = /href="([^"]*)" rel="next"/.exec(first.text)!;
    const second = await market.get(next!.replaceAll("&amp;", "&"));
    const all = [...numbersIn(first.text), ...numbersIn(second.text)];
    expect(all.length).toBe(60);
    expect(all).toEqual([...new Set(all)].toSorted((a, b) => b - a));
  });

  test("callers' text is shown as text: no script address becomes a link, and hidden characters are visible", async () => {
    const id = market.order({ link: "javascript:alert(1)//\u202etxt.exe" });
    const { text } = await market.get(`/orders?ids=${id}`);
    expect(text).toContain("javascript:alert(1)//&lt;U+202E>txt.exe");
    expect(text).not.toContain('href="javascript');
    market.run("updateService", { id: "likes", changes: { name: "Likes\u202egpj" } });
    const { text: filtered } = await market.get("/orders?user=\u202enobody&status=\u200b");
    expect(filtered).toContain("&lt;U+202E>gpj");
    expect(filtered.match(/>[^<]*[\u202e\u200b]/)).toBeNull();
    market.run("updateService", { id: "likes", changes: { name: "Likes" } });
    const shown = await market.get(`/orders/${market.order({ link: "https://example.com/a" })}`);
    expect(shown.text).toContain(
      '<a href="https://example.com/a" rel="noopener noreferrer" target="_blank">',
    );
  });
});

describe("several orders", () => {
  const post = (ids: number[], to: string, more: Record<string, string> = {}) => {
    const fields = new URLSearchParams({ to, ...more });
    for (const id of ids) fields.append("order", String(id));
    return market.postForm("/orders/change", fields);
  };

  test("are cancelled after a preview of each refund; orders that cannot change are named and left", async () => {
    const [mine, his, done] = [
      market.order(),
      market.order({ user: "bob", quantity: 1000 }),
      market.order(),
    ] as const;
    market.run("transitionOrder", { id: String(done), to: "COMPLETED", note: null });
    const before = market.fingerprint();
    const asked = await post([mine, his, done], "CANCELLED", { query: "user=bob" });
    expect(asked.status).toBe(200);
    expect(asked.text).toContain("Cancel 2 orders?");
    expect(asked.text).toMatch(/alice<\/th><td class="number">\+0\.232 USD/);
    expect(asked.text).toMatch(/bob<\/th><td class="number">\+2\.32 USD/);
    expect(asked.text).toContain("COMPLETED cannot become CANCELLED");
    expect(market.fingerprint()).toBe(before);
    const { confirmed, once } = hiddenFields(asked.text);
    const confirmation = { confirmed: confirmed!, once: once! };
    const answer = await post([mine, his, done], "CANCELLED", {
      query: "user=bob",
      ...confirmation,
    });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/orders?user=bob"]);
    expect([mine, his, done].map((id) => market.status(id))).toEqual([
      "CANCELLED",
      "CANCELLED",
      "COMPLETED",
    ]);
    // Sent again, it changes nothing.
    const after = market.fingerprint();
    await post([mine, his, done], "CANCELLED", confirmation);
    expect(market.fingerprint()).toBe(after);
  });

  test("are asked for again when the amounts are no longer what was confirmed", async () => {
    const [one, two] = [market.order(), market.order()];
    const asked = await post([one!, two!], "CANCELLED");
    const { confirmed, once } = hiddenFields(asked.text);
    market.run("transitionOrder", { id: String(one), to: "CANCELLED", note: null });
    const again = await post([one!, two!], "CANCELLED", { confirmed: confirmed!, once: once! });
    expect(again.text).toContain("Cancel 1 order?");
    expect(market.status(two!)).toBe("PROCESSING");
  });

  test("are refunded only as confirmed: of two simultaneous confirmations one is refused", async () => {
    const id = market.order();
    const path = `/orders/${id}`;
    await market.post(`${path}/change`, { to: "COMPLETED" });
    const ask = async (action: string, fields: Record<string, string>) => {
      const { text } = await market.post(path + action, fields);
      const { confirmed, once } = hiddenFields(text);
      return () => market.post(path + action, { ...fields, confirmed: confirmed!, once: once! });
    };
    const partial = await ask("/partial", { remains: "40" });
    const full = await ask("/change", { to: "REFUNDED" });
    const replies = await Promise.all([partial(), full()]);
    const shown = replies.map(({ status }) => status);
    expect([shown, shown.filter((status) => status === 303).length]).toEqual([shown, 1]);
  });

  test("with none selected, or none that can change, get a message and nothing changes", async () => {
    const none = await post([], "CANCELLED");
    expect([none.status, none.text]).toEqual([
      422,
      expect.stringContaining("Select at least one order"),
    ]);
    const order = market.order();
    const refunded = await post([order], "REFUNDED");
    expect(refunded.status).toBe(422);
    expect(market.status(order)).toBe("PROCESSING");
  });
});

describe("one order", () => {
  test.each([
    ["CANCELLED", "0.232"],
    ["FAILED", "0.232"],
  ])("becomes %s once the refund of %s was confirmed, by panel:NAME", async (to, refund) => {
    const id = market.order();
    const { asked, status } = await market.confirm(`/orders/${id}/change`, {
      to,
      note: "as agreed",
    });
    expect(asked).toContain(`+${refund} USD`);
    expect([status, market.status(id)]).toEqual([303, to]);
    const [event] = market.query("SELECT operator, note FROM order_events WHERE order_id = ?", id);
    expect(event).toEqual({ operator: "panel:tester", note: "as agreed" });
    const { text } = await market.get(`/orders/${id}`);
    expect(text).toContain(">tester</bdi>");
    expect(text).toContain("as agreed");
    expect(text).toContain(`${stateText(to)} is final`);
  });

  test("is completed at once, and refunded after a confirmation", async () => {
    const id = market.order();
    expect((await market.post(`/orders/${id}/change`, { to: "COMPLETED" })).status).toBe(303);
    expect(market.status(id)).toBe("COMPLETED");
    await market.confirm(`/orders/${id}/change`, { to: "REFUNDED" });
    expect(market.status(id)).toBe("REFUNDED");
  });

  test("ends early with the part of the charge that the confirmation shows; too much is named beside its field", async () => {
    const id = market.order();
    const wrong = await market.post(`/orders/${id}/partial`, { remains: "101" });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("Not delivered must be at most the quantity, 100");
    expect(wrong.text).toContain('value="101"');
    const { asked } = await market.confirm(`/orders/${id}/partial`, { remains: "50" });
    expect(asked).toContain("+0.116 USD");
    expect(market.status(id)).toBe("PARTIAL");
  });

  test("gets progress and notes, which the timeline shows with their author", async () => {
    const id = market.order();
    const path = `/orders/${id}`;
    await market.post(`${path}/progress`, { "start-count": "3572", remains: "57" });
    await market.post(`${path}/note`, { text: "<i>asked the provider</i>" });
    const { text } = await market.get(path);
    expect(text).toContain("start count 3572, remains 57");
    expect(text).toContain("&lt;i>asked the provider&lt;/i>");
    expect(text).toMatch(/charged<\/strong> <span class="money">-0\.232/);
    const none = await market.post(`${path}/progress`, {});
    expect([none.status, none.text]).toEqual([
      422,
      expect.stringContaining("Enter a start count or what remains"),
    ]);
  });

  test("shows why it is stuck, and is settled either way", async () => {
    const [placed, never] = [market.delivered("unknown"), market.delivered("unknown")];
    const { text } = await market.get(`/orders/${placed}`);
    expect(text).toContain("It is not known whether acme received this order");
    expect(text).toContain("no answer within 30 s");
    const wrong = await market.post(`/orders/${placed}/settle`, {
      settlement: "placed",
      "provider-order": "x",
    });
    expect(wrong.status).toBe(422);
    await market.post(`/orders/${placed}/settle`, {
      settlement: "placed",
      "provider-order": "23501",
      unchecked: "yes",
    });
    expect(market.status(placed)).toBe("PROCESSING");
    const taken = await market.post(`/orders/${never}/settle`, {
      settlement: "placed",
      "provider-order": "23501",
      unchecked: "yes",
    });
    expect(taken.text).toContain(`Order ${placed} has that number at this provider`);
    const { asked } = await market.confirm(`/orders/${never}/settle`, { settlement: "not-placed" });
    expect(asked).toContain("+0.10 USD");
    expect(market.status(never)).toBe("FAILED");
  });

  test("that changed after its form was shown: the refusal is displayed without the form", async () => {
    const id = market.order();
    market.run("transitionOrder", { id: String(id), to: "CANCELLED", note: null });
    const { status, text } = await market.post(`/orders/${id}/change`, { to: "COMPLETED" });
    expect(status).toBe(422);
    expect(text).toContain("Nothing was changed.");
    expect(text).toContain("CANCELLED cannot become COMPLETED");
  });

  test("that does not exist is 404, for its page and for its changes", async () => {
    expect((await market.get("/orders/999999")).status).toBe(404);
    expect((await market.get("/orders/x")).status).toBe(404);
    expect((await market.post("/orders/999999/note", { text: "x" })).status).toBe(404);
  });

  test("the provider's key is in no page", async () => {
    const id = market.delivered({ placed: "777" });
    for (const path of [`/orders/${id}`, "/orders", "/"]) {
      expect((await market.get(path)).text).not.toContain("provider-key-0123456789");
    }
  });
});

test.each([
  [{ outcome: "accepted", providerOrder: "8802" }, "accepted as 8802"],
  [{ outcome: "refused", cause: "Link is private", outOfFunds: false }, "Link is private"],
  [
    { outcome: "unknown", cause: "HTTP 502, a reply that is not JSON: <html>" },
    "HTTP 502, a reply that is not JSON: &lt;html>",
  ],
  [{ outcome: "not_sent", cause: "ECONNREFUSED" }, "–"],
] as const)(
  "the page of an order shows what its provider last replied: %j",
  async (result, shown) => {
    const id = market.delivered("queued");
    market.attempt(id, result);
    const { text } = await market.get(`/orders/${id}`);
    const [, reply] = /<dt>Last reply<\/dt><dd>(.*?)<\/dd>/.exec(text)!;
    expect(reply!.replace(/<[^>]*>/g, "")).toBe(shown);
  },
);

test("the facts of an order begin with its money", async () => {
  const { text } = await market.get(`/orders/${market.delivered({ placed: "8801" })}`);
  const terms = [...text.matchAll(/<dt>([^<]*)<\/dt>/g)].map(([, term]) => term);
  const first = terms.slice(terms.indexOf("Charge USD")).slice(0, 9);
  expect(first.join(", ")).toBe(
    "Charge USD, Refunded USD, Cost, Margin USD, Service, Reseller, Link, Provider, Route",
  );
  expect(text).toMatch(/<dl class="facts">(<div>)?<dt>Charge USD</);
});
