// A portal in this process on a fresh database, asked over real HTTP by members of resellers.

import type { Language } from "../../../src/domain/members/languages.ts";
import type { MemberRole } from "../../../src/domain/members/members.ts";
import { NO_ORDER_LIMITS } from "../../../src/domain/users/reseller-limits.ts";
import { createCallerRate } from "../../../src/http/server/rate-limits.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import { startPortal } from "../../../src/portal/server/listener.tsx";
import type { Portal, PortalSettings } from "../../../src/portal/server/portal.ts";
import type { ServerDatabase } from "../../../src/server/database.ts";
import { createTexts } from "../../../src/portal/texts/texts.ts";
import { createCompletionTimes } from "../../../src/reports/completion-times.ts";
import { createPayments } from "../../../src/payments/payments.ts";
import { createPasswords } from "../../../src/web/sessions/passwords.ts";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { checkNewUrl } from "../../../src/webhooks/new-url.ts";
import { freshDatabase, type TestDatabase } from "../databases/test-database.ts";
import { PASSWORD_HASH, type Reply } from "./panel.ts";
import { openServerDatabase, resolvePublic } from "./service.ts";

export { PASSWORD, type Reply } from "./panel.ts";

/** With little work, so that tests are fast. */
const COST = { memoryCost: 8, timeCost: 1 };

const SETTINGS: PortalSettings = {
  url: null,
  isSecure: false,
  confirmAboveMicros: 100_000_000,
  registration: "off",
  needsSecondFactor: false,
  contact: "help@nova.example",
  legal: { name: null, address: null },
  orderLimits: NO_ORDER_LIMITS,
  searchOrders: 10_000,
  registrationsWaiting: 1000,
};

interface PortalOptions {
  settings?: Partial<PortalSettings>;
  prefix?: string;
  texts?: Portal["texts"];
  limits?: Partial<Portal["limits"]>;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy?: Portal["trustedProxy"];
}

export interface TestPortal extends TestDatabase {
  url: string;
  /** What the server has opened of the database. */
  opened: ServerDatabase;
  clock: { now: number };
  /** As the portal has them: a test may change one. */
  settings: PortalSettings;
  completionTimes: Portal["completionTimes"];
  /** What the log got of the portal. */
  logged: { fields: object; message: string }[];
  /** A new member with PASSWORD. Returns its id. */
  member(username: string, email: string, role?: MemberRole, language?: Language): string;
  /** A cookie of a new session of a member. */
  session(id: string, awaitsCode?: boolean): string;
  ask(path: string, init?: RequestInit): Promise<Reply>;
  get(path: string, cookie: string): Promise<Reply>;
  /** A form of the portal's own page. */
  post(
    path: string,
    cookie: string,
    fields?: Record<string, string> | URLSearchParams,
  ): Promise<Reply>;
  stop(): Promise<void>;
}

export async function openPortal({
  settings: changes = {},
  prefix = "",
  texts = createTexts(),
  trustedProxy = [],
  limits = {},
}: PortalOptions = {}): Promise<TestPortal> {
  const database = freshDatabase();
  const opened = await openServerDatabase(database);
  const settings = { ...SETTINGS, ...changes };
  const clock = { now: Date.now() };
  const logged: TestPortal["logged"] = [];
  const note = (fields: object, message: string) => void logged.push({ fields, message });
  const errors: unknown[] = [];
  const completionTimes = createCompletionTimes(
    opened.slowStore,
    () => clock.now,
    (error) => void errors.push(error),
  );
  const deps: Portal = {
    prefix,
    brand: { name: "Nova", logo: null, style: null },
    assets: [],
    texts,
    store: opened.store,
    slowStore: opened.slowStore,
    writer: opened.writer,
    log: { ...createLog("silent"), info: note, warn: note, error: note },
    now: () => clock.now,
    checkWebhookUrl: (text) => checkNewUrl(text, { allow: [], allowHttp: false }, resolvePublic),
    settings,
    limits: { search: createCallerRate(0), registration: createCallerRate(0), ...limits },
    completionTimes,
    passwords: createPasswords(COST),
    payments: createPayments({
      store: opened.store,
      writer: opened.writer,
      log: createLog("silent"),
      timeoutMs: 5000,
      stripeApi: null,
    }),
    trustedProxy,
    onInternalError: (error) => void errors.push(error),
  };
  const server = startPortal(deps, { hostname: "127.0.0.1", port: 0 }, null);
  const url = `http://127.0.0.1:${server.port}`;
  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(url + prefix + path, { redirect: "manual", ...init });
    const text = await response.text();
    if (errors.length > 0) throw errors[0];
    return { status: response.status, headers: response.headers, text };
  };
  return {
    ...database,
    url,
    opened,
    clock,
    settings,
    completionTimes,
    logged,
    member(username, email, role = "owner", language = "en") {
      const invitationHash = hashSecret(email);
      const invitation = { email, name: email.split("@")[0]!, role, language, invitationHash };
      const id = database.run("inviteMember", { username, ...invitation });
      const accepted = { site: "portal", invitationHash, passwordHash: PASSWORD_HASH } as const;
      database.run("acceptInvitation", accepted);
      return id;
    },
    session(id, awaitsCode = false) {
      const [session, secret] = [random(16), random(32)];
      database.run("openSession", {
        site: "portal",
        attempt: null,
        person: id,
        passwordHash: PASSWORD_HASH,
        session: { id: session, hash: hashSecret(secret), address: "127.0.0.1", userAgent: "test" },
        hasProvedCode: !awaitsCode,
      });
      return `${settings.isSecure ? "__Host-" : ""}reseller-portal=${session}.${secret}`;
    },
    ask,
    get: (path, cookie) => ask(path, { headers: { cookie } }),
    post: (path, cookie, fields = {}) =>
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
