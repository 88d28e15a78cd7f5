// A load of orders and recharges, each with an Idempotency-Key of its own and identified by its link or its amount,
// and their audit: an acknowledged one exists exactly once, a refused one does not.

import type { Connection } from "../../../src/db/sqlite/connection.ts";
import { openForCommand } from "../../../src/storage/file/open.ts";
import { verify } from "../../../src/storage/doctor/verify.ts";
import { below, type Random } from "./seeded.ts";
import type { Answer } from "../http/api.ts";
import type { TestDatabase } from "../databases/test-database.ts";
import { tryCall } from "../binary.ts";

const RESELLER = "loaded";
const SERVICE = "likes";
/** How often a request is sent twice at the same time. */
const TWICE = 0.05;

/** One intent of a caller, retried until it is acknowledged. */
export interface Wish {
  number: number;
  path: "/orders" | "/recharge";
  body: Record<string, unknown>;
  /** The last response; null while there is none. */
  answer: Answer | null;
}

/** Makes the reseller, the service and the key that the load uses; returns the key. */
export function prepareLoad(database: TestDatabase): string {
  database.user(RESELLER, "1000000");
  database.service({ id: SERVICE, price: "1.5" });
  return database.key(RESELLER, "full").text;
}

export function wishFor(number: number): Wish {
  const isOrder = number % 5 < 3;
  return {
    number,
    path: isOrder ? "/orders" : "/recharge",
    body: isOrder
      ? { service: SERVICE, link: linkOf(number), quantity: 10 + (number % 1000) }
      : { username: RESELLER, amount: amountOf(number) },
    answer: null,
  };
}

/** Sends the wish; false when the server is gone. */
export async function send(url: string, key: string, wish: Wish, times = 1): Promise<boolean> {
  const headers = { "idempotency-key": `wish-${wish.number}` };
  const call = () => tryCall(url, "POST", wish.path, key, wish.body, headers);
  const answers = await Promise.all(Array.from({ length: times }, call));
  const given = answers.filter((answer) => answer !== null);
  const success = given.find(({ status }) => status === 200);
  const differs = given.find(({ status, text }) => status === 200 && text !== success?.text);
  if (differs) throw new Error(`one key, two answers: ${success?.text} and ${differs.text}`);
  wish.answer = success ?? given[0] ?? wish.answer;
  return given.length === times;
}

/** Sends wishes from `first` on over `connections` at once until `more` says no or the server is gone. */
export async function sendLoad(
  url: string,
  key: string,
  options: { first: number; connections: number; random: Random; more: (sent: number) => boolean },
): Promise<Wish[]> {
  const { first, connections, random, more } = options;
  const wishes: Wish[] = [];
  const connection = async () => {
    while (more(wishes.length)) {
      const wish = wishFor(first + wishes.length);
      wishes.push(wish);
      if (!(await send(url, key, wish, random() < TWICE ? 2 : 1))) return;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return wishes;
}

/** A sentence for each wish whose effect does not match its response. */
function auditWishes(connection: Connection, wishes: readonly Wish[]): string[] {
  const found = effects(connection);
  return wishes.flatMap((wish) => {
    const name = wish.path === "/orders" ? linkOf(wish.number) : String(microsOf(wish.number));
    const effect = found.get(name);
    const times = effect?.times ?? 0;
    const problem = (text: string) => [`wish ${wish.number} (${wish.path}): ${text}`];
    if (times > 1) return problem(`${times} effects`);
    // Nothing was heard, or that something broke: it may be there or not.
    if (wish.answer === null || wish.answer.status === 500) return [];
    if (wish.answer.status !== 200) return times === 0 ? [] : problem("refused, but there");
    if (times === 0) return problem("acknowledged, but lost");
    const told = wish.path === "/orders" ? wish.answer.body.order.orderId : null;
    return told === effect!.orderId ? [] : problem(`told order ${told}, found ${effect!.orderId}`);
  });
}

/** Everything that is wrong with the database in `folder`: wishes, sums, states, the file itself. */
export async function problemsOf(folder: string, wishes: readonly Wish[]): Promise<string[]> {
  const connection = openForCommand(folder);
  const problems = auditWishes(connection, wishes);
  for (const { check, subject, problem } of (await verify(connection)).problems) {
    problems.push(`${check}: ${subject}: ${problem}`);
  }
  connection.sqlite.close();
  return problems;
}

/** What the database holds, by link or amount. */
export function effects(
  connection: Connection,
): Map<string, { times: number; orderId: number | null }> {
  const rows = connection.sqlite
    .query(
      `SELECT link AS name, count(*) AS times, max(order_id) AS orderId FROM orders GROUP BY link
      UNION ALL
      SELECT amount_micros, count(*), NULL FROM transfers WHERE kind = 'recharge' GROUP BY amount_micros`,
    )
    .all() as { name: string | number; times: number; orderId: number | null }[];
  return new Map(rows.map(({ name, times, orderId }) => [String(name), { times, orderId }]));
}

export function someConnections(random: Random): number {
  return 1 + below(random, 24);
}

function linkOf(number: number): string {
  return `wish-${number}`;
}

function microsOf(number: number): number {
  return number + 1;
}

function amountOf(number: number): number {
  return microsOf(number) / 1e6;
}
