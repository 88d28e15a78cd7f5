// The visitor who sent a request: address, session, and proof by a password or a code. Every try is counted before it
// is checked (operations/administrators/sign-ins.ts), and every failure is logged.

import { type Network, rateLimitGroup } from "../../config/networks.ts";
import { after } from "../../db/port/port.ts";
import { refusal, Refusal } from "../../domain/values/refusals.ts";
import {
  PROOF_MS,
  SEEN_INTERVAL_MS,
  type SignInStep,
  USER_AGENT_LIMIT,
} from "../../domain/administrators/sign-ins.ts";
import { clientAddress, FORWARDED_HEADER } from "../../http/server/client-address.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { Panel } from "./call.ts";
import { cookieOf, findIdentity, type Identity, newSession } from "./sessions.ts";

export interface VisitorDeps extends Panel {
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
}

const CODE = /^\d{3}\s?\d{3}$/;
const RECOVERY_CODE = /^[a-z2-7]{4}(-?[a-z2-7]{4}){3}$/i;
/** Header that the script sends for an automatic refresh, which does not count as use of the session. */
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

  /** Looks up the session. Returns null if there is no live one. */
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
      // Awaited, because a session whose use cannot be recorded must not outlive its half hour.
      await writer.submit("noteSession", { id: found.session.id }).catch(ignoreRefusal);
    }
    return found;
  }

  isRefresh(): boolean {
    return this.request.headers.has(REFRESH);
  }

  /** Returns the identity. Throws if nobody is signed in, as on pages that need no sign-in. */
  identity(): Identity {
    if (!this.#identity) throw new Error("nobody is signed in here");
    return this.#identity;
  }

  /** Returns whether a password or a code was given recently, at sign-in or later. */
  hasProved(now: number): boolean {
    return now - this.identity().session.provedAt < PROOF_MS;
  }

  isSignedIn(): boolean {
    return this.#identity !== null;
  }

  newSession() {
    return newSession(this.request, this.address, this.deps.settings.isSecure);
  }

  /**
   * Gives this browser a new session after all sessions were ended. `attempt`: the try that proved the visitor. If
   * only the password was proved, the new session expects the code again.
   */
  async renewSession(
    attempt: number | null,
    passwordHash: string,
    hasProvedCode: boolean,
  ): Promise<string> {
    const { name } = this.identity().administrator;
    const { session, cookie } = this.newSession();
    const { network } = this;
    const opened = { attempt, name, passwordHash, session, network, hasProvedCode };
    await this.deps.writer.submit("openSession", opened);
    return cookie;
  }

  get userAgent(): string {
    const given = this.request.headers.get("user-agent") ?? "";
    return given.slice(0, USER_AGENT_LIMIT).toWellFormed();
  }

  /** The network for which the visitor's failures are counted. */
  get network(): string {
    return rateLimitGroup(this.address);
  }

  /** Counts a try to sign in. Refuses: sign_in_limited. */
  begin(step: SignInStep, name: string) {
    const { address, network, userAgent } = this;
    return this.deps.writer.submit("beginSignIn", { step, name, address, network, userAgent });
  }

  /** Counts a try of a signed-in administrator, which is never delayed. Refuses: sign_in_refused. */
  beginProof() {
    const { address, userAgent } = this;
    const { id } = this.identity().session;
    return this.deps.writer.submit("beginProof", { id, address, userAgent });
  }

  /** Runs the check of a try and logs its failure. `name`: the administrator's name; null for unknown names. */
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

  /**
   * Checks the password or a code of the signed-in administrator. Refuses: sign_in_refused, code_wrong, and
   * sign_in_limited if the server is busy.
   */
  async prove(proof: string): Promise<void> {
    const { administrator, session } = this.identity();
    const { name } = administrator;
    await this.judge(name, async () => {
      const { attempt, passwordHash } = await this.beginProof();
      const isCode =
        administrator.totpSecret !== null && (CODE.test(proof) || RECOVERY_CODE.test(proof));
      const { id } = session;
      if (isCode) {
        await this.deps.writer.submit("proveAgain", { attempt, id, proof: { code: proof } });
        return;
      }
      const isRight = await this.deps.passwords.isRight(proof, passwordHash, true);
      if (!isRight || passwordHash === null) throw refusal("sign_in_refused");
      await this.deps.writer.submit("proveAgain", { attempt, id, proof: { passwordHash } });
    });
  }
}

function ignoreRefusal(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
