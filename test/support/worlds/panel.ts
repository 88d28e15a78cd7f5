// A panel in this process on a fresh database, asked over real HTTP by an administrator of some role.

import type { Network } from "../../../src/config/networks.ts";
import { checkNewUrl } from "../../../src/webhooks/new-url.ts";
import type { Role } from "../../../src/domain/administrators/administrators.ts";
import { createActivityCounter } from "../../../src/reports/activity.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import { startPanel } from "../../../src/panel/server/listener.tsx";
import type { Panel, PanelSettings } from "../../../src/panel/server/panel.ts";
import { createPasswords } from "../../../src/web/server/passwords.ts";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/server/session-cookie.ts";
import { connectProvider } from "../../../src/providers/protocols.ts";
import { resolvePublic, openServerDatabase } from "./service.ts";
import { freshDatabase, type TestDatabase } from "../databases/test-database.ts";

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface TestPanel extends TestDatabase {
  url: string;
  settings: PanelSettings;
  clock: { now: number };
  /** What the log got of the panel. */
  logged: { fields: object; message: string }[];
  /** A new administrator with PASSWORD. */
  administrator(name: string, role: Role): void;
  /** A cookie of a new session of an administrator. `awaitsCode`: of one with a second factor, before the code. */
  session(name: string, awaitsCode?: boolean): string;
  ask(path: string, init?: RequestInit): Promise<Reply>;
  /** As the administrator that the panel was made with. */
  get(path: string): Promise<Reply>;
  /** A form of the panel's own page. */
  post(path: string, fields?: Record<string, string>): Promise<Reply>;
  stop(): Promise<void>;
}

export const PASSWORD = "correct horse battery";
/** With little work, so that tests are fast. */
const COST = { memoryCost: 8, timeCost: 1 };
export const PASSWORD_HASH = Bun.password.hashSync(PASSWORD, { algorithm: "argon2id", ...COST });

const SETTINGS: PanelSettings = {
  url: null,
  isSecure: false,
  needsSecondFactor: false,
  confirmAboveMicros: 100_000_000,
};

/** Signed in as `tester`, with that role. */
export async function freshPanel(
  role: Role = "owner",
  changes: Partial<PanelSettings> = {},
  trustedProxy: readonly Network[] = [],
): Promise<TestPanel> {
  const database = freshDatabase();
  const opened = await openServerDatabase(database);
  const settings = { ...SETTINGS, ...changes };
  const clock = { now: Date.now() };
  const logged: TestPanel["logged"] = [];
  const note = (fields: object, message: string) => void logged.push({ fields, message });
  const errors: unknown[] = [];
  const deps: Panel = {
    store: opened.store,
    slowStore: opened.slowStore,
    writer: opened.writer,
    log: { ...createLog("silent"), info: note, warn: note, error: note },
    now: () => clock.now,
    activity: createActivityCounter(opened.store),
    checkWebhookUrl: (text) => checkNewUrl(text, { allow: [], allowHttp: false }, resolvePublic),
    connect: (provider) => connectProvider(provider, 600_000),
    machine: () => ({}),
    lateness: () => Promise.resolve(new Map()),
    settings,
    passwords: createPasswords(COST),
    system: {
      versions: { version: "1" },
      database: database.description,
      configuration: [],
      readiness: () => Promise.resolve({ ready: true, checks: { database: { ok: true } } }),
      servers: () => 1,
      backups: null,
    },
    trustedProxy,
    onInternalError: (error) => void errors.push(error),
  };
  const server = startPanel(deps, { hostname: "127.0.0.1", port: 0 }, null);
  const url = `http://127.0.0.1:${server.port}`;
  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(url + path, { redirect: "manual", ...init });
    const text = await response.text();
    if (errors.length > 0) throw errors[0];
    return { status: response.status, headers: response.headers, text };
  };
  const administrator = (name: string, its: Role) => {
    const invitationHash = hashSecret(name);
    database.run("inviteAdministrator", { name, role: its, invitationHash });
    database.run("acceptInvitation", { invitationHash, passwordHash: PASSWORD_HASH });
  };
  const session = (name: string, awaitsCode = false) => {
    const [id, secret] = [random(16), random(32)];
    database.run("openSession", {
      attempt: null,
      name,
      passwordHash: PASSWORD_HASH,
      session: { id, hash: hashSecret(secret), address: "127.0.0.1", userAgent: "test" },
      hasProvedCode: !awaitsCode,
    });
    return `${settings.isSecure ? "__Host-" : ""}reseller=${id}.${secret}`;
  };
  administrator("tester", role);
  const cookie = session("tester");
  return {
    ...database,
    url,
    settings,
    clock,
    logged,
    administrator,
    session,
    ask,
    get: (path) => ask(path, { headers: { cookie } }),
    post: (path, fields = {}) =>
      ask(path, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { cookie, origin: url },
      }),
    async stop() {
      await server.stop();
      await opened.close();
      database.close();
    },
  };
}

