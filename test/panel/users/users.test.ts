// The pages Users and User: money, keys, own prices, names.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

const namesIn = (html: string) =>
  [...html.matchAll(/data-label="User"><a href="\/users\/([^"]+)"/g)].map(([, name]) => name);

describe("the list", () => {
  test("has balance, spent and orders of each user, and its filters", async () => {
    market.order({ user: "bob" });
    while (market.run("countDailyTotals", { limit: 1000 }) !== "done");
    const { text } = await market.get("/users");
    expect(namesIn(text)).toEqual(["kid", "bob", "alice"]);
    expect(text).toMatch(/data-label="Balance USD"><span class="money" title="49\.768">49\.77</);
    expect(text).toMatch(/data-label="Spent in 30 days"><span class="money" title="0\.232">0\.23</);
    expect(text).toMatch(/href="\/orders\?user=bob&amp;days=30">1</);
    expect(namesIn((await market.get("/users?kind=child")).text)).toEqual(["kid"]);
    expect(namesIn((await market.get("/users?search=LIC")).text)).toEqual(["alice"]);
    expect(namesIn((await market.get("/users?state=inactive")).text)).toEqual([]);
  });

  test("is sorted by a heading, by numbers the highest first, and keeps the filters", async () => {
    const { text } = await market.get("/users?state=active");
    const [, href] = /<a href="([^"]*)">Balance USD</.exec(text)!;
    expect(href).toBe("/users?state=active&amp;sort=-balance");
    const sorted = await market.get("/users?state=active&sort=-balance");
    expect(namesIn(sorted.text)).toEqual(["alice", "bob", "kid"]);
    expect(sorted.text).toContain('aria-sort="descending"');
    expect(sorted.text).toContain('href="/users?state=active&amp;sort=balance">Balance USD ↓<');
    expect(namesIn((await market.get("/users?sort=balance")).text)).toEqual([
      "kid",
      "bob",
      "alice",
    ]);
    expect(namesIn((await market.get("/users?sort=username")).text)).toEqual([
      "alice",
      "bob",
      "kid",
    ]);
    expect(namesIn((await market.get("/users?sort=nothing")).text)).toEqual([
      "kid",
      "bob",
      "alice",
    ]);
  });

  test("takes a new user, and refuses a name that is taken beside its field", async () => {
    const made = await market.post("/users", { username: "dora", name: "Dora <b>", parent: "" });
    expect([made.status, made.headers.get("location")]).toEqual([303, "/users/dora"]);
    expect((await market.get("/users/dora")).text).toContain("Dora &lt;b>");
    const taken = await market.post("/users", { username: "DORA", name: "", parent: "" });
    expect(taken.status).toBe(422);
    expect(taken.text).toMatch(
      /A user has that name already.*id="users-username-error"|id="users-username-error">A user has that name/s,
    );
    const child = await market.post("/users", { username: "d2", name: "", parent: "kid" });
    expect(child.text).toContain("Reseller must be a reseller");
  });
});

describe("a new user with a key", () => {
  test("gets an order key, the kind with the least power, shown once", async () => {
    const reply = await market.post("/users", { username: "shop", with: "key" });
    expect(reply.status).toBe(200);
    const [text] = /rk_[0-9A-Za-z]{28}/.exec(reply.text)!;
    const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    const keys = market.query(
      "SELECT type, keys.test_of AS test, username FROM keys JOIN users ON account = reseller_account WHERE hash = ?",
      hash,
    );
    expect(keys).toEqual([{ type: "order", test: null, username: "shop" }]);
    expect((await market.get("/users/shop")).text).not.toContain(text);
  });

  test("is not made as a child user, which cannot hold a key", async () => {
    const { status, text } = await market.post("/users", {
      username: "small",
      parent: "alice",
      with: "key",
    });
    expect([status, text.includes("A child user cannot hold a key")]).toEqual([422, true]);
    expect(market.query("SELECT 1 FROM users WHERE username = 'small'")).toEqual([]);
  });
});

