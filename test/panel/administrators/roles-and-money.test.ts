// Every form of the panel, filled in in every way, by every role: who gets credit out of it, and keys that make it.

import { expect, test } from "bun:test";
import type { Role } from "../../../src/domain/administrators/administrators.ts";
import { memberOf } from "../../../src/domain/members/members.ts";
import { PROOF_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import type { ActionRoute } from "../../../src/panel/server/route.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { type FoundForm, fillings, formsIn, routeOf } from "./panel-forms.ts";
import { hiddenFields, PASSWORD, openPanel } from "../../support/worlds/panel.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { runs } from "../../support/runs.ts";
import { json, PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

/** How often each form is filled in. */
const FILLINGS = runs(24, 512);

/** A market with something for every form to act on. */
async function openMarket(url: string) {
  const market = seedPanelMarket(await openPanel());
  // A second session, which a form of the account can end.
  market.session("tester");
  market.administrator("olga", "operator");
  market.administrator("sam", "support");
  market.administrator("zed", "operator");
  const run: PanelMarket["run"] = (name, input) => market.run(name, input);
  run("updateProvider", { name: "acme", changes: { url, key: PROVIDER_KEY } });
  const recharge = market.key("alice", "recharge").id;
  run("setKeyActive", { id: recharge, active: false });
  const old = market.key("alice", "recharge", "children").id;
  market.query("UPDATE keys SET expires_at = created_at, ended = 1 WHERE id = ?", old);
  market.key("alice", "order");
  market.key("alice", "full", "all", true);
  run("setUserActive", { username: "bob", active: false });
  run("grantService", { id: "followers", username: "alice", priceMicros: 500_000 });
  run("createWebhook", {
    username: "alice",
    url: "https://hooks.example/",
    events: "*",
    secret: "whsec_stored",
    balanceLowBelow: null,
  });
  run("createAlertEndpoint", { target: { url: "https://alerts.example/" }, secret: "whsec_s" });
  const [first, second] = [market.order(), market.order(), market.order()];
  run("transitionOrder", { id: String(second), to: "COMPLETED", note: null });
  run("transitionOrder", { id: String(market.order()), to: "FAILED", note: null });
  run("updateService", { id: "followers", changes: { cancel: true } });
  market.delivered("unknown");
  market.delivered("queued");
  const placed = market.delivered({ placed: "815" });
  for (const word of ["Completed", "Canceled"]) {
    const report = { word, remains: null, startCount: null, text: word };
    const reports = [{ orderId: placed, report }];
    run("recordReports", { providerId: 1, reports, pollIntervalMs: 1000, jitter: 0 });
  }
  const [{ account }] = market.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  ) as [{ account: number }];
  const [{ id: keyId }] = market.query<{ id: string }>(
    "SELECT id FROM keys WHERE type = 'full' AND reseller_account = ?",
    Number(account),
  ) as [{ id: string }];
  const asked = { resellerAccount: Number(account), keyId };
  run("makeRequest", { ...asked, kind: "cancel", id: String(first) });
  market.service({ id: "paused" });
  run("setServiceActive", { id: "paused", active: false });
  const other = { name: "idle", protocol: "smm-api", url, key: PROVIDER_KEY };
  run("createProvider", other);
  run("setProviderActive", { name: "idle", active: false });
  run("setProviderPaused", { name: "idle", paused: true });
  const { id: webhook } = run("createWebhook", {
    username: "alice",
    url: "https://hooks.example/off",
    events: "*",
    secret: "whsec_stored",
    balanceLowBelow: null,
  });
  run("disableWebhook", { id: webhook });
  run("putRoute", { id: "likes", provider: "acme", providerService: "8", priority: null });
  const payer = seedMember(market);
  seedMethod(market, "bank", "manual");
  seedMethod(market, "card", "stripe", { active: false });
  seedMethod(market, "wallet", "callback", { settings: JSON.stringify({ secret: "s" }) });
  const person = memberOf(payer.operator)!;
  const session = {
    id: "session-of-a-member",
    hash: "0".repeat(64),
    address: "::1",
    userAgent: "",
  };
  run("openSession", { site: "portal", attempt: null, person, passwordHash: "p", session });
  market.query("UPDATE members SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE id = ?", person);
  const invited = { email: "off@x.example", name: "Off", role: "buyer", language: "en" } as const;
  const disabled = run("inviteMember", {
    ...invited,
    username: "alice",
    invitationHash: "4".repeat(64),
  });
  run("setMemberActive", { id: disabled, active: false });
  run("inviteMember", {
    ...invited,
    username: "alice",
    email: "soon@x.example",
    invitationHash: "5".repeat(64),
  });
  run("setPortal", { username: "bob", changes: { active: false } });
  run("register", {
    email: "new@x.example",
    name: "New",
    language: "en",
    limit: 1000,
    from: VISITOR,
  });
  run("addNotice", { texts: { en: "Slow today" }, untilAt: null });
  const payments = [1, 2].map(() =>
    askPayment(market, { methodId: "bank", actor: payer, now: market.clock.now }),
  );
  run("approvePayment", { id: payments[0]!, receivedMicros: null, creditMicros: null });
  market.query(
    `INSERT INTO mails (mail_id, id, kind, account, member, email, data, state, error, created_at, ended_at)
     SELECT 1, 'evt_failed000000000000000000', 'sign_in', account, id, email, '{}', 'failed', 'refused', 1, 1 FROM members LIMIT 1`,
  );
  return market;
}

interface Power {
  credited: string;
  keys: string[];
  names: string[];
  leaks: string[];
  terms: string[];
}

/**
 * What must not grow: credit from outside, keys that can make it, names that recharges go by, where stored keys go, and what
 * payments credit, who reports them and where customers send their money.
 */
function powerIn(market: PanelMarket): Power {
  const rows = (text: string) =>
    market.query(text).map((row) => JSON.stringify(Object.values(row)));
  return {
    credited: rows(
      "SELECT CAST(coalesce(sum(amount_micros), 0) AS TEXT) FROM transfers WHERE kind NOT IN ('order', 'refund', 'partial_refund')",
    )[0]!,
    keys: rows(
      `SELECT id, type, reach, recharge_limit_micros, recharge_daily_micros, allow, expires_at, ended, active
        FROM keys
        WHERE type <> 'order' AND test_of IS NULL ORDER BY id`,
    ),
    names: rows("SELECT account, lower(username) FROM users WHERE account <= 5 ORDER BY account"),
    // The forms that are sent here type other keys.
    leaks: rows(`SELECT DISTINCT url FROM providers WHERE key = '${PROVIDER_KEY}'`),
    terms: rows(
      `SELECT method_id, rate_to_usd, fee_ppm, fee_fixed_micros, fee_payer, bonus_steps, settings, instructions, resellers, active
        FROM payment_methods ORDER BY method_id`,
    ),
  };
}

/** A key that was switched off has lost nothing that anyone could gain by. */
function isNarrowed(before: string, after: string): boolean {
  return before === after || before.replace(/(?:1|true)\]$/, "0]") === after;
}

