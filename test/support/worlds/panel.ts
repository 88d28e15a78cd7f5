// A panel in this process on a fresh database, asked over real HTTP by an administrator of some role.

import { join } from "node:path";
import type { Network } from "../../../src/config/networks.ts";
import { checkNewUrl } from "../../../src/webhooks/new-url.ts";
import type { Role } from "../../../src/domain/administrators/administrators.ts";
import { NO_ORDER_LIMITS } from "../../../src/domain/users/reseller-limits.ts";
import { createActivityCounter } from "../../../src/reports/activity.ts";
import { createStatusCounter } from "../../../src/reports/status-counter.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import type { ImportParts } from "../../../src/panel/imports/import-runs.ts";
import { createImports, startPanel } from "../../../src/panel/server/listener.tsx";
import { freeBytesIn } from "../../../src/storage/file/files.ts";
import type { Panel, PanelSettings } from "../../../src/panel/server/panel.ts";
import { createPasswords } from "../../../src/web/sessions/passwords.ts";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { checkMethod } from "../../../src/payments/methods.ts";
import { connectProvider } from "../../../src/providers/protocols.ts";
import { resolvePublic, openServerDatabase } from "./service.ts";
import type { TestPortal } from "./portal.ts";
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
  /** A form whose fields may come several times. */
  postForm(path: string, fields: URLSearchParams | FormData): Promise<Reply>;
  /** Sends a form, then confirms what the panel shows: `asked`. `text`: what it shows then. */
  confirm(
    path: string,
    fields: Record<string, string> | URLSearchParams,
  ): Promise<Reply & { asked: string; note: string }>;
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
  rateLimit: 0,
  orderLimits: NO_ORDER_LIMITS,
};

interface PanelOptions {
  /** Role of `tester`, who is signed in; default: owner. */
  role?: Role;
  settings?: Partial<PanelSettings>;
  trustedProxy?: readonly Network[];
  portal?: Partial<Panel["portal"]>;
  /** Default: nobody is there. */
  stripeApi?: URL;
  /** The panel is on the database of this portal. */
  beside?: TestPortal;
  /** In place of the one that counts. */
  activity?: Panel["activity"];
  /** Called with the name of each command of the panel before the writer gets it. */
  onCommand?: (name: string) => void;
  /** What differs for uploads of files. */
  upload?: Partial<ImportParts>;
}

const UPLOAD_LIMIT_BYTES = 8 * 1024 * 1024;

export async function openPanel({
  role = "owner",
  settings: changes = {},
  trustedProxy = [],
  beside,
  stripeApi = new URL("http://127.0.0.1:9/"),
  portal = {},
  onCommand = () => {},
  activity,
  upload = {},
}: PanelOptions = {}): Promise<TestPanel> {
  const database: TestDatabase = beside ?? freshDatabase();
  const opened = beside?.opened ?? (await openServerDatabase(database));
  const settings = { ...SETTINGS, ...changes };
  const clock = { now: Date.now() };
  const logged: TestPanel["logged"] = [];
  const note = (fields: object, message: string) => void logged.push({ fields, message });
  const errors: unknown[] = [];
  const onInternalError = (error: unknown) => void errors.push(error);
  const log = { ...createLog("silent"), info: note, warn: note, error: note };
  const writer: Panel["writer"] = {
    async submit(name, input) {
      onCommand(name);
      return opened.writer.submit(name, input);
    },
  };
  const { slowStore } = opened;
  const imports = createImports({
    folder: join(database.folder, "uploads"),
    limitBytes: UPLOAD_LIMIT_BYTES,
    diskFloor: 0,
    freeBytes: freeBytesIn,
    store: slowStore,
    writer,
    log,
    onInternalError,
    ...upload,
  });
  const deps: Panel = {
    store: opened.store,
    slowStore,
    writer,
    log,
    now: () => clock.now,
    activity: activity ?? createActivityCounter(opened.store),
    statuses: createStatusCounter(opened.store).readWithin,
    checkWebhookUrl: (text) => checkNewUrl(text, { allow: [], allowHttp: false }, resolvePublic),
    connect: (provider) => connectProvider(provider, 600_000),
    checkMethod: (method) => checkMethod(method, { timeoutMs: 10_000, stripeApi }),
    machine: () => ({}),
    lateness: () => Promise.resolve(new Map()),
    portal: {
      url: () => "https://shop.example/portal",
      noticesUrl: () => "https://shop.example/payments",
      registration: "approve",
      ...portal,
    },
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
    imports,
    trustedProxy,
    onInternalError,
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
    database.run("acceptInvitation", {
      site: "panel",
      invitationHash,
      passwordHash: PASSWORD_HASH,
    });
  };
  const session = (name: string, awaitsCode = false) => {
    const [id, secret] = [random(16), random(32)];
    database.run("openSession", {
      site: "panel",
      attempt: null,
      person: name,
      passwordHash: PASSWORD_HASH,
      session: { id, hash: hashSecret(secret), address: "127.0.0.1", userAgent: "test" },
      hasProvedCode: !awaitsCode,
    });
    return `${settings.isSecure ? "__Host-" : ""}reseller=${id}.${secret}`;
  };
  administrator("tester", role);
  const cookie = session("tester");
  const postForm: TestPanel["postForm"] = (path, body) =>
    ask(path, { method: "POST", body, headers: { cookie, origin: url } });
  const post: TestPanel["post"] = (path, fields = {}) =>
    postForm(path, new URLSearchParams(fields));
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
    post,
    postForm,
    async confirm(path, fields) {
      const asked = await postForm(path, new URLSearchParams(fields));
      // The confirmation page carries what it was sent, several values of a name too.
      const confirmed = new URLSearchParams(fields);
      for (const [name, value] of Object.entries(hiddenFields(asked.text))) {
        if (!confirmed.has(name)) confirmed.set(name, value);
      }
      const reply = await postForm(path, confirmed);
      return { ...reply, asked: asked.text, note: shownNote(reply) };
    },
    async stop() {
      await imports.stop();
      await server.stop();
      if (beside) return;
      await opened.close();
      database.close();
    },
  };
}

/** The note that comes with the next page, after its colour: `good 2 orders were changed.` */
export function shownNote({ headers }: Reply): string {
  const [, value = ""] = /reseller-note=([^;]+)/.exec(headers.get("set-cookie") ?? "") ?? [];
  return Buffer.from(value, "base64url").toString();
}

/** The hidden fields of a confirmation page. */
export function hiddenFields(html: string): Record<string, string> {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries(
    [...inputs].map(([, name, value]) => [name!, value!.replaceAll("&amp;", "&")]),
  );
}
