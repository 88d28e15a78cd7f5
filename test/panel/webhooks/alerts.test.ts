// The page Alerts: what is wrong, where the operator is told, and who may change that.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { BOT_TOKEN, CHAT } from "../../support/peers/telegram.ts";

let panel: TestPanel;

beforeAll(async () => {
  panel = await openPanel();
});
afterAll(() => panel.stop());

const endpoints = () => panel.query("SELECT * FROM webhooks WHERE deleted_at IS NULL");
const queued = () => panel.query("SELECT type FROM webhook_events");

test("a URL of any network is made with a secret that is shown once", async () => {
  const url = "http://10.1.2.3:9/alerts";
  const { text } = await panel.post("/alerts", { url, chat: "", token: "" });
  const [, secret] = /<pre id="key">(whsec_[^<]+)<\/pre>/.exec(text)!;
  expect(endpoints()).toMatchObject([{ url, secret, reseller_account: null }]);
  const page = await panel.get("/alerts");
  expect(page.text).toContain(url);
  expect(page.text).not.toContain(secret!);
});

test("a chat of Telegram is made, and its token is on no page", async () => {
  const wrong = await panel.post("/alerts", { url: "", chat: "me", token: "my token" });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("Chat must be");
  expect(wrong.text).toContain("token must be");
  expect(wrong.text).not.toContain("my token");
  const none = await panel.post("/alerts", { url: "", chat: "", token: "" });
  expect([none.status, none.text]).toEqual([
    422,
    expect.stringContaining("url or chat is required"),
  ]);
  const both = await panel.post("/alerts", { url: "http://x.example/", chat: CHAT, token: "" });
  expect(both.text).toContain("Give an address or a chat, not both");
  const made = await panel.post("/alerts", { url: "", chat: CHAT, token: BOT_TOKEN });
  expect(made.status).toBe(303);
  for (const path of ["/alerts", "/audit", "/system"]) {
    const { text } = await panel.get(path);
    expect(text).not.toContain(BOT_TOKEN.split(":")[1]!);
  }
  expect((await panel.get("/alerts")).text).toContain(CHAT);
  expect((await panel.get("/audit")).text).toContain("Alert endpoint created");
});

test("ongoing and past alerts are shown; a test is sent; a deleted endpoint disappears", async () => {
  const text = { kind: "disk_low", subject: "disk", message: "The disk has 5 MiB free" } as const;
  panel.run("recordAlerts", { begun: [text], ended: [] });
  const page = await panel.get("/alerts");
  expect(page.text).toContain(text.message);
  expect(page.text).toContain('badge bad">open<');
  const today = '<a href="/">Today</a> leads to the pages that resolve the open ones.';
  expect(page.text).toContain(today);
  expect((await panel.get("/system")).text).toContain("1 alert is open");
  panel.run("recordAlerts", { begun: [], ended: [text] });
  const after = (await panel.get("/alerts")).text;
  expect([after.includes('badge bad">open<'), after.includes(today)]).toEqual([false, false]);
  const before = queued().length;
  const [{ id }] = endpoints() as [{ id: string }];
  expect((await panel.post(`/alerts/${id}/test`)).status).toBe(303);
  expect(queued()).toHaveLength(before + 1);
  expect((await panel.post(`/alerts/${id}/delete`)).status).toBe(303);
  expect(endpoints().map((row) => row["id"])).not.toContain(id);
  expect((await panel.post(`/alerts/${id}/test`)).text).toContain("Alert endpoint not found");
});

test.each(["operator", "support"] as const)(
  "%s can see alerts, and change nothing",
  async (role) => {
    const other = await openPanel({ role });
    const { text } = await other.get("/alerts");
    expect(text).not.toContain("Bot token");
    const sent = await other.post("/alerts", { url: "http://x.example/" });
    expect(sent.status).toBe(403);
    expect(other.query("SELECT id FROM webhooks")).toEqual([]);
    await other.stop();
  },
);

test("a provider's threshold is a field of its page", async () => {
  const url = "http://127.0.0.1:1/";
  panel.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret" });
  const save = (threshold: string) =>
    panel.post("/providers/acme", { url, key: "", name: "acme", "low-balance": threshold });
  const threshold = () =>
    panel.query("SELECT low_balance_micros AS micros FROM providers WHERE name = 'acme'")[0]![
      "micros"
    ];
  expect((await save("50")).status).toBe(303);
  expect(Number(threshold())).toBe(50_000_000);
  panel.run("recordProviderBalance", { providerId: 1, balance: 12, currency: "USD" });
  const page = await panel.get("/providers/acme");
  expect(page.text).toContain("12.00</span> USD");
  expect((await panel.get("/")).text).toContain("The balance at acme is 12 USD, below 50");
  expect((await save("-1")).status).toBe(422);
  expect((await save("")).status).toBe(303);
  expect(threshold()).toBeNull();
});