interface Gains {
  credit: boolean;
  keys: boolean;
  names: boolean;
  leaks: boolean;
  terms: boolean;
}

function gainsBetween(before: Power, after: Power): Gains {
  return {
    credit: before.credited !== after.credited,
    keys: after.keys.some((key) => !before.keys.some((old) => isNarrowed(old, key))),
    names: before.names.some((row) => !after.names.includes(row)),
    leaks: after.leaks.some((url) => !before.leaks.includes(url)),
    terms: before.terms.join() !== after.terms.join(),
  };
}

/** Sends a form as a role and confirms whatever the panel asks, with a proof. */
async function send(market: PanelMarket, cookie: string, action: string, sent: URLSearchParams) {
  const ask = (body: URLSearchParams) =>
    market.ask(action, { method: "POST", body, headers: { cookie, origin: market.url } });
  const reply = await ask(sent);
  const hidden = hiddenFields(reply.text);
  if (reply.status !== 200 || hidden["confirmed"] === undefined) return reply.status;
  const confirmed = new URLSearchParams({ ...Object.fromEntries(sent), ...hidden });
  confirmed.set("proof", PASSWORD);
  return (await ask(confirmed)).status;
}

const GAINS = ["credit", "keys", "names", "leaks", "terms"] as const;
type TriedRoutes = Record<(typeof GAINS)[number], string[]>;