export interface PanelMarket extends TestPanel {
  /** The number of a new order of alice's, at 0.232 USD unless the quantity is another than 100. */
  order(fields?: { user?: string; link?: string; quantity?: number; service?: string }): number;
  /** An order at the provider: not known whether it was placed, placed under a number, or still queued. */
  delivered(state: "queued" | "unknown" | { placed: string }): number;
  status(orderId: number): string;
  /** A form whose fields may come several times. */
  postForm(path: string, fields: URLSearchParams): Promise<Reply>;
  /** Returns the hidden fields of a confirmation page. */
  confirmed(html: string): Record<string, string>;
  /** Sends a form, then confirms what the panel shows. */
  confirm(path: string, fields: Record<string, string>): Promise<{ status: number; asked: string }>;
}

/** With alice, her child user kid, bob, a manual service, and one that a provider delivers. */
export async function openPanelMarket(role: Role = "owner"): Promise<PanelMarket> {
  const panel = await freshPanel(role);
  panel.user("alice", "100");
  panel.user("bob", "50");
  panel.user("kid", "7", "alice");
  panel.service({ id: "followers", name: "Followers", price: "2.32", min: 1 });
  panel.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:9/api/v2",
    key: "provider-key-0123456789",
  });
  const provided = { name: "acme", service: "7" };
  panel.service({ id: "likes", name: "Likes", price: "1", min: 1, provider: provided });
  const keys = new Map(["alice", "bob"].map((user) => [user, panel.key(user, "full").id]));
  const accountOf = (username: string) =>
    Number(panel.query("SELECT account FROM users WHERE username = ?", username)[0]!["account"]);

  const order: PanelMarket["order"] = ({
    user = "alice",
    link = "https://example.com/p",
    quantity = 100,
    service = "followers",
  } = {}) => {
    const resellerAccount = accountOf(user);
    const keyId = keys.get(user)!;
    return panel.run("placeOrder", { resellerAccount, keyId, service, link, quantity }).orderId;
  };
  const delivered: PanelMarket["delivered"] = (state) => {
    const orderId = order({ service: "likes" });
    if (state === "queued") return orderId;
    panel.attempt(
      orderId,
      state === "unknown"
        ? { outcome: "unknown", cause: "no answer within 30 s" }
        : { outcome: "accepted", providerOrder: state.placed },
    );
    return orderId;
  };
  const cookie = panel.session("tester");
  const confirmed = (html: string) =>
    Object.fromEntries(
      [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
        ([, name, value]) => [name!, value!.replaceAll("&amp;", "&")],
      ),
    );
  return {
    ...panel,
    order,
    delivered,
    status: (orderId) =>
      String(panel.query("SELECT status FROM orders WHERE order_id = ?", orderId)[0]!["status"]),
    confirmed,
    postForm: (path, body) =>
      panel.ask(path, { method: "POST", body, headers: { cookie, origin: panel.url } }),
    async confirm(path, fields) {
      const asked = await panel.post(path, fields);
      const { status } = await panel.post(path, { ...fields, ...confirmed(asked.text) });
      return { status, asked: asked.text };
    },
  };
}
