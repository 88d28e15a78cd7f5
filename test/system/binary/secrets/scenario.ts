// The compiled program with everything that has a secret, each of them used: payments, e-mails, off-site copies,
// providers, webhooks, alerts, keys, passwords, second factors and links.

import { generateIdentity, identityToRecipient } from "age-encryption";
import { ROLES } from "../../../../src/domain/administrators/administrators.ts";
import { MEMBER_ROLES } from "../../../../src/domain/members/members.ts";
import { codeOf, stepAt } from "../../../../src/domain/sign-ins/second-factor.ts";
import { runBinary, type ServerProcess, startServerProcess } from "../../../support/binary.ts";
import { freshFolder } from "../../../support/folders.ts";
import { type Body, callApi } from "../../../support/http/api.ts";
import { localCertificate, startMailServer } from "../../../support/peers/mail-server.ts";
import { ACCESS_KEY, startS3 } from "../../../support/peers/s3.ts";
import { startStripe, TEST_KEY, WEBHOOK_SECRET } from "../../../support/peers/stripe/server.ts";
import { PROVIDER_KEY, startUpstream } from "../../../support/peers/upstream.ts";
import { freePort } from "../../../support/ports.ts";
import { until } from "../../../support/until.ts";
import { hiddenFields } from "../../../support/worlds/panel.ts";
import { sendNotice } from "../../crash/payment-notices.ts";
import { type Browser, browserOf } from "./browser.ts";

/** Where a secret is stored on purpose: in clear, to be used; as a hash, which only checks it; not at all. */
export type Stored = "clear" | "hash" | "nowhere";
export interface Secret {
  name: string;
  text: string;
  stored: Stored;
}

const SMTP = { user: "u@nova.example", password: "smtp-pass-zqx71" };
const BOT_TOKEN = "7711:telegram-bot-token-zqx72";
const METHOD_SECRET = `whsec_${Buffer.from("callback secret zqx73 of 32 bytes").toString("base64")}`;
const EMAIL = (role: string) => `${role}@alice.example`;

