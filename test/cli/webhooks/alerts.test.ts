// `admin alert …` and thresholds of balances: every command, its result, and what it refuses.

import { expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";
import { expectFailure, runWithInput } from "../../support/operator-cli.ts";
import { BOT_TOKEN, CHAT } from "../../support/peers/telegram.ts";

const shop = openShop();
const MEMBERS = ["id", "channel", "target", "failures", "failingSince", "createdAt"];
const LOCAL = "http://10.1.2.3:9/alerts?a=b";

const alert = async (...argv: string[]) => {
  const { code, stderr, json } = await shop.cli("admin", "alert", ...argv, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return json;
};

test("a URL of any network: made with a secret that is shown once, listed, tested, deleted", async () => {
  const made = await alert("create", "--url", LOCAL);
  expect(Object.keys(made)).toEqual([...MEMBERS, "secret"]);
  expect(made).toMatchObject({ channel: "url", target: LOCAL, failures: 0, failingSince: null });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const listed = await alert("list");
  expect(listed).toEqual([{ ...made, secret: undefined }]);
  expect(await alert("test", made.id)).toEqual({ queued: 1 });
  const [queued] = shop.query(
    "SELECT type, body, tries FROM webhook_deliveries JOIN webhook_events USING (event_id)",
  );
  expect(queued).toMatchObject({ type: "alert.raised", tries: 1 });
  expect(JSON.parse(String(queued!["body"]))).toMatchObject({ kind: "test", subject: "test" });
  expect(await alert("delete", made.id)).toEqual(listed[0]);
  expect(await alert("list")).toEqual([]);
  // It is no webhook of a reseller.
  const { json } = await shop.cli("admin", "webhook", "list", "--json");
  expect(json).toEqual([]);
  await expectFailure(shop, ["admin", "webhook", "show", made.id], 1, "webhook not found");
});

test("a Telegram chat's token is read from stdin and shown nowhere", async () => {
  const argv = ["admin", "alert", "create", "--telegram-chat", CHAT, "--token-stdin"];
  const made = await runWithInput(`${BOT_TOKEN}\n`, shop, argv);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(made.stdout).toContain(CHAT);
  const { stdout, json } = await shop.cli("admin", "alert", "list", "--json");
  expect(json).toMatchObject([{ channel: "telegram", target: CHAT }]);
  const audit = await shop.cli("admin", "audit", "list", "--json");
  expect(audit.json[0]).toMatchObject({ action: "alert.create", subject: json[0].id });
  for (const shown of [made.stdout, stdout, audit.stdout]) {
    expect(shown).not.toContain(BOT_TOKEN.split(":")[1]!);
  }
  const wrong = await runWithInput("my token\n", shop, argv);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toContain("stdin must hold a bot's token");
  expect(wrong.stderr).not.toContain("my token");
});

test("ongoing alerts are listed", async () => {
  expect(await alert("list", "--open")).toEqual([]);
  const text = { kind: "disk_low", subject: "disk", message: "The disk has 5 MiB free" } as const;
  shop.run("recordAlerts", { begun: [text], ended: [] });
  expect(await alert("list", "--open")).toEqual([{ ...text, since: expect.any(String) }]);
});

test.each([
  [["create"], 2, "give --telegram-chat with --token-stdin, or --url"],
  [["create", "--telegram-chat", CHAT], 2, "give --telegram-chat with --token-stdin"],
  [["create", "--telegram-chat", "me", "--token-stdin"], 2, "--telegram-chat must be"],
  [["create", "--url", LOCAL, "--telegram-chat", CHAT], 2, "cannot be used with"],
  [["create", "--url", "ftp://x.example/"], 2, "--url must be an http or https URL"],
  [["test", "a".repeat(24)], 1, "alert endpoint not found"],
  [["delete", "nonsense"], 1, "alert endpoint not found"],
])("alert %p exits %i and changes nothing", async (argv, code, says) => {
  await expectFailure(shop, ["admin", "alert", ...argv], code, says);
});

test("there are at most 10 endpoints", async () => {
  while (shop.query("SELECT id FROM webhooks WHERE deleted_at IS NULL").length < 10) {
    await alert("create", "--url", LOCAL);
  }
  const one = ["admin", "alert", "create", "--url", LOCAL];
  await expectFailure(shop, one, 1, "there are at most 10 endpoints");
});

test("the threshold of a balance is set, shown and removed", async () => {
  const url = "http://127.0.0.1:1/";
  shop.run("createProvider", { name: "deep", protocol: "smm-api", url, key: "secret" });
  const update = async (...argv: string[]) => {
    const { code, json } = await shop.cli("admin", "provider", "update", "deep", ...argv, "--json");
    expect(code).toBe(0);
    return json;
  };
  expect(await update("--low-balance", "50")).toMatchObject({
    name: "deep",
    lowBalance: 50,
    lastBalance: null,
    lastBalanceAt: null,
  });
  const [{ providerId }] = shop.query<{ providerId: number }>(
    `SELECT provider_id AS "providerId" FROM providers WHERE name = 'deep'`,
  ) as [{ providerId: number }];
  const told = { providerId: Number(providerId), balance: 49.5, currency: "EUR" };
  shop.run("recordProviderBalance", told);
  const { stdout } = await shop.cli("admin", "provider", "list");
  expect(stdout).toContain("The balance at deep is 49.5 EUR, below 50");
  expect(await update("--no-low-balance")).not.toHaveProperty("lowBalance");
  const wrong = ["admin", "provider", "update", "deep", "--low-balance", "0"];
  await expectFailure(shop, wrong, 2, "--low-balance");
});
