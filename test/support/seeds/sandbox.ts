// A server with a test key over real HTTP, on a clock that stands still until the test moves it.

import { findCallerKeyByHash } from "../../../src/db/users/keys.ts";
import { listSandboxOrders, listSandboxRefills } from "../../../src/db/orders/sandbox.ts";
import type { Clock } from "../../../src/scheduling/clock.ts";
import { type DeliveryService, startDelivery } from "../../../src/delivery/delivery.ts";
import { startServer } from "../../../src/http/server/server.ts";
import { smmApiRoutes } from "../../../src/http/smm-api/routes.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import { connectProvider } from "../../../src/providers/protocols.ts";
import type { ProviderApi } from "../../../src/providers/provider.ts";
import { type Answer, callApi } from "../http/api.ts";
import { apiOf } from "../worlds/service.ts";
import { freshDatabase, OPERATOR, type TestDatabase } from "../databases/test-database.ts";

export const PLACE_WAIT_MS = 10_000;

export interface StillClock extends Clock {
  /** Lets that time pass, timer by timer, each with all that follows from it. */
  advance(milliseconds: number): Promise<void>;
  /** Lets that time pass at once, as on a machine that was suspended: what was due meanwhile is late. */
  leap(milliseconds: number): void;
}

export function stillClock(): StillClock {
  let now = Date.UTC(2026, 0, 1);
  const set = new Map<object, { at: number; callback: () => void }>();
  const after = (milliseconds: number, callback: () => void) => {
    const timer = {};
    set.set(timer, { at: now + milliseconds, callback });
    return () => void set.delete(timer);
  };
  /** Waits until all promises that need no timer are settled. */
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };
  return {
    now: () => now,
    after,
    timer(callback) {
      let cancel = () => {};
      return {
        set(milliseconds) {
          cancel();
          cancel = after(milliseconds, callback);
        },
        clear: () => cancel(),
      };
    },
    leap: (milliseconds) => void (now += milliseconds),
    async advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        await settle();
        const [next] = [...set].toSorted(([, a], [, b]) => a.at - b.at);
        if (!next || next[1].at > end) break;
        const [timer, { at, callback }] = next;
        set.delete(timer);
        now = Math.max(now, at);
        callback();
      }
      now = end;
      await settle();
    },
  };
}

export interface SandboxServer {
  url: string;
  delivery: DeliveryService;
  call(
    method: string,
    path: string,
    key?: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Without a word to the database, as if it were killed. */
  kill(): Promise<void>;
}

/** A server of that database at that time. */
export async function startSandboxServer(
  database: TestDatabase,
  clock: Clock,
  serverId = "server-of-the-sandbox",
  live?: ProviderApi,
): Promise<SandboxServer> {
  let isDead = false;
  const writer = {
    async submit(name: never, input: never) {
      if (isDead) return new Promise(() => {});
      return database.execute(name, input, clock.now());
    },
  } as unknown as Parameters<typeof apiOf>[0]["writer"];
  const delivery = await startDelivery({
    store: database.store,
    serverId,
    writer,
    log: createLog("silent"),
    clock: {
      ...clock,
      timer: (callback) => clock.timer(() => isDead || callback()),
    },
    random: () => 0,
    settings: {
      placeWaitMs: PLACE_WAIT_MS,
      placeRetryMs: 3_600_000,
      pollIntervalMs: 60_000,
      pauseAfter: 0,
    },
    connect: (provider) =>
      (provider.protocol === "sandbox" ? undefined : live) ??
      connectProvider(provider, 1000, {
        now: () => clock.now(),
        orders: async (numbers) => database.read((reader) => listSandboxOrders(reader, numbers)),
        refills: async (numbers) => database.read((reader) => listSandboxRefills(reader, numbers)),
      }),
  });
  const api = apiOf({
    store: database.store,
    findKey: (hash) => database.read((reader) => findCallerKeyByHash(reader, hash)),
    writer,
  });
  const deps = {
    ...api,
    awaitProvider: (order: Parameters<typeof api.awaitProvider>[0]) =>
      delivery.awaitProvider(order),
  };
  const server = startServer(deps, { hostname: "127.0.0.1", port: 0 }, null, smmApiRoutes(deps));
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    delivery,
    call: (method, path, key, body, headers) => callApi(url, method, path, key, body, headers),
    async kill() {
      isDead = true;
      void delivery.stop(0);
      await server.stop();
    },
  };
}

export interface SandboxShop extends Pick<SandboxServer, "call" | "kill"> {
  /** Returns the address of the running server. */
  url(): string;
  /** Kills the server, and starts another one after that time. */
  restart(afterMs: number): Promise<void>;
  database: TestDatabase;
  clock: StillClock;
  /** Keys of anna, who has 100 USD, and of her test account, which has 1,000 USD. */
  live: string;
  test: string;
  /** Places 1,000 of `likes` (10 USD per 1,000) with the test key. */
  order(link: string, fields?: object): Promise<Answer>;
  /** As `GET /orders/:id` has it, with the test key. */
  read(orderId: number): Promise<Record<string, unknown>>;
  /** In USD, with the test key. */
  testBalance(): Promise<number>;
}

/** `likes` is manual, `views` delivered by a provider: by default one where nobody listens. */
export async function openSandboxShop(liveProvider?: ProviderApi): Promise<SandboxShop> {
  const clock = stillClock();
  const database = freshDatabase();
  database.user("anna", "100");
  database.user("bert", "50");
  database.user("cleo", "7", "anna");
  database.service({ id: "likes", price: "10" });
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:1/", key: "secret" };
  database.run("createProvider", provider);
  database.service({ id: "views", price: "10", provider: { name: "acme", service: "7" } });
  const [live, test] = [false, true].map((isTest) => database.key("anna", "full", "all", isTest));
  let server = await startSandboxServer(database, clock, undefined, liveProvider);
  const call: SandboxServer["call"] = (...request) => server.call(...request);
  return {
    call,
    url: () => server.url,
    kill: () => server.kill(),
    async restart(afterMs) {
      await server.kill();
      clock.leap(afterMs);
      server = await startSandboxServer(database, clock, "another-server", liveProvider);
    },
    database,
    clock,
    live: live!.text,
    test: test!.text,
    order: (link, fields) =>
      call("POST", "/orders", test!.text, { service: "likes", link, quantity: 1000, ...fields }),
    read: async (orderId) => (await call("GET", `/orders/${orderId}`, test!.text)).body.order,
    testBalance: async () => (await call("GET", "/balance", test!.text)).body.balance,
  };
}

/** The operator's command, at the clock's time. */
export function operate<Name extends "settleOrder" | "transitionOrder">(
  { database, clock }: Pick<SandboxShop, "database" | "clock">,
  name: Name,
  input: Omit<CommandInput<Name>, "actor">,
): void {
  database.execute(name, { ...input, actor: OPERATOR } as CommandInput<Name>, clock.now());
}