describe("money", () => {
  test("a credit shows the balance after it, then moves once, by panel:NAME", async () => {
    const { asked, status } = await market.confirm("/users/alice/balance", {
      direction: "credit",
      amount: "25",
      note: "invoice 12",
    });
    expect(asked).toContain("Credit alice?");
    expect(asked).toContain("+25.00 USD");
    expect(status).toBe(303);
    expect(market.balance("alice")).toBe(125_000_000);
    const { text } = await market.get("/users/alice/transactions?kind=adjustment");
    expect(text).toContain(">tester</bdi>");
    expect(text).toContain("invoice 12");
    const csv = await market.get("/users/alice/transactions.csv?kind=adjustment");
    expect(csv.text).toContain("adjustment,25,125,,panel:tester,,invoice 12,,");
  });

  test.each([
    ["1e3", "Amount in USD must be a positive number"],
    ["", "Amount in USD is required"],
  ])("an amount of %p is refused beside its field and moves nothing", async (amount, message) => {
    const before = market.fingerprint();
    const refused = await market.post("/users/alice/balance", { direction: "credit", amount });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
    expect(market.fingerprint()).toBe(before);
  });

  test("a debit above the balance is refused beside the amount", async () => {
    const before = market.fingerprint();
    const fields = { direction: "debit", amount: "1000", note: "" };
    const { status, asked } = await market.confirm("/users/kid/balance", fields);
    expect(asked).toContain("-1 000.00 USD".replace(" ", "\u202f"));
    expect(status).toBe(422);
    expect(market.fingerprint()).toBe(before);
  });
});

describe("keys", () => {
  const keysOf = (user: string) =>
    market.query(
      `SELECT keys.id, hash, keys.active, reach, allow, expires_at FROM keys
        JOIN users ON account = reseller_account WHERE username = ? ORDER BY keys.created_at, keys.id`,
      user,
    );

  test("a new one is shown once, works, and only its hash is kept", async () => {
    const before = keysOf("alice").length;
    const made = await market.post("/users/alice/keys", {
      type: "order",
      reach: "children",
      label: "shop",
      days: "30",
      allow: "10.1.2.3, 2001:db8::/32",
    });
    const [, text] = /<pre id="key">(rk_\w{28})<\/pre>/.exec(made.text)!;
    const keys = keysOf("alice");
    expect(keys.length).toBe(before + 1);
    const hash = new Bun.CryptoHasher("sha256").update(text!).digest("hex");
    const key = keys.find((each) => each["hash"] === hash)!;
    expect([key["reach"], key["allow"]]).toEqual(["children", "10.1.2.3/32,2001:db8::/32"]);
    expect((await market.get("/users/alice")).text).not.toContain(text!);
    const wrong = await market.post("/users/alice/keys", {
      type: "order",
      reach: "all",
      allow: "everywhere",
    });
    expect([wrong.status, wrong.text]).toEqual([
      422,
      expect.stringContaining("Networks must be networks"),
    ]);
    expect(keysOf("alice").length).toBe(before + 1);
  });

  test("is rotated, deactivated and activated; that of another user is not found", async () => {
    const { id } = market.key("bob", "order");
    const path = `/users/bob/keys/${id}`;
    expect((await market.post(`${path}/deactivate`)).status).toBe(303);
    const active = () => keysOf("bob").find((key) => key["id"] === id)!["active"];
    expect(active()).toBe(0);
    const refused = await market.post(`${path}/rotate`, { grace: "24" });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining("API key is inactive"),
    ]);
    await market.post(`${path}/activate`);
    expect(active()).toBe(1);
    expect((await market.post(`${path}/rotate`, { grace: "0" })).text).toContain("rk_");
    const other = await market.post(`/users/alice/keys/${id}/deactivate`);
    expect([other.status, other.text]).toEqual([422, expect.stringContaining("Key not found")]);
    expect(active()).toBe(1);
  });
});

