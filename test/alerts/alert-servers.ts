// Servers of one store whose alerts go to a URL and to Telegram over HTTP, on a clock set by hand.

import { expect } from "bun:test";
import type { Awaitable } from "../../src/db/port/port.ts";
import { providers } from "../../src/db/tables/providers.ts";
import { startProviderBalances } from "../../src/delivery/provider-balances.ts";
import { startTicker } from "../../src/scheduling/ticker.ts";
import type { Lateness, MachineFacts } from "../../src/domain/alerts/conditions.ts";
import { refusal } from "../../src/domain/values/error-table.ts";
import { formatSecret } from "../../src/domain/webhooks/webhooks.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../src/operations/batch/commands.ts";
import type { ProviderApi } from "../../src/providers/provider.ts";
import { type AlertService, startAlerts } from "../../src/alerts/alerts.ts";
import { createChannels } from "../../src/alerts/channels.ts";
import { startWebhooks } from "../../src/webhooks/worker.ts";
import { createHandClock, type HandClock, turns } from "../support/hand-clock.ts";
import { insertUser, type TestStore } from "../support/databases/stores.ts";
import { execute } from "../../src/operations/batch/execute.ts";
import { type FakeTelegram, startTelegram } from "../support/peers/telegram.ts";
import { type Receiver, startReceiver } from "../support/peers/webhook-receiver.ts";

export const actor = { keyId: null, operator: "tester" };
export const START = Date.UTC(2026, 10, 22);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const SECRET = formatSecret(new Uint8Array(32).fill(7));

export interface AlertServer {
  clock: HandClock;
  isLeader: boolean;
  isWritable: boolean;
  machine: MachineFacts;
  lateness: Map<string, Lateness>;
  stop(): Promise<void>;
}

export interface AlertServers {
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
  server(id?: string, balance?: ProviderApi["balance"]): AlertServer;
  provider: (fields: object) => Promise<unknown>;
  /** `type kind subject` of what the URL received so far. */
  received(): string[];
  /** Lets time pass until the URL has received so many. */
  until(count: number): Promise<void>;
}

const closing: (() => Promise<unknown>)[] = [];

/** Closes what the test that ends has opened. */
export async function closeAlertServers(): Promise<void> {
  for (const close of closing.splice(0).toReversed()) await close();
}

export async function openAlertServers(opened: TestStore): Promise<AlertServers> {
  let busy = 0;
  /** Until no read, write or request is under way. */
  async function rest() {
    do {
      await turns(5);
      if (busy > 0) await Bun.sleep(1);
    } while (busy > 0);
  }
  const clock = createHandClock({ start: START, settle: rest });
  const noted = async <T>(work: () => Awaitable<T>): Promise<T> => {
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
    }
  };
  const store: TestStore = {
    ...opened,
    read: (body) => noted(() => opened.read(body)),
  };
  const telegram = startTelegram();
  const receiver = await startReceiver();
  closing.push(
    async () => store.close(),
    () => telegram.stop(),
    () => receiver.stop(),
  );
  const run: AlertServers["run"] = (name, input) =>
    noted(() => execute(opened, name, input, clock.now()));
  const lines: string[] = [];
  const line = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: line, warn: line, error: line };
  const url = "http://127.0.0.1:1/";
  await run("createProvider", { name: "acme", protocol: "smm-api", url, key: "secret", actor });
  const shop: AlertServers = {
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
      const server: AlertServer = {
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

/** An order that waits to be polled, so that polls can be late. */
export async function scheduled(shop: AlertServers): Promise<void> {
  const [row] = await shop.store.query("SELECT count(*) AS orders FROM orders");
  if (Number(row!["orders"]) > 0) return;
  const { placed } = await sendingOrder(shop);
  await placed({ outcome: "accepted", providerOrder: "1" });
}

/** An order that is being sent, and what it came to. */
export async function sendingOrder({ run, store }: AlertServers) {
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
