// The bad days of a shop: a disk that is full while receipts are uploaded and payments are credited, and a clock that is set
// back while sessions, links, payments and e-mails wait. Shows docs/specification/README.md#guarantee-full-disk.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { ATTACHMENT_LIMIT_BYTES } from "../../../src/domain/payments/attachments.ts";
import {
  binaryJson,
  runBinary,
  type ServerProcess,
  startServerProcess,
} from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import {
  localCertificate,
  type MailServerPeer,
  startMailServer,
} from "../../support/peers/mail-server.ts";
import {
  type LocalStripe,
  startStripe,
  TEST_KEY,
  WEBHOOK_SECRET,
} from "../../support/peers/stripe/server.ts";
import { until } from "../../support/until.ts";
import { createCustomer, type Customer } from "../../support/worlds/customer.ts";
import { SECRET, sendNotice } from "../crash/payment-notices.ts";
import { compileShim, type Shim, type ShimOptions } from "../powercut/shim.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const COMPLETED = "checkout.session.completed";
const HOUR_SECONDS = 3600;

let shim: Shim;
let stripe: LocalStripe;
let mail: MailServerPeer;
/** Addresses whose mails are deferred. */
const deferred = new Set<string>();
let server: ServerProcess;
let ann: Customer;
let folder: string;
let gate: string;
const admin = (line: string) => binaryJson(folder, "admin", ...line.split(" "));

beforeAll(async () => {
  shim = await compileShim();
});
beforeEach(async () => {
  deferred.clear();
  [stripe, mail] = await Promise.all([
    startStripe(),
    startMailServer({
      tls: "implicit",
      judge: (to) => (deferred.has(to) ? { at: "RCPT", code: 451 } : null),
    }),
  ]);
  folder = freshFolder();
  gate = join(freshFolder(), "gate");
});
afterEach(async () => {
  await server.kill();
  await Promise.all([stripe.stop(), mail.close()]);
});

/** A shop whose server has that fault while the file `gate` is there: ways to pay, and ann, who has signed in. */
async function openShop(fault: ShimOptions): Promise<void> {
  const data = join(folder, "data");
  server = await startServerProcess({
    data,
    arguments: ["--portal", "--stripe-api", stripe.url],
    environment: {
      ...shim.environment(data, { ...fault, gate }),
      NODE_EXTRA_CA_CERTS: localCertificate().cert,
      RESELLER_SMTP: `smtps://127.0.0.1:${mail.port}`,
      RESELLER_MAIL_FROM: "orders@nova.example",
    },
  });
  await admin("user create alice");
  const secrets = { "secret-key": TEST_KEY, "webhook-secret": WEBHOOK_SECRET };
  await addMethod("stripe card", secrets);
  await addMethod("callback wallet", { secret: SECRET });
  await addMethod("manual bank", {});
  stripe.to.endpoint = {
    url: `${server.url}/payments/stripe/card`,
    secrets: [WEBHOOK_SECRET],
  };
  ann = createCustomer(() => server.url);
  await ann.enter(await invitation("ann"));
}

async function addMethod(method: string, secrets: Record<string, string>): Promise<void> {
  const files = Object.entries(secrets).flatMap(([name, secret]) => {
    writeFileSync(join(folder, name), secret);
    return ["--secret-file", `${name}=${join(folder, name)}`];
  });
  const add = `admin payment method add ${method} --data ${join(folder, "data")}`.split(" ");
  expect((await runBinary([...add, ...files])).exitCode).toBe(0);
}

/** The link of an invitation, as its mail has it. */
async function invitation(name: string): Promise<string> {
  const to = `${name}@x.example`;
  await admin(`portal invite alice --email ${to}`);
  const received = () => mail.received.find((each) => each.to === to);
  await until(() => received() !== undefined);
  return /\S+set-up#\S+/.exec(received()!.mail.text!)![0];
}

const report = (payment: string) =>
  sendNotice(server.url, { payment, id: `t-${payment}` }, { method: "wallet" });

function receipt(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(ATTACHMENT_LIMIT_BYTES);
  bytes.set(PNG);
  return bytes;
}

const balance = async () => (await admin("user show alice"))["balance"] as number;
const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
async function expectVerified(): Promise<void> {
  expect(await binaryJson(folder, "verify")).toMatchObject({ ok: true });
}