test("a test key is made, rotated and deactivated beside the others; its account has no page", async () => {
  const terms = { type: "full", reach: "all", test: "yes" };
  const made = await market.post("/users/bob/keys", terms);
  expect(made.text).toMatch(/<pre id="key">rk_test_\w{28}<\/pre>/);
  const [key] = market.query("SELECT id, start FROM keys WHERE test_of IS NOT NULL");
  const path = `/users/bob/keys/${String(key!["id"])}`;
  const row = async () =>
    (await market.get("/users/bob")).text.match(
      new RegExp(`<tr>(?:(?!</tr>).)*${path}.*?</tr>`, "s"),
    );
  expect((await row())![0]).toContain(`<code>rk_test_${String(key!["start"])}…</code>`);
  expect((await row())![0]).toMatch(/full <span class="badge[^>]*>test</);
  expect((await market.post(`${path}/rotate`, { grace: "24" })).text).toContain("rk_test_");
  expect((await market.post(`${path}/deactivate`)).status).toBe(303);
  expect((await row())![0]).toContain(">off</span>");
  expect((await market.get("/users/test:bob")).status).toBe(404);
  expect((await market.get("/providers/test:sandbox")).status).toBe(404);
  expect((await market.get("/users")).text).not.toContain("test:");
});

test("a test order is found by its number, is marked as one, and is only in lists that include test orders", async () => {
  const { id: keyId } = market.key("bob", "full", "all", true);
  const [{ account }] = market.query("SELECT account FROM users WHERE username = 'test:bob'") as [
    { account: number },
  ];
  const order = { keyId, service: "followers", link: "https://test.invalid/pending", quantity: 10 };
  const { orderId } = market.run("placeOrder", { resellerAccount: Number(account), ...order });
  const { text } = await market.get(`/orders/${orderId}`);
  expect(text).toMatch(/badge[^>]*>test</);
  expect(text).toContain('<a href="/users/bob">bob</a>');
  expect(text).not.toContain("test:bob");
  for (const path of ["/orders", "/orders?user=bob", "/orders.csv", "/orders?status=PENDING"]) {
    expect((await market.get(path)).text).not.toContain("test.invalid");
  }
});

test("own prices are set, replaced and removed", async () => {
  const prices = async () => (await market.get("/users/alice")).text;
  await market.post("/users/alice/prices", { service: "followers", price: "2" });
  expect(await prices()).toMatch(/data-label="Its price USD"><span class="money">2\.00</);
  await market.post("/users/alice/prices", { service: "followers", price: "" });
  expect(await prices()).toContain("the catalogue&#39;s".replace("&#39;", "'"));
  const none = await market.post("/users/alice/prices", { service: "nothing", price: "1" });
  expect([none.status, none.text]).toEqual([422, expect.stringContaining("Service not found")]);
  expect((await market.post("/users/alice/prices/remove", { service: "followers" })).status).toBe(
    303,
  );
  expect(await prices()).toContain("No prices of its own");
});

test("a user is renamed, deactivated after a confirmation, and activated", async () => {
  await market.post("/users", { username: "temp", name: "T" });
  const key = market.key("temp", "full");
  const renamed = await market.confirm("/users/temp/rename", { username: "temp2", name: "Two" });
  expect([renamed.status, renamed.asked]).toEqual([
    303,
    expect.stringContaining("Recharges and look-ups use the username"),
  ]);
  const { asked } = await market.confirm("/users/temp2/deactivate", {});
  expect(asked).toContain("Every key of temp2 will be refused");
  const isActive = () => market.query("SELECT active FROM keys WHERE id = ?", key.id)[0]!["active"];
  expect(isActive()).toBe(0);
  expect((await market.get("/users/temp2")).text).toContain("inactive");
  const activated = await market.confirm("/users/temp2/activate", {});
  expect(activated.asked).toContain("Its keys that can create credit are accepted again: 1.");
  expect(isActive()).toBe(1);
  expect((await market.get("/users/temp")).status).toBe(404);
});

test("support sees users and orders, and has no form that changes them", async () => {
  market.administrator("helper", "support");
  const cookie = market.session("helper");
  for (const path of ["/users", "/users/alice", "/orders", "/"]) {
    const { status, text } = await market.ask(path, { headers: { cookie } });
    expect([path, status]).toEqual([path, 200]);
    const forms = [...text.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, to]) => to);
    expect(forms).toEqual(["/sign-out"]);
  }
});