/** The routes that let something grow, and those whose form was on no page. */
async function tryAll(role: Role, routes: readonly ActionRoute[]) {
  const upstream = await startUpstream();
  const listed = { service: 9, name: "Nine", rate: "0", type: "Default", min: "1", max: "100" };
  upstream.always("services", json([listed]));
  const grown: TriedRoutes = { credit: [], keys: [], names: [], leaks: [], terms: [] };
  const absent: string[] = [];
  for (const route of routes) {
    const market = await openMarket(upstream.url);
    const cookie = () =>
      market.session({ owner: "tester", operator: "olga", support: "sam" }[role]);
    const forms = await formsOf(market, route);
    if (forms.length === 0) absent.push(route.path);
    const held = new Set<keyof TriedRoutes>();
    for (const form of forms) {
      for (const filling of fillings(form, FILLINGS)) {
        const before = powerIn(market);
        await send(market, cookie(), form.action, filling);
        const change = gainsBetween(before, powerIn(market));
        for (const what of GAINS) if (change[what]) held.add(what);
      }
    }
    for (const what of held) grown[what].push(route.path);
    await market.stop();
  }
  await upstream.stop();
  return { grown, absent };
}

/** The forms that only the answer to another form has, by their routes: where that one is sent, and with what. */
const ANSWERED_WITH: Record<string, readonly [path: string, fields: Record<string, string>]> = {
  "/providers/:provider/unknown/settle": ["/providers/acme/unknown", { nearby: "1" }],
  "/save-view": ["/save-view", { name: "", query: "user=alice" }],
  "/remove-view": ["/save-view", { name: "Alice's", query: "user=alice" }],
};

/** The forms of an action on every page that has some, as an owner sees them. */
async function formsOf(market: PanelMarket, route: ActionRoute): Promise<FoundForm[]> {
  const forms = new Map<string, FoundForm>();
  const sent = ANSWERED_WITH[route.path];
  const pages = sent ? [() => market.post(...sent)] : [];
  for (const page of pagesOf(market, route.back)) pages.push(() => market.get(page));
  for (const page of pages) {
    for (const form of formsIn((await page()).text)) {
      const key = [form.action, ...form.fields.map(({ name }) => name)].join(" ");
      if (routeOf(form.action) === route) forms.set(key, form);
    }
  }
  return [...forms.values()];
}

/** The pages of a path of the table, with everything that can stand for its parameters. */
function pagesOf(market: PanelMarket, path: string): string[] {
  const values = (text: string) => market.query(text).map((row) => String(Object.values(row)[0]));
  const found: Record<string, () => string[]> = {
    order: () => values("SELECT order_id FROM orders"),
    user: () => values("SELECT username FROM users WHERE account BETWEEN 3 AND 5"),
    service: () => values("SELECT id FROM services"),
    provider: () => values("SELECT name FROM providers WHERE provider_id > 0"),
    webhook: () => values("SELECT id FROM webhooks"),
    payment: () => values("SELECT id FROM payments"),
    method: () => values("SELECT method_id FROM payment_methods"),
  };
  return path.split("/").reduce<string[]>(
    (paths, part) => {
      if (part === "") return paths;
      const parts = part.startsWith(":") ? found[part.slice(1)]!() : [part];
      return paths.flatMap((before) => parts.map((each) => `${before}/${each}`));
    },
    [""],
  );
}

/** A database of PostgreSQL takes long to make: there only the forms of keys and of one provider. */
const isTried = (path: string) =>
  ENGINE === "sqlite" || path.startsWith("/users/:user/keys") || path === "/providers/:provider";
