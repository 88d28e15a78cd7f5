// Which conditions raise and end alerts, and what their messages say.

import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { planCatalogue, requireProvider } from "../../src/operations/providers/providers.ts";
import { ENGINES, insertUser, freshStore } from "../support/databases/stores.ts";
import type { Receiver } from "../support/peers/webhook-receiver.ts";
import {
  closeAlertServers,
  openAlertServers,
  scheduled,
  sendingOrder,
  type AlertServer,
  type AlertServers,
  actor,
  START,
  HOUR,
  SECRET,
} from "./alert-servers.ts";

const GIB = 1024 ** 3;

afterEach(closeAlertServers);

describe.each(ENGINES)("on %s", (engine) => {
  test("to a URL: the specified body, signed as a webhook is", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    const [{ headers, body }] = shop.receiver.received as [Receiver["received"][number]];
    expect(JSON.parse(body)).toEqual({
      type: "alert.raised",
      kind: "provider_out_of_funds",
      subject: "acme",
      message:
        "acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; the refused orders were refunded or went to the next route",
      at: expect.stringMatching(/^2026-11-22T00:00:\d\d\.\d{3}Z$/),
    });
    expect(headers["webhook-id"]).toMatch(/^evt_[a-z0-9]{24}$/);
    const signed = { ...headers, "webhook-timestamp": headers["webhook-timestamp"]! };
    const real = Date.now;
    try {
      // The judge compares with the machine's clock.
      Date.now = () => shop.clock.now();
      new Webhook(SECRET).verify(body, signed);
    } finally {
      Date.now = real;
    }
  });

  test.each<[string, (shop: AlertServers, server: AlertServer, holds: boolean) => unknown, string]>(
    [
      [
        "lack of funds",
        ({ provider }, _, holds) => provider({ outOfFundsAt: holds ? START : null }),
        "provider_out_of_funds acme",
      ],
      [
        "a low balance",
        ({ provider }, _, holds) =>
          provider({
            lowBalanceMicros: 50_000_000,
            balanceMicros: holds ? 49_999_999 : 50_000_000,
            balanceAt: START,
            balanceAskedAt: START + 10 * 365 * 24 * HOUR,
          }),
        "provider_balance_low acme",
      ],
      [
        "a pause after unknown outcomes",
        ({ provider }, _, holds) =>
          provider({ pausedAt: holds ? START : null, pausedBy: holds ? "unknown" : null }),
        "provider_paused acme",
      ],
      [
        "late polls",
        (shop, { lateness }, holds) => {
          lateness.set("acme", holds ? "late" : "fine");
          return scheduled(shop);
        },
        "polling_late acme",
      ],
      [
        "a sync that was held",
        async ({ run, provider }, _, holds) => {
          await provider({ markup: "0", syncEvery: HOUR });
          if (holds) return run("holdSync", { providerId: 1, held: "a price would change" });
          return run("updateProvider", { name: "acme", changes: { syncEvery: null }, actor });
        },
        "sync_held acme",
      ],
      [
        "an old backup",
        ({ clock }, { machine }, holds) => {
          machine.newestBackupAt = holds ? clock.now() - 49 * HOUR : clock.now();
        },
        "backup_old backups",
      ],
      [
        "no off-site copy",
        ({ clock }, { machine }, holds) => {
          machine.newestRemoteAt = holds ? null : clock.now();
        },
        "backup_old off-site copies",
      ],
      [
        "a failed backup",
        ({ clock }, { machine }, holds) => {
          machine.hasBackupFailed = holds;
          machine.newestBackupAt = holds ? clock.now() : clock.now() + 1;
        },
        "backup_failed backups",
      ],
      [
        "a backup that does not verify",
        (_, { machine }, holds) => {
          machine.isBackupVerified = !holds;
        },
        "backup_unverified backups",
      ],
      [
        "a full disk",
        (_, { machine }, holds) => {
          machine.freeBytes = holds ? GIB - 1 : 2 * GIB;
        },
        "disk_low disk",
      ],
    ],
  )("%s: one message when it begins, one when it ends, and again", async (_, set, what) => {
    const shop = await openAlertServers(await freshStore(engine));
    const server = shop.server();
    await shop.until(0);
    for (const round of [0, 1]) {
      await set(shop, server, true);
      await shop.until(2 * round + 1);
      await set(shop, server, false);
      await shop.until(2 * round + 2);
    }
    const both = [`alert.raised ${what}`, `alert.resolved ${what}`];
    expect(shop.received()).toEqual([...both, ...both]);
  });

  test("a live reseller's webhook that failures disabled, and unknown placements, raise alerts", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    const { id, unknown, settle } = await troubledReseller(shop);
    await shop.until(2);
    expect(shop.received().toSorted()).toEqual([
      "alert.raised placement_unknown acme",
      `alert.raised webhook_disabled ${id}`,
    ]);
    expect(shop.receiver.received.map(({ body }) => JSON.parse(body).message)).toContain(
      "It is not known whether acme received 1 order: `reseller admin order settle --provider acme --dry-run`",
    );
    expect(unknown).toBe(1);
    await settle();
    await shop.run("enableWebhook", { id, replay: false, actor });
    await shop.until(4);
    expect(shop.received().slice(2).toSorted()).toEqual([
      "alert.resolved placement_unknown acme",
      `alert.resolved webhook_disabled ${id}`,
    ]);
  });

  test("a recharge above a live key's limit raises an alert until the UTC day ends, the limits change or the key is off", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    const account = await shop.store.run((tx) => insertUser(tx, "alice"));
    let count = 0;
    const limitedKey = async (test = false) => {
      const hash = `${(count += 1)}`.padStart(64, "0");
      const terms = { username: "alice", label: "", hash, start: "rk_", test, actor } as const;
      const { id, resellerAccount } = await shop.run("createKey", {
        ...terms,
        type: "recharge",
        reach: "all",
        rechargeDailyMicros: 1,
      });
      return { id, resellerAccount, isTest: test };
    };
    const exceed = async ({ id: keyId, ...key }: Awaited<ReturnType<typeof limitedKey>>) => {
      const recharge = { ...key, keyId, username: "alice", amountMicros: 2 };
      expect(await shop.run("recharge", recharge)).toHaveProperty("limited");
    };
    const raised = (id: string) => `alert.raised recharge_limited ${id}`;
    const resolved = (id: string) => `alert.resolved recharge_limited ${id}`;
    const key = await limitedKey();
    expect(key.resellerAccount).toBe(account);
    await exceed(await limitedKey(true));
    await exceed(key);
    await exceed(key);
    await shop.until(1);
    shop.clock.jump(24 * HOUR);
    await shop.until(2);
    await exceed(key);
    await shop.until(3);
    await shop.run("updateKey", { id: key.id, changes: { rechargeDailyMicros: 2 }, actor });
    await shop.until(4);
    const other = await limitedKey();
    await exceed(other);
    await shop.until(5);
    await shop.run("setKeyActive", { id: other.id, active: false, actor });
    await shop.until(6);
    const both = ({ id }: { id: string }) => [raised(id), resolved(id)];
    expect(shop.received()).toEqual([key, key, other].flatMap(both));
    expect(shop.receiver.received[0]!.body).not.toContain("alice");
  });

  test("a reseller that spends ten times its usual in an hour raises an alert until the hour is over", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    const resellerAccount = await shop.store.run((tx) => insertUser(tx, "alice", 5e9));
    const terms = { name: "S", per: "1", min: 1, max: 1e6, private: false } as const;
    const service = { ...terms, id: "s", priceMicros: 1_000_000 };
    await shop.run("createService", { ...service, actor });
    const key = { username: "alice", label: "", hash: "a".repeat(64), start: "rk_", actor };
    const { id: keyId } = await shop.run("createKey", { ...key, type: "order", reach: "all" });
    const spend = async (quantity: number) => {
      const order = { resellerAccount, keyId, service: "s", link: "x", quantity };
      const { orderId } = await shop.run("placeOrder", order);
      for (;;) {
        const state = await shop.run("countDailyTotals", { limit: 1000 });
        if (state === "reached" || state === "done") return String(orderId);
      }
    };
    await spend(99);
    await shop.until(0);
    await spend(1);
    await shop.until(1);
    shop.clock.jump(HOUR);
    await shop.until(2);
    const [{ id }] = (await shop.store.query("SELECT id FROM users WHERE username = 'alice'")) as [
      { id: string },
    ];
    expect(shop.received()).toEqual([
      `alert.raised spend_unusual ${id}`,
      `alert.resolved spend_unusual ${id}`,
    ]);
    expect(shop.receiver.received[0]!.body).not.toContain("alice");
  });

  test("renaming or deleting a provider ends its alerts with a message that says so, and settles nothing", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    await shop.run("updateProvider", { name: "acme", changes: { name: "ace" }, actor });
    await shop.until(3);
    const last = () => shop.receiver.received.map(({ body }) => JSON.parse(body).message).slice(-2);
    expect(shop.received().slice(1)).toEqual([
      "alert.resolved provider_out_of_funds acme",
      "alert.raised provider_out_of_funds ace",
    ]);
    expect(last()).toEqual([
      "acme is called ace now",
      "ace, formerly acme: acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; the refused orders were refunded or went to the next route",
    ]);
    // Looked at again, it is the same alert.
    await shop.until(3);
    await shop.run("deleteProvider", { name: "ace", actor });
    await shop.until(4);
    expect(last()[1]).toBe("ace was deleted");
    await shop.until(4);
  });

  test("a held sync: the message says why, and an applied sync and a deactivated provider end it", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    await shop.provider({ markup: "0", syncEvery: HOUR });
    const hold = () => shop.run("holdSync", { providerId: 1, held: "2 prices would change" });
    const last = () => JSON.parse(shop.receiver.received.at(-1)!.body).message;
    await hold();
    await shop.until(1);
    expect(last()).toBe(
      "The scheduled sync of acme was not applied (2 prices would change): see `reseller admin provider sync acme`",
    );
    await syncByHand(shop);
    await shop.until(2);
    expect(last()).toBe("A sync of acme was applied, or acme has no schedule any more");
    await hold();
    await shop.until(3);
    await shop.run("setProviderActive", { name: "acme", active: false, actor });
    await shop.until(4);
    expect(last()).toBe("acme was deactivated");
    // It is not synced any more.
    await hold();
    await shop.until(4);
  });

  test("the lack-of-funds alert ends when its provider is given no more orders", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    await shop.run("setProviderActive", { name: "acme", active: false, actor });
    await shop.until(2);
    expect(JSON.parse(shop.receiver.received.at(-1)!.body)).toMatchObject({
      type: "alert.resolved",
      message: "acme was deactivated",
    });
    await shop.run("setProviderActive", { name: "acme", active: true, actor });
    await shop.until(3);
  });
});

