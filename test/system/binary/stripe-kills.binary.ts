// A server that is killed while it calls Stripe, or takes an event: after the next start the payment is begun once and
// credited once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import {
  binary,
  binaryJson,
  runBinary,
  type ServerProcess,
  startServerProcess,
} from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import {
  type LocalStripe,
  startStripe,
  TEST_KEY,
  WEBHOOK_SECRET,
} from "../../support/peers/stripe/server.ts";
import { freePort } from "../../support/ports.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { until } from "../../support/until.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";

const SEED = Date.now() % 1_000_000;
const KILLS = 8;
/** An event is taken in a few milliseconds. */
const KILL_WITHIN_MS = 25;
const COMPLETED = "checkout.session.completed";

const folder = freshFolder();
const data = join(folder, "data");
/** The same each time: the address to come back to is part of what Stripe is asked. */
const port = freePort();
let local: LocalStripe;
let server: ServerProcess;
let cookie: string;

async function start(): Promise<void> {
  const settings = ["--port", String(port), "--portal", "--stripe-api", local.url];
  server = await startServerProcess({ data, arguments: settings });
  const url = `${server.url}/payments/stripe/card`;
  local.to.endpoint = { url, secrets: [WEBHOOK_SECRET] };
}

beforeAll(async () => {
  local = await startStripe();
  await start();
  await binaryJson(folder, "admin", "user", "create", "alice");
  for (const [name, secret] of [
    ["secret-key", TEST_KEY],
    ["webhook-secret", WEBHOOK_SECRET],
  ] as const) {
    await Bun.write(join(folder, name), secret);
  }
  const files = ["secret-key", "webhook-secret"].flatMap((name) => [
    "--secret-file",
    `${name}=${join(folder, name)}`,
  ]);
  const add = ["admin", "payment", "method", "add", "stripe", "card", "--data", data];
  expect((await runBinary([...add, ...files])).exitCode).toBe(0);
  const invite = "admin portal invite alice --email ann@alice.example".split(" ");
  const { link } = await binaryJson(folder, ...invite);
  const token = String(link).split("#").at(-1)!;
  const entered = await post("/set-up", { token, password: "several easy words" });
  cookie = entered.headers.get("set-cookie")!.split(";")[0]!;
});
afterAll(async () => {
  await server.stop();
  await local.stop();
});

function post(path: string, fields: Record<string, string>): Promise<Response> {
  return fetch(`${server.url}/portal${path}`, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { origin: server.url, ...(cookie && { cookie }) },
    redirect: "manual",
  });
}

async function review(): Promise<Record<string, string>> {
  const page = await post("/add-funds", { method: "card", amount: "25" });
  return hiddenFields(await page.text());
}

/** Kills the server while the request is under way, and starts it again. */
async function killDuring(request: Promise<unknown>): Promise<void> {
  const ended = request.catch(() => null);
  await server.kill();
  await ended;
  await start();
}

const balance = async () =>
  Number((await binaryJson(folder, "admin", "user", "show", "alice")).balance);
const newest = async () => (await binaryJson(folder, "admin", "payment", "list"))[0];

test("killed while Stripe is asked: the member tries again, and there is one session", async () => {
  const release = local.hold(/^POST/);
  const asked = local.asked.length;
  const request = post("/add-funds", await review());
  await until(() => local.asked.length > asked);
  await killDuring(request);
  release();
  const { id, state } = await newest();
  expect(state).toBe("created");
  expect((await post(`/payments/${id}/begin`, {})).status).toBe(303);
  expect([(await newest()).state, local.account.sessions.size]).toEqual(["pending", 1]);
});

test("killed while the payment is read: the event comes again, and is credited once", async () => {
  local.account.payByCard(local.session.id);
  const release = local.hold(/^GET/);
  const asked = local.asked.length;
  const delivery = local.deliver(local.event(COMPLETED));
  await until(() => local.asked.length > asked);
  await killDuring(delivery);
  release();
  expect(await balance()).toBe(0);
  for (const _ of [1, 2]) expect((await local.deliver(local.event(COMPLETED))).status).toBe(200);
  expect(await balance()).toBe(25);
});

test(`killed ${KILLS} times at any moment of an event, seed ${SEED}: credited once each`, async () => {
  const random = randomFrom(SEED);
  const before = await balance();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    expect((await post("/add-funds", await review())).status).toBe(303);
    local.account.payByCard(local.session.id);
    const event = local.event(COMPLETED);
    const deliveries = Promise.all([local.deliver(event), local.deliver(event)]);
    const ended = deliveries.catch(() => null);
    await Bun.sleep(below(random, KILL_WITHIN_MS));
    await killDuring(ended);
    expect((await local.deliver(event)).status).toBe(200);
    expect(await balance()).toBe(before + 25 * kill);
  }
  const { code, stdout } = await binary(folder, "verify");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/ok/i)]);
});
