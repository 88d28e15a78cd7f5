// Alerts: one message when each begins and one when it ends, over restarts, clock jumps and several servers, to a URL and to
// Telegram, over HTTP.

import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { Awaitable } from "../../src/db/port/port.ts";
import { providers } from "../../src/db/tables/providers.ts";
import { startProviderBalances } from "../../src/delivery/provider-balances.ts";
import { startTicker } from "../../src/scheduling/ticker.ts";
import type { Lateness, MachineFacts } from "../../src/domain/reports/conditions.ts";
import { refusal } from "../../src/domain/values/refusals.ts";
import { formatSecret } from "../../src/domain/webhooks/webhooks.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../src/operations/batch/commands.ts";
import { execute } from "../../src/operations/batch/execute.ts";
import { planCatalogue, requireProvider } from "../../src/operations/providers/providers.ts";
import { type ProviderApi, ProviderFailure } from "../../src/providers/provider.ts";
import { type AlertService, startAlerts } from "../../src/alerts/alerts.ts";
import { createChannels } from "../../src/alerts/channels.ts";
import { startWebhooks } from "../../src/webhooks/worker.ts";
import { createHandClock, type HandClock, turns } from "../support/hand-clock.ts";
import type { Engine } from "../support/engine.ts";
import { ENGINES, freshStore, insertUser, type TestStore } from "../support/stores.ts";
import { BOT_TOKEN, CHAT, type FakeTelegram, startTelegram } from "../support/telegram.ts";
import { type Receiver, startReceiver } from "../support/webhook-receiver.ts";

const actor = { keyId: null, operator: "tester" };
const START = Date.UTC(2026, 10, 22);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SECRET = formatSecret(new Uint8Array(32).fill(7));
const GIB = 1024 ** 3;

interface Server {
  clock: HandClock;
  isLeader: boolean;
  isWritable: boolean;
  machine: MachineFacts;
  lateness: Map<string, Lateness>;
  stop(): Promise<void>;
}

interface Shop {
  store: TestStore;
  clock: HandClock;
  telegram: FakeTelegram;
  receiver: Receiver;
  lines: string[];
  run: <Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ) => Promise<CommandOutput<Name>>;
  /** A server that looks for alerts, sends, and asks for balances. */
  server(id?: string, balance?: ProviderApi["balance"]): Server;
  provider: (fields: object) => Promise<unknown>;
  /** `type kind subject` of what the URL received so far. */
  received(): string[];
  /** Lets time pass until the URL has received so many. */
  until(count: number): Promise<void>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function openShop(engine: Engine): Promise<Shop> {
  const fresh = await freshStore(engine);
  let busy = 0;
  const noted = async <T>(work: () => Awaitable<T>): Promise<T> => {
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
    }
  };
  const store: TestStore = { ...fresh, read: (body) => noted(() => fresh.read(body)) };
  /** Until no read, write or request is under way. */
  const rest = async () => {
    do {
      await turns(5);
      if (busy > 0) await Bun.sleep(1);
    } while (busy > 0);
  };
  const clock = createHandClock(START, rest);
  const telegram = startTelegram();
  const receiver = await startReceiver();
  closing.push(
    async () => store.close(),
    () => telegram.stop(),
    () => receiver.stop(),
  );
  const run: Shop["run"] = (name, input) => noted(() => execute(store, name, input, clock.now()));
  const lines: string[] = [];
  const line = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: line, warn: line, error: line };
  const url = "http://127.0.0.1:1/";
  await run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret", actor });
  const shop: Shop = {
    store,
    clock,
    telegram,
    receiver,
    lines,
    run,
    server(id = "a".padEnd(24, "-"), balance = () => Promise.reject(new Error("not asked"))) {
      const ticker = startTicker(
        { clock, log },
        async () => null,
        () => {},
      );
      const server: Server = {
        clock,
        isLeader: true,
        isWritable: true,
        machine: {},
        lateness: new Map([["acme", "fine"]]),
        stop,
      };
      const writer = {
        isWritable: () => server.isWritable,
        submit: <Name extends CommandName>(name: Name, input: CommandInput<Name>) =>
          server.isWritable ? run(name, input) : Promise.reject(refusal("service_unavailable")),
      };
      const channels = createChannels({
        policy: { allow: [], allowHttp: false },
        now: () => clock.now(),
        telegramApi: telegram.url,
      });
      const send: typeof channels = (request, signal) => noted(() => channels(request, signal));
      const deps = { store, serverId: id, writer, log, clock, ticker, random: () => 0.5, send };
      const worker = startWebhooks(deps);
      const alerts: AlertService = startAlerts({
        ...deps,
        isLeader: () => server.isLeader,
        machine: () => server.machine,
        lateness: async () => server.lateness,
      });
      const api = { balance } as ProviderApi;
      const balances = startProviderBalances({
        ...deps,
        connect: () => api,
        isLeader: () => server.isLeader,
      });
      let isStopped = false;
      async function stop() {
        if (isStopped) return;
        isStopped = true;
        await Promise.all([alerts.stop(), balances.stop(), worker.stop(1000)]);
        ticker.stop();
      }
      closing.push(stop);
      return server;
    },
    provider: (fields) =>
      store.run((tx) => tx.update(providers, { providerId: 1 }, fields as never)),
    received: () =>
      receiver.received.map(({ body }) => {
        const { type, kind, subject } = JSON.parse(body) as Record<string, string>;
        return `${type} ${kind} ${subject}`;
      }),
    async until(count) {
      for (let tries = 0; receiver.received.length < count; tries += 1) {
        if (tries > 2000) throw new Error(`received ${shop.received().join(", ")}`);
        await clock.pass(1000);
      }
      // Long enough for anything that would still come.
      await clock.pass(2 * MINUTE);
      expect(receiver.received.length).toBe(count);
    },
  };
  const target = { url: `http://127.0.0.1:${receiver.port}/alerts` };
  await run("createAlertEndpoint", { target, secret: SECRET, actor });
  return shop;
}