/** An operator's sync of what the provider lists. */
async function syncByHand({ store, run }: AlertServers) {
  const entry = { service: "7", name: "Likes", category: "C", type: "Default", rate: "1" };
  const flags = { dripfeed: false, cancel: false, refill: false };
  const upstream = [{ ...entry, ...flags, min: 1, max: 9 }];
  const options = { markup: "0", newServices: "ignore" } as const;
  const plan = await store.read((reader) =>
    planCatalogue(reader, requireProvider(reader, "acme"), upstream, options),
  );
  await run("syncCatalogue", { name: "acme", upstream, ...options, plan, actor });
}

/** A reseller with a webhook that failed, whose order may have been received; and its test side, which has the same. */
async function troubledReseller(shop: AlertServers) {
  const { run } = shop;
  const { orderId, placed } = await sendingOrder(shop);
  await placed({ outcome: "unknown", cause: "no reply" });
  const hook = { url: "https://shop.example/", events: "*", balanceLowBelow: null, secret: SECRET };
  const { id } = await run("createWebhook", { username: "alice", ...hook, actor });
  const hash = "1".repeat(64);
  const key = { username: "alice", type: "full", reach: "all", label: "", hash, start: "rk_test_" };
  const { id: keyId } = await run("createKey", { ...key, test: true, actor } as never);
  const ofTest = { ...hook, username: null, actor: { keyId, operator: null } };
  const test = await run("createWebhook", ofTest as never);
  for (const each of [id, test.id]) {
    await shop.store.query(
      `UPDATE webhooks SET active = 0, disabled_reason = 'failures', disabled_at = 1 WHERE id = '${each}'`,
    );
  }
  const settle = () =>
    run("settleOrder", { id: String(orderId), providerOrder: null, actor } as never);
  return { id, unknown: 1, settle };
}
