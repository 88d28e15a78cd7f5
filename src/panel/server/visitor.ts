// The visitor who sent a request to the panel: session, and proof by a password or a code. Every try is counted before it
// is checked (operations/sign-ins/sign-ins.ts), and every failure is logged.

import { countOpenRequests } from "../../db/orders/order-request-lists.ts";
import { authorOf } from "../../domain/administrators/administrators.ts";
import { PROOF_MS, SEEN_INTERVAL_MS, type SignInStep } from "../../domain/sign-ins/sign-ins.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal, Refusal } from "../../domain/values/error-table.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { NewSession } from "../../operations/sign-ins/sign-ins.ts";
import { newSessionKey, sessionKeyOf } from "../../web/server/session-cookie.ts";
import { Visitor as SiteVisitor } from "../../web/server/visitor.ts";
import type { Panel } from "./panel.ts";
import { COOKIE, findIdentity, type Identity } from "./sessions.ts";

const CODE = /^\d{3}\s?\d{3}$/;
const RECOVERY_CODE = /^[a-z2-7]{4}(-?[a-z2-7]{4}){3}$/i;

export class Visitor extends SiteVisitor {
  #identity: Identity | null = null;
  #waitingRequests = 0;

  constructor(
    private readonly panel: Panel,
    request: Pick<IncomingRequest, "headers" | "address">,
  ) {
    super(request, panel.trustedProxy);
  }

  get name(): string {
    return this.administrator.name;
  }

  /** The signed-in administrator. Not available on pages that need no sign-in. */
  get administrator(): Identity["administrator"] {
    return this.identity().administrator;
  }

  /** Number of requests of resellers that wait for an operator's decision. */
  get waitingRequests(): number {
    return this.#waitingRequests;
  }

  actor(): Actor {
    return { keyId: null, operator: authorOf(this.name) };
  }

  /**
   * Refuses administrators who are not owners, for the parts of an operator's form reserved to owners. `what`
   * completes "Only an owner may". Refuses: owner_required.
   */
  requireOwner(what: string): void {
    if (this.administrator.role !== "owner") throw new Refusal("owner_required", { what });
  }

  /** Looks up the session. Returns null if there is no live one. */
  async authenticate(): Promise<Identity | null> {
    const { store, settings, now, writer } = this.panel;
    const key = sessionKeyOf(this.request, COOKIE, settings.isSecure);
    if (!key) return null;
    const at = now();
    const { found, waiting } = await store.read((reader) => {
      const identity = findIdentity(reader, key, at);
      return { found: identity, waiting: identity && countOpenRequests(reader) };
    });
    this.#identity = found;
    if (waiting) this.#waitingRequests = waiting.toDecide + waiting.unknown;
    if (found && at - found.session.seenAt >= SEEN_INTERVAL_MS && !this.isRefresh()) {
      // Awaited, because a session whose use cannot be recorded must not outlive its half hour.
      await writer.submit("noteSession", { id: found.session.id }).catch(ignoreRefusal);
    }
    return found;
  }

  /** Returns the identity. Throws if nobody is signed in, as on pages that need no sign-in. */
  identity(): Identity {
    if (!this.#identity) throw new Error("no administrator is signed in");
    return this.#identity;
  }

  /** Returns whether a password or a code was given recently, at sign-in or later. */
  hasProved(now: number): boolean {
    return now - this.identity().session.provedAt < PROOF_MS;
  }

  isSignedIn(): boolean {
    return this.#identity !== null;
  }

  newSession(): { session: NewSession; cookie: string } {
    const { address, userAgent } = this;
    const { cookie, ...key } = newSessionKey(COOKIE, this.panel.settings.isSecure);
    return { session: { ...key, address, userAgent }, cookie };
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
    await this.panel.writer.submit("openSession", opened);
    return cookie;
  }

  /** Counts a try to sign in. Refuses: sign_in_limited. */
  begin(step: SignInStep, name: string) {
    const { address, network, userAgent } = this;
    return this.panel.writer.submit("beginSignIn", { step, name, address, network, userAgent });
  }

  /** Counts a try of a signed-in administrator, which is never delayed. Refuses: sign_in_refused. */
  beginProof() {
    const { address, userAgent } = this;
    const { id } = this.identity().session;
    return this.panel.writer.submit("beginProof", { id, address, userAgent });
  }

  /** Runs the check of a try and logs its failure. `name`: the administrator's name; null for unknown names. */
  async judge<T>(name: string | null, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (error instanceof Refusal && error.code !== "service_unavailable") {
        const { address, userAgent } = this;
        this.panel.log.warn(
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
        await this.panel.writer.submit("proveAgain", { attempt, id, proof: { code: proof } });
        return;
      }
      const isRight = await this.panel.passwords.isRight(proof, passwordHash, true);
      if (!isRight || passwordHash === null) throw refusal("sign_in_refused");
      await this.panel.writer.submit("proveAgain", { attempt, id, proof: { passwordHash } });
    });
  }
}

function ignoreRefusal(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
