// What is measured: something that listens, with a market of resellers, keys and services in it.

import { load, type Shot } from "../tools/load.ts";

export const RESELLERS = 16;
export const SERVICES = 1000;
/** What every order buys. */
export const SERVICE = "bench";
/** In USD, for each reseller: enough for any run. */
export const BALANCE = 100_000_000;
export const PRICE = 0.01;
/** Compilation of the hot code takes most of a processor for the first seconds, of every subject. */
const WARM_UP_SECONDS = 5;
const WARM_UP_CONNECTIONS = 32;
/** Orders that `GET /orders/:id` asks for. */
const KNOWN_ORDERS = 64;

export interface Running {
  url: string;
  /** One key a reseller. */
  keys: string[];
  pids: number[];
  stop(): Promise<void>;
}

export interface Subject {
  name: string;
  /** On a market of its own without any orders. `env` is for its process. */
  start(env?: Record<string, string>): Promise<Running>;
}

/**
 * Measures every case with one subject after the other, in reverse order in every second round, so that other load of
 * the machine affects them alike. The subjects are restarted for each round, and the others are idle while one works.
 */
export async function inTurn<Case>(
  subjects: Subject[],
  rounds: number,
  cases: readonly Case[],
  measure: (running: Running, subject: Subject, measured: Case) => Promise<void>,
  env?: Record<string, string>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const started: [Subject, Running][] = [];
    try {
      for (const subject of subjects) started.push([subject, await subject.start(env)]);
      for (const [, running] of started) await warmUp(running);
      for (const measured of cases) {
        const order = round % 2 ? started.toReversed() : started;
        for (const [subject, running] of order) await measure(running, subject, measured);
      }
    } finally {
      for (const [, running] of started) await running.stop();
    }
  }
}

/** Orders from that many resellers in turn. */
export function placeOrders({ keys }: Running, resellers: number): Shot[] {
  return keys.slice(0, resellers).map(placeOrder);
}

function placeOrder(key: string): Shot {
  const body = JSON.stringify({
    service: SERVICE,
    link: "https://example.com/me",
    quantity: 100,
  });
  return { method: "POST", path: "/orders", key, body };
}

export function read(path: string, { keys }: Running, resellers: number): Shot[] {
  return keys.slice(0, resellers).map((key) => ({ method: "GET", path, key }));
}

/** Places some orders and asks for them by id, each with its reseller's key. */
export async function readOrders({ url, keys }: Running, resellers: number): Promise<Shot[]> {
  const shots: Shot[] = [];
  for (let count = 0; count < KNOWN_ORDERS; count += 1) {
    const key = keys[count % resellers]!;
    const { path, method, body } = placeOrder(key);
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json", "x-api-key": key },
      body: body!,
    });
    const { order } = (await response.json()) as { order: { id: string } };
    shots.push({ method: "GET", path: `/orders/${order.id}`, key });
  }
  return shots;
}

async function warmUp(running: Running): Promise<void> {
  const shots = [...placeOrders(running, RESELLERS), ...read("/balance", running, RESELLERS)];
  await load(running.url, {
    shots,
    connections: WARM_UP_CONNECTIONS,
    seconds: WARM_UP_SECONDS,
  });
}
