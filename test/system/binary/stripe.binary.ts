// Payments by Stripe with the compiled binary: set up on the command line, paid in Chromium, over TLS to the local Stripe.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, binaryJson, runBinary, servingWith, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { startStripe, TEST_KEY, WEBHOOK_SECRET } from "../../support/peers/stripe/server.ts";
import { launch } from "../panel/browser.ts";
import { addFunds } from "../portal/card-payment.ts";

const PASSWORD = "several easy words";
const SECRETS = [TEST_KEY, WEBHOOK_SECRET];

/** Adds a Stripe method to the shop of a server that runs, as an operator does. */
async function addMethod(folder: string): Promise<void> {
  const file = join(folder, "webhook-secret");
  writeFileSync(file, `${WEBHOOK_SECRET}\n`);
  const add = `admin payment method add stripe card --name Card --data ${join(folder, "data")}`;
  const secrets = ["--secret-stdin", "secret-key", "--secret-file", `webhook-secret=${file}`];
  const added = await runBinary([...add.split(" "), ...secrets], { stdin: `${TEST_KEY}\n` });
  expect([added.exitCode, added.stderr]).toEqual([0, ""]);
  for (const secret of SECRETS) expect(added.stdout).not.toContain(secret);
}

test("a customer pays by card, over TLS to Stripe; the log, the lists and the backup hold no secret", async () => {
  const folder = freshFolder();
  const files = makeCertificate(folder, "localhost", 30, undefined, "DNS:localhost");
  const [cert, key] = [readFileSync(files.cert, "utf8"), readFileSync(files.key, "utf8")];
  const local = await startStripe({ tls: { cert, key } });
  const own = makeCertificate(folder, "shop");
  const tls = ["--tls-cert", own.cert, "--tls-key", own.key];
  const flags = ["serve", "--portal", "--stripe-api", local.url, "--log-level", "debug", ...tls];
  const server = await servingWith({ NODE_EXTRA_CA_CERTS: files.cert }, folder, ...flags);
  await binaryJson(folder, "admin", "user", "create", "alice");
  await addMethod(folder);
  const url = `${server.url}/payments/stripe/card`;
  Object.assign(local.to, { endpoint: { url, secrets: [WEBHOOK_SECRET] }, isAutomatic: true });
  const invite = "admin portal invite alice --email ann@alice.example".split(" ");
  const { link } = await binaryJson(folder, ...invite);

  const browser = await launch();
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ javaScriptEnabled, ignoreHTTPSErrors: true });
    context.setDefaultTimeout(0);
    const page = await context.newPage();
    if (javaScriptEnabled) {
      await page.goto(String(link));
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Continue" }).click();
    } else {
      await page.goto(`${server.url}/portal/sign-in`);
      await page.getByLabel("E-mail").fill("ann@alice.example");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
    }
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await addFunds(page, "25", "card");
    await page.locator("#payment").getByText("Paid", { exact: true }).first().waitFor();
    await context.close();
  }
  await browser.close();

  const { balance } = await binaryJson(folder, "admin", "user", "show", "alice");
  expect(Number(balance)).toBe(50);
  const forged = { ...local.event("checkout.session.completed"), id: "evt_forged" };
  expect((await local.deliver(forged, { secrets: ["whsec_OfSomeoneElse0000"] })).status).toBe(401);

  const lists = [
    "admin payment list",
    "admin payment method list",
    "admin payment method show card",
  ];
  const printed = await Promise.all(
    [...lists, "admin audit list", "config show", "admin backup"].map(async (command) => {
      const { stdout, stderr } = await binary(folder, ...command.split(" "));
      return stdout + stderr;
    }),
  );
  const manifests = readdirSync(join(folder, "data"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => readFileSync(join(folder, "data", name), "utf8"));
  const commandLine = readFileSync(`/proc/${server.pid}/cmdline`, "utf8");
  await stop(server);
  const log = server.stderr() + server.stdout();
  expect(log).toContain("a payment was read");
  for (const text of [log, commandLine, ...printed, ...manifests]) {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
  const { code, stdout } = await binary(folder, "verify");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/ok|balanced|no finding/i)]);
  await local.stop();
});

test("a secret on the command line is refused, and a currency that Stripe cannot charge exactly", async () => {
  const add = "admin payment method add stripe card".split(" ");
  const onLine = await runBinary([...add, "--set", `secret-key=${TEST_KEY}`]);
  expect(onLine.exitCode).toBe(2);
  expect(onLine.stderr).not.toContain(TEST_KEY);
  const dinar = await runBinary([...add, "--currency", "KWD", "--rate-to-usd", "3.2"]);
  expect([dinar.exitCode, dinar.stderr]).toEqual([2, expect.stringContaining("KWD")]);
  const wrong = await runBinary([...add, "--secret-stdin", "secret-key"], { stdin: "pk_test_1" });
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("sk_… or rk_…")]);
});