describe.each(ENGINES)("on %s", (engine) => {
  test("to a URL: the specified body, signed as a webhook is", async () => {
    const shop = await openShop(engine);
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    const [{ headers, body }] = shop.receiver.received as [Receiver["received"][number]];
    expect(JSON.parse(body)).toEqual({
      type: "alert.raised",
      kind: "provider_out_of_funds",
      subject: "acme",
      message:
        "acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; they are refunded, or go to the next route",
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

  test.each<[string, (shop: Shop, server: Server, holds: boolean) => unknown, string]>([
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
  ])("%s: one message when it begins, one when it ends, and again", async (_, set, what) => {
    const shop = await openShop(engine);
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

  test("a webhook that failures disabled, of a live reseller; and unknown placements", async () => {
    const shop = await openShop(engine);
    shop.server();
    const { id, unknown, settle } = await troubledReseller(shop);
    await shop.until(2);
    expect(shop.received().toSorted()).toEqual([
      "alert.raised placement_unknown acme",
      `alert.raised webhook_disabled ${id}`,
    ]);
    expect(shop.receiver.received.map(({ body }) => JSON.parse(body).message)).toContain(
      "It is not known whether acme received 1 order: `reseller admin order list --unknown`, then `reseller admin order settle` for each",
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

  test("a recharge above a key's limit: until the UTC day ends, the limits change or the key is off; not for a test key", async () => {
    const shop = await openShop(engine);
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

  test("a provider that is renamed or deleted ends its alerts by saying so, and nothing is settled by it", async () => {
    const shop = await openShop(engine);
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
      "ace, formerly acme: acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; they are refunded, or go to the next route",
    ]);
    // Looked at again, it is the same alert.
    await shop.until(3);
    await shop.run("deleteProvider", { name: "ace", actor });
    await shop.until(4);
    expect(last()[1]).toBe("ace was deleted");
    await shop.until(4);
  });

  test("a held sync: the message says why, and an applied sync and a deactivated provider end it", async () => {
    const shop = await openShop(engine);
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
    expect(last()).toBe("A sync of acme was applied, or none is scheduled any more");
    await hold();
    await shop.until(3);
    await shop.run("setProviderActive", { name: "acme", active: false, actor });
    await shop.until(4);
    expect(last()).toBe("acme was deactivated");
    // It is not synced any more.
    await hold();
    await shop.until(4);
  });

  test("lack of funds at a provider that is given no orders any more ends", async () => {
    const shop = await openShop(engine);
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

  test("a restart neither loses nor repeats one", async () => {
    const shop = await openShop(engine);
    const first = shop.server();
    first.machine.freeBytes = 1;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(2);
    await first.stop();
    // What begins and what ends while nobody looks is noticed by the next.
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

  test("the text of an open alert follows; it is told again once the number has doubled and an hour has passed", async () => {
    const shop = await openShop(engine);
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

  test("little room is told again when it has halved, an old backup when its age has doubled", async () => {
    const shop = await openShop(engine);
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
      "The disk has 1000 MiB free: make room, or move --data; soon no order can be written",
      "The disk has 500 MiB free: make room, or move --data; soon no order can be written",
      "The last backup is 2d old: `reseller backup FILE`, or see the log for `backup not made`",
      "The last backup is 4d old: `reseller backup FILE`, or see the log for `backup not made`",
    ]);
  });

  test("what was committed is sent although the process ended before it was", async () => {
    const shop = await openShop(engine);
    const text = { kind: "disk_low", subject: "disk", message: "full" } as const;
    await shop.run("recordAlerts", { begun: [text], ended: [] });
    // Another process, which finds the same, begins nothing anew.
    shop.server().machine.freeBytes = 1;
    await shop.until(1);
  });

  test("polls of which a new process knows nothing yet end no alert", async () => {
    const shop = await openShop(engine);
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

  test("a clock that jumps raises nothing that is over as soon as it is looked at again", async () => {
    const shop = await openShop(engine);
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

  test("an alert goes on while the clock is behind its time", async () => {
    const shop = await openShop(engine);
    const server = shop.server();
    server.machine.newestBackupAt = shop.clock.now() - 72 * HOUR;
    await shop.until(1);
    shop.clock.jump(-100 * HOUR);
    await shop.until(1);
    shop.clock.jump(100 * HOUR);
    await shop.until(1);
  });

  test("several servers that look at once tell once", async () => {
    const shop = await openShop(engine);
    const servers = ["a", "b", "c"].map((id) => shop.server(id.padEnd(24, "-")));
    servers[2]!.isLeader = false;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    await shop.provider({ outOfFundsAt: null });
    await shop.until(2);
  });

  test("a server that does not look for all says nothing", async () => {
    const shop = await openShop(engine);
    const server = shop.server();
    server.isLeader = false;
    server.machine.freeBytes = 1;
    await shop.provider({ outOfFundsAt: START });
    await shop.until(0);
  });

  test("a new endpoint is told of what goes on, so that each end has had its beginning", async () => {
    const shop = await openShop(engine);
    shop.server();
    await shop.provider({ outOfFundsAt: START });
    await shop.until(1);
    const target = { telegramChat: CHAT };
    await shop.run("createAlertEndpoint", { target, secret: BOT_TOKEN, actor });
    await shop.until(1);
    await shop.provider({ outOfFundsAt: null });
    await shop.until(2);
    expect(shop.telegram.messages.map(({ text }) => text.split("\n")[0])).toEqual([
      "Alert: acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC: top up there; they are refunded, or go to the next route",
      "Resolved: acme takes orders again",
    ]);
    // The same alert, under another id: the URL was told of it once.
    const kinds = shop.telegram.messages.map(({ text }) => text.split("\n")[1]!.split(",")[0]);
    expect(kinds).toEqual(["provider_out_of_funds", "provider_out_of_funds"]);
  });

  test("test sends one message of kind test, and delete ends them", async () => {
    const shop = await openShop(engine);
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
    test("says how long to wait, and is not asked before", async () => {
      const shop = await openShop(engine);
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

    test("an endpoint that only fails is not disabled, and its token is in no line and no row but its own", async () => {
      const shop = await openShop(engine);
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
    test("are asked for at most every 5 minutes, over restarts too, and only with a threshold", async () => {
      const shop = await openShop(engine);
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

    test("a provider that does not say changes nothing; without its threshold the alert ends", async () => {
      const shop = await openShop(engine);
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
    test("is told at once, past the database, and its end by the queue, once each", async () => {
      const shop = await openShop(engine);
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

    test("for a few seconds is worth no message", async () => {
      const shop = await openShop(engine);
      const server = shop.server();
      await shop.until(0);
      server.isWritable = false;
      await shop.clock.pass(5000);
      server.isWritable = true;
      await shop.until(0);
    });

    test("who could not be told of the beginning gets it with the end", async () => {
      const shop = await openShop(engine);
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

    test("of a server that does not look for all is its own matter", async () => {
      const shop = await openShop(engine);
      const server = shop.server();
      server.isLeader = false;
      await shop.until(0);
      server.isWritable = false;
      await shop.until(0);
    });
  });
});

/** An order that waits to be polled, so that polls can be late. */
async function scheduled(shop: Shop): Promise<void> {
  const [row] = await shop.store.query("SELECT count(*) AS orders FROM orders");
  if (Number(row!["orders"]) > 0) return;
  const { placed } = await sendingOrder(shop);
  await placed({ outcome: "accepted", providerOrder: "1" });
}

/** An order that is being sent, and what it came to. */
async function sendingOrder({ run, store }: Shop) {
  const account = await store.run((tx) => insertUser(tx, "alice", 100_000_000));
  const hash = "0".repeat(64);
  const { id: keyId } = await run("createKey", {
    username: "alice",
    type: "full",
    reach: "all",
    label: "",
    hash,
    start: "rk_",
    actor,
  });
  const provider = { name: "acme", service: "7" };
  const terms = { priceMicros: 1_000_000, per: "1000", min: 1, max: 10_000 } as const;
  const service = { id: "likes", name: "Likes", ...terms, private: false, provider, actor };
  await run("createService", service);
  const send = async () => {
    const { orderId } = await run("placeOrder", {
      resellerAccount: account,
      keyId,
      service: "likes",
      link: "https://x.example",
      quantity: 1000,
    });
    const started = await run("startAttempt", {
      orderId,
      providerId: 1,
      server: "a".padEnd(24, "-"),
      placeRetryMs: HOUR,
    });
    if (!started.send) throw new Error("not sent");
    const placed = (result: CommandInput<"finishAttempt">["result"]) =>
      run("finishAttempt", {
        orderId,
        attemptId: started.attemptId,
        result,
        placeRetryMs: HOUR,
        backoffMs: 1000,
      });
    return { orderId, placed };
  };
  return { account, send, ...(await send()) };
}

/** An operator's sync of what the provider lists. */
async function syncByHand({ store, run }: Shop) {
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
async function troubledReseller(shop: Shop) {
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
