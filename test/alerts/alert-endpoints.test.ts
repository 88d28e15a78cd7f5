// Endpoints of alerts: tests, Telegram, and what is sent when a provider or the database fails.

import { afterEach, describe, expect, test } from "bun:test";
import { ProviderFailure } from "../../src/providers/provider.ts";
import { ENGINES, freshStore } from "../support/databases/stores.ts";
import { BOT_TOKEN, CHAT } from "../support/peers/telegram.ts";
import {
  closeAlertServers,
  openAlertServers,
  actor,
  START,
  MINUTE,
  HOUR,
} from "./alert-servers.ts";

afterEach(closeAlertServers);

describe.each(ENGINES)("on %s", (engine) => {
  test("a new endpoint gets the ongoing alerts first, so that it never gets only an end", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    const target = { telegramChat: CHAT };
    await shop.run("createAlertEndpoint", { target, secret: BOT_TOKEN, actor });
    await shop.until(1);
    await shop.provider({ outOfFundsAt: null });
    await shop.until(2);
    expect(shop.telegram.messages.map(({ text }) => text.split("\n")[0])).toEqual([
      "Alert: acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; the refused orders were refunded or went to the next route",
      "Resolved: acme takes orders again",
    ]);
    // The same alert, under another id: the URL was told of it once.
    const kinds = shop.telegram.messages.map(({ text }) => text.split("\n")[1]!.split(",")[0]);
    expect(kinds).toEqual(["provider_out_of_funds", "provider_out_of_funds"]);
  });

  test("a test sends one message of kind test, and a deleted endpoint gets no more", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    const target = { telegramChat: CHAT };
    const { id } = await shop.run("createAlertEndpoint", { target, secret: BOT_TOKEN, actor });
    expect(await shop.run("testAlertEndpoint", { id, actor })).toBe(1);
    await shop.until(0);
    expect(shop.telegram.messages).toHaveLength(1);
    expect(shop.telegram.messages[0]!.text).toStartWith("Alert: This is a test");
    await shop.run("deleteAlertEndpoint", { id, actor });
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    expect(shop.telegram.messages).toHaveLength(1);
    const refused = await shop.run("testAlertEndpoint", { id, actor }).catch((error) => error);
    expect(refused).toMatchObject({ code: "alert_endpoint_not_found" });
  });

  describe("Telegram", () => {
    test("gets no further message before the wait that it demands is over", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      shop.server();
      const target = { telegramChat: CHAT };
      const { id } = await shop.run("createAlertEndpoint", { target, secret: BOT_TOKEN, actor });
      shop.telegram.flooded = 300;
      await shop.provider({ outOfFundsAt: START });
      await shop.until(1);
      const { telegram } = shop;
      const asked = telegram.requests();
      expect(asked).toBe(1);
      await shop.clock.pass(2 * MINUTE);
      expect(telegram.requests()).toBe(asked);
      telegram.flooded = 0;
      await shop.clock.pass(4 * MINUTE);
      expect(telegram.messages).toHaveLength(1);
      const [attempt] = await shop.store.query(
        `SELECT http_status, error, response FROM webhook_attempts JOIN webhooks
          ON webhooks.webhook_id = webhook_attempts.webhook_id WHERE id = '${id}' ORDER BY seq`,
      );
      expect([Number(attempt!["http_status"]), attempt!["error"]]).toEqual([429, "status"]);
    });

    test("an endpoint that only fails is not disabled, and its token appears in no log line and no other row", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      shop.server();
      const target = { telegramChat: "-100999" };
      const { id } = await shop.run("createAlertEndpoint", { target, secret: BOT_TOKEN, actor });
      await shop.store.query(
        `UPDATE webhooks SET failures = 100, failing_since = ${START - 30 * 24 * HOUR} WHERE id = '${id}'`,
      );
      await shop.provider({ outOfFundsAt: START });
      await shop.until(1);
      const [row] = await shop.store.query(`SELECT * FROM webhooks WHERE id = '${id}'`);
      expect(row).toMatchObject({ active: 1, disabled_reason: null });
      expect(Number(row!["failures"])).toBeGreaterThan(100);
      const rows = await Promise.all(
        ["webhook_events", "webhook_attempts", "audit", "alerts"].map((table) =>
          shop.store.query(`SELECT * FROM ${table}`),
        ),
      );
      const everything = JSON.stringify([rows, shop.lines], (_, value: unknown) =>
        typeof value === "bigint" ? String(value) : value,
      );
      expect(everything).toContain("chat not found");
      expect(everything).not.toContain(BOT_TOKEN);
      expect(everything).not.toContain(BOT_TOKEN.split(":")[1]!);
    });
  });

  describe("balances", () => {
    test("are requested at most every 5 minutes, also across restarts, and only with a threshold", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      let asked = 0;
      const reply = { balance: 80, currency: "EUR" };
      const balance = () => {
        asked += 1;
        return Promise.resolve({ ...reply });
      };
      const first = shop.server(undefined, balance);
      await shop.clock.pass(20 * MINUTE);
      expect(asked).toBe(0);
      const changes = { lowBalanceMicros: 50_000_000 };
      await shop.run("updateProvider", { name: "acme", changes, actor });
      await shop.until(0);
      expect(asked).toBe(1);
      await first.stop();
      const second = shop.server("b".padEnd(24, "-"), balance);
      await shop.clock.pass(60_000);
      expect(asked).toBe(1);
      reply.balance = 49.5;
      await shop.until(1);
      expect(JSON.parse(shop.receiver.received[0]!.body)).toMatchObject({
        kind: "provider_balance_low",
        message: "The balance at acme is 49.5 EUR, below 50: top up there",
      });
      const before = asked;
      await shop.clock.pass(20 * MINUTE);
      expect(asked).toBeLessThanOrEqual(before + 4);
      expect(asked).toBeGreaterThanOrEqual(before + 3);
      reply.balance = 50;
      await shop.clock.pass(6 * MINUTE);
      await shop.until(2);
      await second.stop();
    });

    test("an unknown balance changes nothing; removing the threshold ends the alert", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      const balance = () => Promise.reject(new ProviderFailure("it is down"));
      shop.server(undefined, balance);
      const known = { balanceMicros: 1, balanceAt: START, balanceCurrency: "USD" };
      await shop.provider({ lowBalanceMicros: 50_000_000, ...known });
      await shop.until(1);
      await shop.clock.pass(20 * MINUTE);
      await shop.until(1);
      const changes = { lowBalanceMicros: null };
      await shop.run("updateProvider", { name: "acme", changes, actor });
      await shop.until(2);
    });
  });

  describe("a database that takes no writes", () => {
    test("is reported at once without the database, and its end through the queue, once each", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      const server = shop.server();
      await shop.until(0);
      server.isWritable = false;
      await shop.until(1);
      server.isWritable = true;
      await shop.until(2);
      expect(shop.received()).toEqual([
        "alert.raised database_unwritable database",
        "alert.resolved database_unwritable database",
      ]);
      const rows = await shop.store.query("SELECT kind, raised_at, resolved_at FROM alerts");
      expect(rows).toHaveLength(1);
      expect(Number(rows[0]!["resolved_at"])).toBeGreaterThan(Number(rows[0]!["raised_at"]));
    });

    test("for a few seconds sends no message", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      const server = shop.server();
      await shop.until(0);
      server.isWritable = false;
      await shop.clock.pass(5000);
      server.isWritable = true;
      await shop.until(0);
    });

    test("an endpoint that missed the beginning gets it together with the end", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      const server = shop.server();
      await shop.until(0);
      const { answer } = shop.receiver;
      shop.receiver.answer = "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n";
      server.isWritable = false;
      await shop.clock.pass(12_000);
      expect(shop.receiver.received).toHaveLength(1);
      shop.receiver.received.length = 0;
      shop.receiver.answer = answer;
      server.isWritable = true;
      await shop.until(2);
      expect(shop.received().toSorted()).toEqual([
        "alert.raised database_unwritable database",
        "alert.resolved database_unwritable database",
      ]);
    });

    test("of a server that is not the leader sends nothing", async () => {
      const shop = await openAlertServers(await freshStore(engine));
      const server = shop.server();
      server.isLeader = false;
      await shop.until(0);
      server.isWritable = false;
      await shop.until(0);
    });
  });
});