export async function play() {
  const data = freshFolder();
  const secrets: Secret[] = [];
  const note = (name: string, text: string, stored: Stored) =>
    void secrets.push({ name, text, stored });
  const ends: (() => unknown)[] = [];
  const mails = await startMailServer({ tls: "implicit", login: SMTP });
  const s3 = await startS3();
  const upstream = await startUpstream();
  const stripe = await startStripe();
  /** Requests of webhooks and alerts. */
  const received: string[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      received.push(JSON.stringify([...request.headers]) + (await request.text()));
      // Telegram refuses, and repeats the token that it was called with.
      const description = `Not Found: ${request.url}`;
      if (request.url.includes("/bot"))
        return Response.json({ ok: false, error_code: 404, description }, { status: 404 });
      return new Response("{}");
    },
  });
  ends.push(
    () => mails.close(),
    () => s3.stop(),
    () => upstream.stop(),
    () => stripe.stop(),
    () => receiver.stop(),
  );
  const recipient = await identityToRecipient(await generateIdentity());
  const panelUrl = `http://127.0.0.1:${freePort()}`;
  const metricsUrl = `http://127.0.0.1:${freePort()}`;
  const environment: Record<string, string> = {
    ...s3.environment,
    RESELLER_SMTP: `smtps://${encodeURIComponent(SMTP.user)}@127.0.0.1:${mails.port}`,
    RESELLER_SMTP_PASSWORD: SMTP.password,
    RESELLER_MAIL_FROM: "orders@nova.example",
    RESELLER_MAIL_OPERATOR: "olga@nova.example",
    RESELLER_BACKUP_RECIPIENT: recipient,
    RESELLER_DATA: data,
    RESELLER_WEBHOOK_ALLOW: "127.0.0.0/8",
    RESELLER_WEBHOOK_ALLOW_HTTP: "on",
    NODE_EXTRA_CA_CERTS: localCertificate().cert,
  };
  note("smtp-password", SMTP.password, "nowhere");
  note("s3-access-key, s3-secret-key", ACCESS_KEY, "nowhere");

  const serve = `--portal --portal-registration open --log-level debug --panel-listen ${new URL(panelUrl).host} --metrics-listen ${new URL(metricsUrl).host} --stripe-api ${stripe.url} --telegram-api http://127.0.0.1:${receiver.port}`;
  const server: ServerProcess = await startServerProcess({
    data,
    environment,
    arguments: serve.split(" "),
  });
  ends.push(() => server.kill());
  const cli = (words: string, stdin?: string) =>
    runBinary(words.split(" "), { environment, ...(stdin !== undefined && { stdin }) });
  const json = async (words: string, stdin?: string): Promise<Body> => {
    const { exitCode, stdout, stderr } = await cli(`${words} --json`, stdin);
    if (exitCode !== 0) throw new Error(`${words}: ${stderr}`);
    return JSON.parse(stdout || "null");
  };

  // Provider, catalogue, keys.
  await json(`admin provider create acme --url ${upstream.url} --key-stdin`, PROVIDER_KEY);
  note("key of a provider", PROVIDER_KEY, "clear");
  await json("admin service create --id s --name S --price 1 --min 1 --max 1000");
  await json(
    "admin service create --id p --name P --price 1 --min 1 --max 1000 --provider acme --provider-service 7",
  );
  await json("admin user create alice");
  await json("admin user credit alice 100 --yes");
  const keys: string[] = [];
  for (const type of ["order", "recharge --reach all", "full --reach all", "order --test"]) {
    const { key } = await json(`admin key create --user alice --type ${type}`);
    note(`API key, ${type}`, key, "hash");
    keys.push(key);
  }

  // Methods to pay.
  await json(
    "admin payment method add callback wallet --name Wallet --secret-stdin secret",
    METHOD_SECRET,
  );
  note("payment method: callback, secret", METHOD_SECRET, "clear");
  const file = `${freshFolder()}/secret`;
  await Bun.write(file, WEBHOOK_SECRET);
  await json(
    `admin payment method add stripe card --name Card --secret-stdin secret-key --secret-file webhook-secret=${file}`,
    TEST_KEY,
  );
  note("payment method: stripe, secret-key", TEST_KEY, "clear");
  note("payment method: stripe, webhook-secret", WEBHOOK_SECRET, "clear");
  await json("admin payment method add manual bank --name Bank");

  // Webhooks and alerts, which are sent.
  const hook = `http://127.0.0.1:${receiver.port}/hooks`;
  const webhook = await json(`admin webhook create --user alice --url ${hook}`);
  note("secret of a webhook, before", webhook.secret, "clear");
  const rotated = await json(`admin webhook rotate ${webhook.id}`);
  note("secret of a webhook", rotated.secret, "clear");
  await json(`admin webhook test ${webhook.id}`);
  const alert = await json(`admin alert create --url ${hook}`);
  note("secret of an alert endpoint", alert.secret, "clear");
  const telegram = await json("admin alert create --telegram-chat 1 --token-stdin", BOT_TOKEN);
  note("token of a Telegram bot", BOT_TOKEN, "clear");
  await cli(`admin alert test ${alert.id}`);
  await cli(`admin alert test ${telegram.id}`);

  // People of the panel, one with a second factor.
  const linkToken = (link: string) => link.split("#").at(-1)!;
  const panel: Record<string, Browser> = {};
  for (const role of ROLES) {
    const { link } = await json(`panel invite a-${role} --role ${role} --panel-url ${panelUrl}`);
    const token = linkToken(link);
    note(`link for the panel, ${role}`, token, "hash");
    const browser = (panel[role] = browserOf(panelUrl));
    const password = `panel-password-${role}-zqx74`;
    note(`password for the panel, ${role}`, password, "hash");
    await browser.post("/setup", { token, password });
    await browser.post("/sign-in", { name: `a-${role}`, password: `${password}x` });
    await secondFactor(browser, "/account", `panel, ${role}`, role === "owner");
  }

  // Members of the portal: the owner by a link, the others and a new password by e-mail.
  const portal: Record<string, Browser> = {};
  const mailed = async (to: string, path: string): Promise<string> => {
    const link = new RegExp(`${path}#([\\w-]{43})`);
    const isNew = (token: string) => secrets.every(({ text }) => text !== token);
    const find = () =>
      mails.received
        .filter((mail) => mail.to === to)
        .flatMap(({ mail }) => link.exec(mail.text!)?.[1] ?? [])
        .find(isNew);
    await until(() => find() !== undefined);
    const token = find()!;
    note(`link by e-mail to ${to}, ${path}`, token, "hash");
    return token;
  };
  for (const role of [...MEMBER_ROLES].toReversed()) {
    const email = EMAIL(role);
    const flags = `--email ${email} --role ${role}`;
    const { link } = await json(
      `admin portal invite alice ${flags}${role === "owner" ? " --link" : ""}`,
    );
    const token = role === "owner" ? linkToken(link) : await mailed(email, "/set-up");
    if (role === "owner") note("link for the portal", token, "hash");
    const browser = (portal[role] = browserOf(server.url, "/portal"));
    const password = `portal-password-${role}-zqx75`;
    note(`password for the portal, ${role}`, password, "hash");
    await browser.post("/set-up", { token, password });
    await browser.post("/sign-in", { email, password: `${password}x` });
    await secondFactor(browser, "/settings", `portal, ${role}`, role === "viewer");
  }
  const visitor = browserOf(server.url, "/portal");
  await visitor.post("/forgotten", { email: EMAIL("viewer") });
  await mailed(EMAIL("viewer"), "/set-up");
  await visitor.post("/register", { email: "eve@new.example", name: "Eve" });
  await mailed("eve@new.example", "/register/confirm");

  const moved = { name: "Bea", email: "bea@new.example", language: "en", timeZone: "UTC" };
  const proof = "portal-password-buyer-zqx75";
  await portal["buyer"]!.post("/settings", { ...moved, proof });
  await mailed(moved.email, "/settings/address");

  /** Offers a second factor, and takes it if it is enabled. */
  async function secondFactor(browser: Browser, path: string, whose: string, isEnabled: boolean) {
    await browser.post(`${path}/second-factor/offer`, {});
    const { text } = await browser.get(`${path}/second-factor`);
    const shown = /<code id="secret">([A-Z2-7 ]+)</.exec(text)![1]!;
    const secret = shown.replaceAll(" ", "");
    note(`second factor, ${whose}`, secret, "clear");
    if (!isEnabled) return;
    const code = codeOf(secret, stepAt(Date.now()));
    const enabled = await browser.post(`${path}/second-factor/enable`, { code });
    for (const [index, each] of /<pre id="codes">([^<]+)</
      .exec(enabled.text)![1]!
      .split("\n")
      .entries())
      note(`recovery code ${index}, ${whose}`, each, "hash");
  }

  // Orders, one of which the provider refuses while it repeats its key; payments of each kind, begun, reported wrongly
  // and rightly.
  const refused = { error: `Incorrect request, key ${PROVIDER_KEY}` };
  upstream.next("add", { status: 200, body: JSON.stringify(refused) });
  upstream.next("balance", { status: 200, body: JSON.stringify(refused) });
  for (const service of ["p", "s", "p"])
    await callApi(server.url, "POST", "/orders", keys[0]!, { service, link: "x", quantity: 1 });
  const owner = portal["owner"]!;
  for (const method of ["card", "wallet", "bank"]) {
    const { text } = await owner.post("/add-funds", { method, amount: "25" });
    await owner.post("/add-funds", hiddenFields(text));
  }
  for (const [kind, id] of [
    ["callback", "wallet"],
    ["stripe", "card"],
  ])
    await fetch(`${server.url}/payments/${kind}/${id}`, {
      method: "POST",
      body: METHOD_SECRET,
      headers: { "stripe-signature": WEBHOOK_SECRET, "webhook-signature": METHOD_SECRET },
    });
  const payments = (await json("admin payment list")) as { id: string; method: string }[];
  const payment = payments.find(({ method }) => method === "wallet")!.id;
  const reported = { payment, id: "w-1" };
  await sendNotice(server.url, reported, { method: "wallet", secret: METHOD_SECRET });
  stripe.to.endpoint = { url: `${server.url}/payments/stripe/card`, secrets: [WEBHOOK_SECRET] };
  stripe.account.payByCard(stripe.session.id);
  await stripe.deliver(stripe.event("checkout.session.completed"));

  // The operator looks at the portal as a member sees it.
  const view = await panel["operator"]!.post("/users/alice/members/view", { role: "viewer" });
  const [, inspection] = /inspection#([\w-]+)/.exec(view.text)!;
  note("link to look at a portal", inspection!, "hash");
  const inspector = (portal["inspection"] = browserOf(server.url, "/portal"));
  await inspector.post("/inspection", { token: inspection! });

  for (const [whose, browsers] of [
    ["panel", panel],
    ["portal", portal],
  ] as const)
    for (const [role, browser] of Object.entries(browsers))
      for (const value of browser.cookies()) {
        const [, secret] = /^[^.]+\.([\w-]{43})$/.exec(value) ?? [];
        if (secret !== undefined) note(`session, ${whose}, ${role}`, secret, "hash");
      }
  return {
    data,
    secrets,
    server,
    cli,
    json,
    panel,
    portal,
    visitor,
    keys,
    mails,
    s3,
    received,
    metricsUrl,
    panelUrl,
    upstream,
    environment,
    ids: { webhook: webhook.id as string, endpoint: alert.id as string },
    async end() {
      for (const end of ends) await end();
    },
  };
}

export type Play = Awaited<ReturnType<typeof play>>;