test("a full disk: receipts, credits and payments are refused whole, and repeated each has its effect once", async () => {
  await openShop({ fault: "ENOSPC:1:1000000000" });
  const [byCard, byProgram, byHand] = [
    await ann.pay("card", "25"),
    await ann.pay("wallet", "10"),
    await ann.pay("bank", "50"),
  ];
  stripe.account.payByCard(stripe.session.id);
  const event = stripe.event(COMPLETED);
  const reviewed = await ann.review("bank", "20");

  writeFileSync(gate, "");
  const refused = {
    receipt: (await ann.claim(byHand, receipt())).status,
    event: (await stripe.deliver(event)).status,
    report: await report(byProgram),
    payment: (await ann.post("/add-funds", reviewed)).status,
    page: (await ann.get("/payments")).status,
    readiness: await readiness(),
  };
  expect(refused).toEqual({
    receipt: 503,
    event: 503,
    report: 503,
    payment: 503,
    page: 200,
    readiness: 503,
  });
  expect(await balance()).toBe(0);
  const none = await runBinary([
    "admin",
    "payment",
    "file",
    byHand,
    "--data",
    join(folder, "data"),
  ]);
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("sent no file")]);
  expect(await admin("payment list")).toHaveLength(3);

  rmSync(gate);
  await until(async () => (await readiness()) === 200);
  for (const _ of [1, 2]) {
    expect([(await stripe.deliver(event)).status, await report(byProgram)]).toEqual([200, 200]);
  }
  expect((await ann.claim(byHand, receipt())).status).toBe(303);
  const kept = await admin(`payment file ${byHand}`);
  expect(Buffer.from(String(kept["data"]), "base64").equals(receipt())).toBe(true);
  await admin(`payment approve ${byHand} --received 50`);
  expect(await balance()).toBe(85);
  expect((await admin(`payment show ${byCard}`))["state"]).toBe("paid");
  const paid = () => mail.received.filter(({ to }) => to === "ann@x.example").length - 1;
  await until(() => paid() === 3);
  await expectVerified();
  expect(await server.stop()).toBe(0);
});

test("a clock that is set back an hour: sessions and links work, what waits is done in time, and each payment is credited once", async () => {
  await openShop({ clockSeconds: -HOUR_SECONDS });
  const link = await invitation("bob");
  deferred.add("carl@x.example");
  await admin("portal invite alice --email carl@x.example");
  await until(async () => {
    const rows = (await admin("mail list")) as unknown as { to: string; error: string | null }[];
    return rows.some(({ to, error }) => to === "carl@x.example" && error !== null);
  });
  const [lost, byProgram, byHand] = [
    await ann.pay("card", "25"),
    await ann.pay("wallet", "10"),
    await ann.pay("bank", "50"),
  ];
  // Its event never comes.
  stripe.account.payByCard(stripe.session.id);

  writeFileSync(gate, "");
  await until(() => server.log().includes("the clock was set back"));
  deferred.clear();
  expect((await ann.get("/payments")).status).toBe(200);
  const bob = createCustomer(() => server.url);
  await bob.enter(link);
  expect((await bob.get("/payments")).status).toBe(200);
  expect((await ann.claim(byHand, receipt())).status).toBe(303);
  // By the clock of the server the notice is of the future.
  expect(await report(byProgram)).toBe(401);
  const fresh = await bob.pay("card", "5");
  stripe.account.payByCard(stripe.session.id);
  expect((await stripe.deliver(stripe.event(COMPLETED))).status).toBe(200);
  // A minute after it was begun, not an hour and a minute.
  await until(async () => (await balance()) === 30);
  await until(() => mail.received.some(({ to }) => to === "carl@x.example"));

  rmSync(gate);
  for (const _ of [1, 2]) expect(await report(byProgram)).toBe(200);
  await admin(`payment approve ${byHand} --received 50`);
  expect((await ann.get("/payments")).status).toBe(200);
  expect(await balance()).toBe(90);
  for (const id of [lost, byProgram, byHand, fresh]) {
    expect((await admin(`payment show ${id}`))["state"]).toBe("paid");
  }
  await expectVerified();
  expect(await server.stop()).toBe(0);
});
