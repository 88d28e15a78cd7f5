// One message when an alert begins and one when it ends, over restarts, clock jumps and several servers.

import { afterEach, describe, expect, test } from "bun:test";
import { ENGINES, freshStore } from "../support/databases/stores.ts";
import {
  closeAlertServers,
  openAlertServers,
  scheduled,
  sendingOrder,
  START,
  HOUR,
  MINUTE,
  actor,
} from "./alert-servers.ts";

afterEach(closeAlertServers);

describe.each(ENGINES)("on %s", (engine) => {
  test("a restart neither loses nor repeats one", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const first = shop.server();
    first.machine.freeBytes = 1;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(2);
    await first.stop();
    // The next check notices what begins or ends between checks.
    await shop.provider({ outOfFundsAt: null });
    const second = shop.server("b".padEnd(24, "-"));
    second.machine.freeBytes = 1;
    // Until this process has asked the provider, whether polls are late is not known.
    second.lateness.clear();
    await shop.until(3);
    expect(shop.received().at(-1)).toBe("alert.resolved provider_out_of_funds acme");
    await second.stop();
    shop.server("c".padEnd(24, "-")).machine.freeBytes = 1;
    await shop.until(3);
  });

  test("the text of an open alert is updated; it is sent again once the number has doubled and an hour has passed", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const texts = () =>
      shop.receiver.received.map(({ body }) => JSON.parse(body).message as string);
    const shown = async () => {
      const [row] = await shop.store.query("SELECT message FROM alerts WHERE resolved_at IS NULL");
      return /\d+ orders/.exec(String(row!["message"]))![0];
    };
    const UNKNOWN = { outcome: "unknown", cause: "no reply" } as const;
    const { send, placed } = await sendingOrder(shop);
    await placed(UNKNOWN);
    const orders = [];
    const more = async (count: number) => {
      for (let added = 0; added < count; added += 1) {
        const sent = await send();
        await sent.placed(UNKNOWN);
        orders.push(sent.orderId);
      }
    };
    await more(1);
    shop.server();
    await shop.until(1);
    // Four times as many, a few minutes later: the text follows, and nothing is sent.
    await more(6);
    await shop.until(1);
    expect(await shown()).toBe("8 orders");
    // An hour after the first message the second follows.
    await shop.clock.pass(HOUR);
    await shop.until(2);
    // An hour later there are more, but not twice as many.
    await more(7);
    await shop.clock.pass(HOUR);
    await shop.until(2);
    expect(await shown()).toBe("15 orders");
    await more(1);
    await shop.until(3);
    expect(shop.received()).toEqual(Array(3).fill("alert.raised placement_unknown acme"));
    expect(texts().map((text) => /\d+ orders/.exec(text)![0])).toEqual([
      "2 orders",
      "8 orders",
      "16 orders",
    ]);
  });

  test("low disk space is reported again when it has halved, an old backup when its age has doubled", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const { machine } = shop.server();
    machine.freeBytes = 1000 * 1024 * 1024;
    await shop.until(1);
    machine.freeBytes = 501 * 1024 * 1024;
    await shop.clock.pass(2 * HOUR);
    await shop.until(1);
    machine.freeBytes = 500 * 1024 * 1024;
    await shop.until(2);
    machine.newestBackupAt = shop.clock.now() - 49 * HOUR;
    await shop.until(3);
    machine.newestBackupAt = shop.clock.now() - 94 * HOUR;
    await shop.until(3);
    await shop.clock.pass(2 * HOUR);
    await shop.until(4);
    const texts = shop.receiver.received.map(({ body }) => JSON.parse(body).message as string);
    expect(texts).toEqual([
      "The disk has 1000 MiB free: free some space, or move --data; soon orders can no longer be written",
      "The disk has 500 MiB free: free some space, or move --data; soon orders can no longer be written",
      "The last backup is 2d old: `reseller backup FILE`, or see the log for `backup not made`",
      "The last backup is 4d old: `reseller backup FILE`, or see the log for `backup not made`",
    ]);
  });

  test("a committed alert is sent even if the process ended before sending it", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const text = { kind: "disk_low", subject: "disk", message: "full" } as const;
    await shop.run("recordAlerts", { begun: [text], ended: [] });
    // Another process, which finds the same, begins nothing anew.
    shop.server().machine.freeBytes = 1;
    await shop.until(1);
  });

  test("an alert does not end while a new process does not know the polls yet", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    await scheduled(shop);
    const first = shop.server();
    first.lateness.set("acme", "late");
    await shop.until(1);
    await first.stop();
    const second = shop.server("b".padEnd(24, "-"));
    second.lateness.clear();
    await shop.until(1);
    second.lateness.set("acme", "late");
    await shop.until(1);
    second.lateness.set("acme", "fine");
    await shop.until(2);
    expect(shop.received()).toEqual([
      "alert.raised polling_late acme",
      "alert.resolved polling_late acme",
    ]);
  });

  test("a clock jump raises no alert that would end at the next check", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const server = shop.server();
    await scheduled(shop);
    server.machine.newestBackupAt = shop.clock.now();
    await shop.until(0);
    for (const hours of [72, -72, -72, 72]) {
      shop.clock.jump(hours * HOUR);
      // Polls look late until they have been made once more.
      server.lateness.set("acme", "late");
      await shop.clock.pass(15_000);
      server.lateness.set("acme", "fine");
      shop.clock.jump(-hours * HOUR);
      await shop.until(0);
    }
  });

  test("an alert continues while the clock is behind its start time", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const server = shop.server();
    server.machine.newestBackupAt = shop.clock.now() - 72 * HOUR;
    await shop.until(1);
    shop.clock.jump(-100 * HOUR);
    await shop.until(1);
    shop.clock.jump(100 * HOUR);
    await shop.until(1);
  });

  test("several servers that check at the same time send one alert", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const servers = ["a", "b", "c"].map((id) => shop.server(id.padEnd(24, "-")));
    servers[2]!.isLeader = false;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    await shop.provider({ outOfFundsAt: null });
    await shop.until(2);
  });

  test("the leader ends a pause of a provider once its time is over", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    shop.server();
    const pause = { name: "acme", paused: true, forMs: HOUR, actor };
    await shop.run("setProviderPaused", pause);
    const isPaused = async () => {
      const [row] = await shop.store.query("SELECT paused_by FROM providers WHERE name = 'acme'");
      return row!["paused_by"] !== null;
    };
    await shop.clock.pass(HOUR - MINUTE);
    expect(await isPaused()).toBe(true);
    await shop.clock.pass(2 * MINUTE);
    expect(await isPaused()).toBe(false);
  });

  test("a server that is not the leader sends nothing", async () => {
    const shop = await openAlertServers(await freshStore(engine));
    const server = shop.server();
    server.isLeader = false;
    server.machine.freeBytes = 1;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(0);
  });
});
