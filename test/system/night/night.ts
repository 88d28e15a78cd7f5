// A bad night on the compiled binary: of three providers one replies to orders with pages, one has no funds, and one is
// down. In the morning all three work again, and the orders of the night wait for the operator.

import { binaryJson, BINARY, type Serving, servingWith, stop } from "../../support/binary.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { json, PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";
import { compileShim } from "../powercut/shim.ts";

/** How far the night lies back: further than an order may arrive after its submission ended. */
const NIGHT_SECONDS = 3 * 3600;
/** Each provider's rate for 1,000 units. */
const RATE = 2.5;
const SERVICE = "7";
/** Orders before the night and after it, which the provider answers. */
const AROUND = 10;
const NAMES = ["pages", "poor", "dead"] as const;
type Name = (typeof NAMES)[number];

export interface BadNight {
  folder: string;
  /** By day. */
  server: Serving;
  upstreams: Record<Name, Upstream>;
  /** Orders whose submission is unknown, and whether the provider has them: its number, or null. */
  unknown: Map<number, string | null>;
  /** Orders that wait at `poor`. */
  held: number[];
  /** Orders that wait at `dead`. */
  waiting: number[];
  admin: (...argv: string[]) => Promise<Body>;
  /** Pays into our account at `poor`. Only for a night with `isPoorByDay`. */
  topUp(): void;
  end(): Promise<void>;
}

interface Options {
  /** Orders that become unknown. */
  unknown: number;
  /** Orders that wait at each of the two other providers. */
  waiting: number;
  /** More flags of the server by day. */
  flags?: readonly string[];
  /** `poor` has no funds in the morning either. */
  isPoorByDay?: boolean;
}

/** Lets the night pass, and resolves in the morning. */
export async function passBadNight(
  folder: string,
  { unknown, waiting, flags = [], isPoorByDay = false }: Options,
): Promise<BadNight> {
  const upstreams = {
    pages: await startUpstream(),
    poor: await startUpstream(),
    dead: await startUpstream(),
  };
  const shim = await compileShim();
  const past = shim.environment(folder, { clockSeconds: -NIGHT_SECONDS });
  const atNight = async (...argv: string[]) => {
    const child = Bun.spawn([BINARY, "admin", ...argv, "--json"], {
      cwd: folder,
      env: { ...process.env, ...past },
      stdin: Buffer.from(PROVIDER_KEY),
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")}: ${stderr}`);
    return JSON.parse(stdout) as Body;
  };
  const retry = ["--place-retry", "12h"];
  const server = await servingWith(past, folder, "serve", "--provider-pause-after", "0", ...retry);
  await atNight("user", "create", "alice");
  await atNight("user", "credit", "alice", "1000", "--yes");
  const { key } = await atNight("key", "create", "--user", "alice", "--type", "order");
  for (const name of NAMES) await addProvider(name, upstreams[name], atNight);

  const orderNumber = new Map<string, number>();
  const place = async (service: Name, index: number, at = server): Promise<number> => {
    const link = `https://example.com/${service}/${index}`;
    const order = { service, link, quantity: 100 + 7 * index };
    const { status, body } = await callApi(at.url, "POST", "/orders", key, order);
    if (status !== 200) throw new Error(JSON.stringify(body));
    orderNumber.set(link, body.order.orderId);
    return body.order.orderId;
  };
  const several = async (count: number, service: Name, first: number, at = server) => {
    const placed: number[] = [];
    for (let index = first; index < first + count; index += 1) {
      placed.push(await place(service, index, at));
    }
    return placed;
  };

  await several(AROUND, "pages", 0);
  upstreams.pages.always("add", { body: "<!doctype html><title>502 Bad Gateway</title>" });
  upstreams.poor.always("add", json({ error: "Not enough funds on balance" }));
  await upstreams.dead.down();
  const lost = await several(unknown, "pages", AROUND);
  const held = await several(waiting, "poor", 0);
  const unsent = await several(waiting, "dead", 0);
  // Two of three reached the provider; the numbers of the others belong to orders of its other customers.
  const { book } = upstreams.pages;
  const taken = new Map<number, string>();
  for (const [number, { form }] of [...book].slice(AROUND)) {
    if (Number(number) % 3 === 0) book.delete(number);
    else taken.set(orderNumber.get(form["link"]!)!, number);
  }
  upstreams.poor.book.clear();
  await stop(server);

  const topUp = () => {
    upstreams.poor.always("add", null);
    upstreams.poor.always("balance", null);
  };
  upstreams.pages.always("add", null);
  if (isPoorByDay) upstreams.poor.always("balance", json({ balance: "0.05", currency: "USD" }));
  else topUp();
  await upstreams.dead.up();
  const day = await servingWith({}, folder, "serve", ...retry, ...flags);
  await several(AROUND, "pages", AROUND + unknown, day);
  for (const { status, form } of book.values()) {
    Object.assign(status as object, {
      charge: ((RATE * Number(form["quantity"])) / 1000).toFixed(5),
      currency: "USD",
    });
  }
  return {
    folder,
    server: day,
    upstreams,
    unknown: new Map(lost.map((orderId) => [orderId, taken.get(orderId) ?? null])),
    held,
    waiting: unsent,
    admin: (...argv) => binaryJson(folder, "admin", ...argv),
    topUp,
    async end() {
      await stop(day);
      for (const name of NAMES) await upstreams[name].stop();
    },
  };
}

/** Adds a provider with its list of one service, which gets the provider's name. */
async function addProvider(
  name: Name,
  upstream: Upstream,
  admin: (...argv: string[]) => Promise<Body>,
): Promise<void> {
  const listed = { service: SERVICE, name, type: "Default", category: "All", rate: String(RATE) };
  upstream.services = [{ ...listed, min: "10", max: "100000" }];
  const funds = name === "poor" ? ["--on-no-funds", "hold"] : [];
  await admin("provider", "create", name, "--url", upstream.url, "--key-stdin", ...funds);
  await admin("provider", "sync", name, "--markup", "40%", "--readable-ids");
}

/** Returns the numbers of the unknown orders that did not end as their provider has them; none: all are settled, and right. */
export async function wrongSettlements({ admin, unknown }: BadNight): Promise<number[]> {
  const orders: Body[] = await admin("order", "list", "--limit", "1000");
  const found = new Map(orders.map((order) => [order.orderId, order]));
  return [...unknown].flatMap(([orderId, number]) => {
    const { status, refunded, charge, providerOrder } = found.get(orderId)!;
    const isRight =
      number === null
        ? status === "FAILED" && refunded === charge
        : status !== "FAILED" && refunded === 0 && providerOrder === number;
    return isRight ? [] : [orderId];
  });
}

/** Waits until the orders of the other two providers were sent. */
export async function untilSent({ upstreams, held, waiting }: BadNight): Promise<void> {
  await until(() => upstreams.dead.book.size === waiting.length);
  await until(() => upstreams.poor.book.size === held.length);
}
