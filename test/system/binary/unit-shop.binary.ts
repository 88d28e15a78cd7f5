// The shop of a service behind the unit's seccomp filter, as another user, on a read-only file system: panel and portal,
// payments by Stripe and by hand, receipts, e-mails, webhooks and off-site copies, each with a real peer over TLS.

import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ATTACHMENT_LIMIT_BYTES } from "../../../src/domain/payments/attachments.ts";
import { runBinary } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { startMailServer } from "../../support/peers/mail-server.ts";
import { startS3 } from "../../support/peers/s3.ts";
import { startStripe, TEST_KEY, WEBHOOK_SECRET } from "../../support/peers/stripe/server.ts";
import { OK, startReceiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";
import { createCustomer } from "../../support/worlds/customer.ts";
import { killServers, operatorOf } from "../systemd/operator.ts";
import { confine, type Confined, unitSettings } from "../systemd/unit.ts";

const LOGIN = { user: "u", password: "hunter2" };
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const ENDS: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await killServers();
  for (const end of ENDS.splice(0)) await end();
});

/** Everything that a shop talks to, and the variables with which it does. */
async function startPeers(folder: string) {
  const files = makeCertificate(folder, "peers", 30, undefined, "DNS:localhost,IP:127.0.0.1");
  const tls = {
    cert: await Bun.file(files.cert).text(),
    key: await Bun.file(files.key).text(),
  };
  const [stripe, mail, receiver, s3] = await Promise.all([
    startStripe({ tls }),
    startMailServer({ tls: "implicit", certificate: files, login: LOGIN }),
    startReceiver(OK, { tls }),
    startS3(),
  ]);
  ENDS.push(
    () => stripe.stop(),
    () => mail.close(),
    () => receiver.stop(),
    () => s3.stop(),
  );
  const environment = {
    ...s3.environment,
    NODE_EXTRA_CA_CERTS: files.cert,
    RESELLER_SMTP: `smtps://${LOGIN.user}@localhost:${mail.port}`,
    RESELLER_SMTP_PASSWORD: LOGIN.password,
    RESELLER_MAIL_FROM: "Nova <orders@nova.example>",
    RESELLER_STRIPE_API: stripe.url,
    RESELLER_WEBHOOK_ALLOW: "127.0.0.0/8,::1/128",
  };
  return { stripe, mail, receiver, backupTo: s3.environment["RESELLER_BACKUP_TO"]!, environment };
}

function receiptOf(bytes: number): Uint8Array<ArrayBuffer> {
  const receipt = new Uint8Array(bytes);
  receipt.set(PNG);
  return receipt;
}

// Once as in the unit, and once killing the process: a refused call cannot go unnoticed by a fallback.
describe.each(["EPERM", "killed"] as const)("with other calls refused (%s),", (refused) => {
  let confined: Confined;
  beforeAll(() => {
    confined = confine(unitSettings(), refused);
  });

  test("a customer is invited by e-mail, pays by card and by hand, and orders; webhooks and off-site copies are sent", async () => {
    const { stripe, mail, receiver, backupTo, environment } = await startPeers(confined.folder);
    confined.handOver();
    const operator = operatorOf(confined, "shop", environment);
    const flags = ["--portal", "--panel-listen", "127.0.0.1:0", "--backup-every", "0"];
    const server = await operator.serve(...flags);
    const key = await operator.fill();

    await operator.run("admin portal invite alice --email ann@alice.example");
    await until(() => mail.received.length === 1);
    const customer = createCustomer(() => server.url);
    await customer.enter(/\S+set-up#\S+/.exec(mail.received[0]!.mail.text!)![0]);
    expect(await operator.run("admin mail test you@nova.example")).toBeObject();

    const secret = join(confined.folder, "webhook-secret");
    await Bun.write(secret, WEBHOOK_SECRET);
    confined.handOver();
    const secrets = `--secret-stdin secret-key --secret-file webhook-secret=${secret}`;
    await operator.run(`admin payment method add stripe card --name Card ${secrets}`, TEST_KEY);
    const url = `${server.url}/payments/stripe/card`;
    stripe.to.endpoint = { url, secrets: [WEBHOOK_SECRET] };
    await customer.pay("card", "25");
    expect(stripe.account.sessions.size).toBe(1);
    stripe.account.payByCard(stripe.session.id);
    const told = await stripe.deliver(stripe.event("checkout.session.completed"));
    expect(told.status).toBe(200);

    await operator.run("admin payment method add manual bank --name Bank");
    const receipt = receiptOf(ATTACHMENT_LIMIT_BYTES);
    const id = await customer.pay("bank", "50");
    expect((await customer.claim(id, receipt)).status).toBe(303);
    const kept = await operator.run(`admin payment file ${id}`);
    expect(Buffer.from(kept.data, "base64").equals(receipt)).toBe(true);
    await operator.run(`admin payment approve ${id} --received 50`);
    expect(await operator.run("admin user show alice")).toMatchObject({ balance: 175 });

    const hook = `--url https://localhost:${receiver.port}/hook`;
    await operator.run(`admin webhook create --user alice ${hook}`);
    const order = { service: "s", link: "x", quantity: 1 };
    expect((await callApi(server.url, "POST", "/orders", key, order)).status).toBe(200);
    await operator.run("admin order complete 1");
    await until(() => receiver.received.length === 1);

    const panel = /"panel":"(http[^"]+)"/.exec(server.log())![1]!;
    expect((await fetch(`${panel}/sign-in`)).status).toBe(200);
    process.kill(server.pid, "SIGUSR1");
    await until(() => server.log().includes("backup copied off-site"));
    const elsewhere = operatorOf(confined, "restored", environment);
    // Here all of /tmp is read-only.
    const { exitCode, stderr } = await runBinary(
      ["restore", backupTo, "--data", elsewhere.data, "--json"],
      { binary: confined.program, environment: { ...environment, TMPDIR: confined.folder } },
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(await elsewhere.run("verify")).toMatchObject({ ok: true, orders: 1 });
    const { findings } = await operator.run("doctor");
    expect(findings.filter(({ state }: { state: string }) => state === "fail")).toEqual([]);
    expect(await server.stop()).toBe(0);
    expect(server.log()).not.toContain('"level":"error"');
  });
});