const ACTIONS = ROUTES.filter((route): route is ActionRoute => route.method === "POST").filter(
  ({ path }) => isTried(path),
);
const FOR_OPERATORS = ACTIONS.filter(({ role }) => role === "operator" || role === "support");
/** Their forms are there with a second factor; they touch the password and the codes of who is signed in. */
const OF_SECOND_FACTOR = ["/account/second-factor/enable", "/account/second-factor/remove"];

test("no form lets an operator create credit or a key that can, rename a user, send a stored key to a new address, or change how payments credit", async () => {
  const { grown, absent } = await tryAll("operator", FOR_OPERATORS);
  expect(grown).toEqual({ credit: [], keys: [], names: [], leaks: [], terms: [] });
  expect(absent).toEqual(OF_SECOND_FACTOR.filter(isTried));
});

test("an owner can do each of these but send a stored key, by these forms only", async () => {
  const { grown } = await tryAll(
    "owner",
    ACTIONS.filter(({ path }) => /^\/(users|providers|payments|payment-methods)\b/.test(path)),
  );
  expect(grown).toEqual({
    credit: [
      "/payments/:payment/approve",
      "/payments/:payment/settle",
      "/users/:user/balance",
    ].filter(isTried),
    keys: [
      "/users/:user/activate",
      "/users/:user/keys",
      "/users/:user/keys/:key/update",
      "/users/:user/keys/:key/rotate",
      "/users/:user/keys/:key/activate",
    ].filter(isTried),
    names: ["/users/:user/rename", "/users/:user/erase"].filter(isTried),
    leaks: [],
    terms: [
      "/payment-methods",
      "/payment-methods/:method",
      "/payment-methods/:method/terms",
      "/payment-methods/:method/secrets",
      "/payment-methods/:method/rotate",
      "/payment-methods/:method/remove",
    ].filter(isTried),
  });
});

test("a key that can create credit is made and rotated only by an owner with a recent proof, and its page says what it can do", async () => {
  const market = seedPanelMarket(await openPanel());
  const keys = () => market.query("SELECT id FROM keys").length;
  const fields = { type: "recharge", reach: "all" };
  const asked = await market.post("/users/alice/keys", fields);
  expect(asked.text).toContain(
    "Whoever has this key can credit any user: any amount at once, without a daily limit.",
  );
  expect(asked.text).not.toContain('name="proof"');
  const before = keys();
  market.clock.now += PROOF_MS + 1000;
  const old = await market.post("/users/alice/keys", fields);
  expect(old.text).toContain('name="proof"');
  const confirmed = { ...fields, ...hiddenFields(old.text) };
  const wrong = await market.post("/users/alice/keys", { ...confirmed, proof: "wrong password" });
  expect([wrong.status, keys()]).toEqual([422, before]);
  const made = await market.post("/users/alice/keys", { ...confirmed, proof: PASSWORD });
  expect([made.text.includes("rk_"), keys()]).toEqual([true, before + 1]);
  await market.stop();
});

test("an operator sees why, and can still make order and test keys and deactivate any key", async () => {
  const market = seedPanelMarket(await openPanel({ role: "operator" }));
  const refused = await market.post("/users/alice/keys", { type: "full", reach: "children" });
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining("Only an owner may make, rotate, activate or change a key"),
  ]);
  const harmless: Record<string, string>[] = [
    { type: "order", reach: "all" },
    { type: "full", reach: "all", test: "yes" },
  ];
  for (const fields of harmless) {
    expect((await market.post("/users/alice/keys", fields)).text).toContain('<pre id="key">rk_');
  }
  const { id } = market.key("alice", "recharge");
  expect((await market.post(`/users/alice/keys/${id}/deactivate`)).status).toBe(303);
  const { text } = await market.get("/users/alice");
  expect(text).not.toContain(`/users/alice/keys/${id}/rotate`);
  expect(text).not.toContain(`/users/alice/keys/${id}/activate`);
  await market.stop();
});
