// `admin webhook …`: every command, its result, and what it refuses.

import { expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";

const shop = openShop();
const ADDRESS = "https://1.1.1.1/hooks";
const ALLOWED = ["--webhook-allow-http", "--webhook-allow", "127.0.0.0/8"];
const MEMBERS = [
  "id",
  "url",
  "events",
  "balanceLowBelow",
  "active",
  "disabledReason",
  "createdAt",
  "username",
];

const webhook = async (...argv: string[]) => {
  const { code, stderr, json } = await shop.cli("admin", "webhook", ...argv, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return json;
};

test("a webhook's life: made, shown, changed, tested, rotated, disabled, enabled, replayed, deleted", async () => {
  const made = await webhook(
    "create",
    "--user",
    "alice",
    "--url",
    ADDRESS,
    "--balance-low-below",
    "10",
  );
  expect(Object.keys(made)).toEqual([...MEMBERS, "secret"]);
  expect(made).toMatchObject({
    url: ADDRESS,
    events: ["*"],
    balanceLowBelow: 10,
    username: "alice",
  });
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { id } = made;
  expect(await webhook("list")).toEqual([{ ...made, secret: undefined, attention: [] }]);
  expect(await webhook("list", "--user", "bob")).toEqual([]);

  const changed = await webhook("update", id, "--events", "order.completed, order.failed");
  expect(changed).toMatchObject({
    events: ["order.completed", "order.failed"],
    balanceLowBelow: 10,
  });
  expect(await webhook("update", id, "--no-balance-low-below")).toMatchObject({
    balanceLowBelow: null,
    events: ["order.completed", "order.failed"],
  });
  const local = await webhook("update", id, "--url", "http://127.0.0.1:9/x", ...ALLOWED);
  expect(local.url).toBe("http://127.0.0.1:9/x");

  expect(await webhook("test", id)).toEqual({ queued: 1 });
  const rotated = await webhook("rotate", id, "--grace", "1h");
  expect(rotated.secret).not.toBe(made.secret);
  const server = "s".repeat(24);
  const [due] = shop.run("takeDueWebhookDeliveries", { server, limit: 9, perEndpoint: 9 });
  expect(due!.secrets).toEqual([rotated.secret, made.secret]);
  const reply = { httpStatus: 500, error: "status", response: "oh no", retryAfterSeconds: null };
  const attempts = [{ ...due!, at: Date.now(), durationMs: 3, ...reply }];
  shop.run("recordWebhookAttempts", { attempts, jitter: 0 });
  const [delivery] = await webhook("deliveries", id);
  expect(delivery).toMatchObject({
    type: "webhook.test",
    attempt: 1,
    error: "status",
    response: "oh no",
  });

  expect(await webhook("disable", id)).toMatchObject({ active: false, disabledReason: "operator" });
  expect(await webhook("replay", id, "--delivery", delivery.id)).toEqual({ queued: 1 });
  expect(await webhook("replay", id, "--since", "1h")).toEqual({ queued: 1 });
  const shown = await webhook("show", id);
  expect(Object.keys(shown)).toEqual([
    ...MEMBERS,
    "disabledAt",
    "failures",
    "failingSince",
    "waiting",
  ]);
  expect(shown).toMatchObject({ active: false, failures: 0, failingSince: null, waiting: 1 });
  expect(await webhook("enable", id, "--replay")).toMatchObject({
    active: true,
    disabledReason: null,
  });
  expect(await webhook("delete", id)).toMatchObject({ id, active: true });
  expect(await webhook("list")).toEqual([]);
});

test.each([
  [["create", "--user", "kid", "--url", ADDRESS], "cannot hold a webhook"],
  [["create", "--user", "nobody", "--url", ADDRESS], "user not found"],
  [["list", "--user", "nobody"], "user not found"],
  [["show", "x"], "webhook not found"],
  [["update", "x", "--events", "*"], "webhook not found"],
  [["deliveries", "z".repeat(24)], "webhook not found"],
  [["delete", "z".repeat(24)], "webhook not found"],
  [["replay", "z".repeat(24), "--since", "1h"], "webhook not found"],
])("%j is refused: %s", async (argv, sentence) => {
  const before = shop.dump();
  const { code, stdout, stderr } = await shop.cli("admin", "webhook", ...argv);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(sentence);
  expect(shop.dump()).toBe(before);
});

test.each([
  [["create", "--user", "alice"]],
  [["create", "--user", "alice", "--url", "http://1.1.1.1/"]],
  [["create", "--user", "alice", "--url", "https://127.0.0.1/"]],
  [["create", "--user", "alice", "--url", ADDRESS, "--events", "order.paid"]],
  [["create", "--user", "alice", "--url", ADDRESS, "--events", ""]],
  [["create", "--user", "alice", "--url", ADDRESS, "--balance-low-below", "0"]],
  [["update", "x"]],
  [["rotate", "x", "--grace", "31d"]],
  [["replay", "x"]],
  [["replay", "x", "--since", "15d"]],
  [["replay", "x", "--since", "1h", "--delivery", "y"]],
])("wrong usage: %j", async (argv) => {
  const before = shop.dump();
  const { code, stdout } = await shop.cli("admin", "webhook", ...argv);
  expect([code, stdout]).toEqual([2, ""]);
  expect(shop.dump()).toBe(before);
});

test("the audit log and the lists show no secret; a new secret is shown, also without --json", async () => {
  const { stdout } = await shop.cli(
    "admin",
    "webhook",
    "create",
    "--user",
    "bob",
    "--url",
    ADDRESS,
  );
  const [secret] = /whsec_[A-Za-z0-9+/]{43}=/.exec(stdout)!;
  expect(stdout).toContain("not shown again");
  for (const argv of [
    ["audit", "list"],
    ["webhook", "list"],
  ]) {
    const shown = await shop.cli("admin", ...argv);
    expect([shown.code, shown.stdout.includes(secret), shown.stdout.includes("webhook")]).toEqual([
      0,
      false,
      argv[0] === "audit",
    ]);
  }
  const { id } = shop.query<{ id: string }>("SELECT id FROM webhooks WHERE deleted_at IS NULL")[0]!;
  shop.run("deleteWebhook", { id, actor: OPERATOR });
});

test("verify finds events that differ from their order, and users whose summary of subscriptions is wrong", async () => {
  const { id } = await webhook("create", "--user", "alice", "--url", ADDRESS);
  const order = shop.order(100);
  await shop.cli("admin", "order", "complete", String(order));
  expect((await shop.cli("verify")).code).toBe(0);
  shop.query("UPDATE users SET wanted_events = 1, low_balance_micros = 5 WHERE username = 'alice'");
  shop.query("UPDATE orders SET sequence = 0 WHERE order_id = ?", order);
  const bob = shop.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'bob'",
  )[0]!;
  shop.query("UPDATE webhooks SET failures = 0 WHERE id = ?", id);
  shop.dropTrigger("webhooks_keep_identity");
  shop.query("UPDATE webhooks SET reseller_account = ? WHERE id = ?", bob.account, id);
  const { code, json } = await shop.cli("verify", "--json");
  expect(code).toBe(1);
  const found = json.problems.map(({ check, subject }: Record<string, string>) => [check, subject]);
  const [event] = shop.query<{ id: string }>(
    "SELECT id FROM webhook_events WHERE order_id = ?",
    order,
  );
  expect(found).toEqual(
    expect.arrayContaining([
      ["a webhook event of an order matches an event of that order", `event ${event!.id}`],
      ["a webhook gets only the events of its own reseller", `webhook ${id}`],
      ["users record what their webhooks subscribe to", "user alice"],
      ["users record what their webhooks subscribe to", "user bob"],
    ]),
  );
});
