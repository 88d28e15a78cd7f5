// Who sent a request: from where, with which session, and how it proves a password or a code. Every try is counted
// before it is judged (operations/sign-ins.ts), and every failure is a line in the log.

import { type Network, rateLimitGroup } from "../config/networks.ts";
import { after } from "../db/port.ts";
import { refusal, Refusal } from "../domain/refusals.ts";
import { SEEN_INTERVAL_MS, USER_AGENT_LIMIT } from "../domain/sign-ins.ts";
import { clientAddress, FORWARDED_HEADER } from "../http/client-address.ts";
import type { IncomingRequest } from "../http1/request.ts";
import type { Panel } from "./call.ts";
import { cookieOf, findIdentity, type Identity, newSession } from "./sessions.ts";

export interface VisitorDeps extends Panel {
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
}

const CODE = /^\d{3}\s?\d{3}$/;
const RECOVERY_CODE = /^[a-z2-7]{4}(-?[a-z2-7]{4}){3}$/i;
/** What the script sends when it refreshes a page by itself: nobody used the session. */
const REFRESH = "x-refresh";

export class Visitor {
  #identity: Identity | null = null;
  readonly address: string;

  constructor(
    private readonly deps: VisitorDeps,
    readonly request: Pick<IncomingRequest, "headers" | "address">,
  ) {
    const forwarded = request.headers.get(FORWARDED_HEADER);
    this.address = clientAddress(request.address, forwarded, deps.trustedProxy);
  }

  /** Looks the session up; null for none that is live. */
  async authenticate(): Promise<Identity | null> {
    const { store, settings, now, writer } = this.deps;
    const cookie = cookieOf(this.request, settings.isSecure);
    if (!cookie) return null;
    const at = now();
    const found = await after(
      store.read((reader) => findIdentity(reader, cookie, at)),
      (identity) => identity,
    );
    this.#identity = found;
    if (found && at - found.session.seenAt >= SEEN_INTERVAL_MS && !this.isRefresh()) {
      // Awaited: a session that cannot be noted is used no further than its half hour.
      await writer.submit("noteSession", { id: found.session.id }).catch(ignoreRefusal);
    }
    return found;
  }

  isRefresh(): boolean {
    return this.request.headers.has(REFRESH);
  }

  /** Throws where nobody is signed in: on the pages for everyone. */
  identity(): Identity {
    if (!this.#identity) throw new Error("nobody is signed in here");
    return this.#identity;
  }

  isSignedIn(): boolean {
    return this.#identity !== null;
  }

  newSession() {
    return newSession(this.request, this.address, this.deps.settings.isSecure);
  }

  /**
   * After what ended every session: this browser goes on with a new one. `attempt`: what it proved itself with. Where it
   * proved only the password it awaits the code again.
   */
  async renewSession(
    attempt: number | null,
    passwordHash: string,
    hasProvedCode: boolean,
  ): Promise<string> {
    const { name } = this.identity().administrator;
    const { session, cookie } = this.newSession();
    const opened = { attempt, name, passwordHash, session, hasProvedCode };
    await this.deps.writer.submit("openSession", opened);
    return cookie;
  }

  get userAgent(): string {
    const given = this.request.headers.get("user-agent") ?? "";
    return given.slice(0, USER_AGENT_LIMIT).toWellFormed();
  }

  /** Counts a try. Refuses: sign_in_limited. */
  begin(name: string) {
    const { address, userAgent } = this;
    const network = rateLimitGroup(address);
    return this.deps.writer.submit("beginSignIn", { name, address, network, userAgent });
  }

  /** Runs what judges a try: its failure is logged, with the name only where it is an administrator's. */
  async judge<T>(name: string | null, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (error instanceof Refusal && error.code !== "service_unavailable") {
        const { address, userAgent } = this;
        this.deps.log.warn(
          { administrator: name, address, userAgent, why: error.code },
          "panel: sign-in failed",
        );
      }
      throw error;
    }
  }

  /** The password or a code of who is signed in. Refuses: sign_in_limited, sign_in_refused, code_wrong. */
  async prove(proof: string): Promise<void> {
    const { administrator, session } = this.identity();
    const { name } = administrator;
    await this.judge(name, async () => {
      const { attempt, passwordHash } = await this.begin(name);
      const isCode =
        administrator.totpSecret !== null && (CODE.test(proof) || RECOVERY_CODE.test(proof));
      const { id } = session;
      if (isCode) {
        await this.deps.writer.submit("proveAgain", { attempt, id, proof: { code: proof } });
        return;
      }
      const isRight = await this.deps.passwords.isRight(proof, passwordHash);
      if (!isRight || passwordHash === null) throw refusal("sign_in_refused");
      await this.deps.writer.submit("proveAgain", { attempt, id, proof: { passwordHash } });
    });
  }
}

function ignoreRefusal(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
