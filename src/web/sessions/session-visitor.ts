// A visitor who signs in: session, password, second factor, and proof by a password or a code. Every try is counted before it
// is checked (operations/sign-ins/sign-ins.ts), and every failure is logged.

import type { Network } from "../../config/networks.ts";
import type { Reader, ReadStore } from "../../db/port/port.ts";
import type { SignInRows } from "../../db/sign-ins/sign-ins.ts";
import type { SignInSession } from "../../db/tables/sign-ins.ts";
import {
  base32,
  hashRecoveryCode,
  recoveryCode,
  RECOVERY_BYTES,
  RECOVERY_CODES,
  SECRET_BYTES,
} from "../../domain/sign-ins/second-factor.ts";
import {
  isSessionLive,
  PROOF_MS,
  SEEN_INTERVAL_MS,
  type SignInStep,
  type Site,
} from "../../domain/sign-ins/sign-ins.ts";
import { refusal, Refusal } from "../../domain/values/error-table.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { Logger } from "../../monitoring/log.ts";
import type { NewSession, VisitorOrigin } from "../../operations/sign-ins/sign-ins.ts";
import type { Writer } from "../../writer/writer.ts";
import { endedCookie } from "./cookies.ts";
import type { Passwords } from "./passwords.ts";
import { hashSecret, isSecretOf, newSessionKey, sessionKeyOf } from "./session-cookie.ts";
import { Visitor } from "./visitor.ts";

const CODE = /^\d{3}\s?\d{3}$/;
const RECOVERY_CODE = /^[a-z2-7]{4}(-?[a-z2-7]{4}){3}$/i;

/** What visitors need of the server. */
export interface SessionParts {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn">;
  now: () => number;
  settings: { isSecure: boolean };
  /** Path of the site, to which its cookie is limited; absent: `/`. */
  path?: string;
  passwords: Passwords;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustedProxy: readonly Network[];
}

/** What is known of a person who signs in. */
interface Person {
  passwordHash: string | null;
  totpSecret: string | null;
}

/** How the persons of a site sign in. */
export interface SignInSite<Who extends Person> {
  site: Site;
  /** Name of the cookie. Its value: session-cookie.ts; its attributes: cookies.ts. */
  cookie: string;
  rows: SignInRows;
  /** Returns the person with this key who may sign in. */
  find: (reader: Reader, key: string) => Who | undefined;
  /** Returns the person who signs in with this name. */
  findNamed: (reader: Reader, name: string) => Who | undefined;
  findInvited: (reader: Reader, invitationHash: string) => Who | undefined;
  keyOf: (person: Who) => string;
}

/** The person who sent a request, with the live session. */
export interface Identity<Who> {
  person: Who;
  session: SignInSession;
}

export abstract class SessionVisitor<Who extends Person> extends Visitor {
  #identity: Identity<Who> | null = null;

  constructor(
    protected readonly parts: SessionParts,
    protected readonly signInSite: SignInSite<Who>,
    request: Pick<IncomingRequest, "headers" | "address">,
  ) {
    super(request, parts.trustedProxy);
  }

  /** Reads what else every page shows. Called in the read of the session. */
  protected noteSignedIn(_reader: Reader, _person: Who): void {}

  /** Looks up the session. Returns null if there is no live one. */
  async authenticate(): Promise<Identity<Who> | null> {
    this.#identity = await this.findIdentity();
    return this.#identity;
  }

  /** Shows the rest of the response as to a visitor who is not signed in. */
  protected forget(): void {
    this.#identity = null;
  }

  protected async findIdentity(): Promise<Identity<Who> | null> {
    const { store, settings, now, writer } = this.parts;
    const { site, cookie, rows, find } = this.signInSite;
    const key = sessionKeyOf(this.request, cookie, settings.isSecure);
    if (!key) return null;
    const at = now();
    // Every request looks up its session, so a session that ended at one server has ended at all.
    const found = await store.read((reader) => {
      const session = rows.findSession(reader, key.id);
      if (!session || !isSessionLive(site, session, at) || !isSecretOf(session, key.secret))
        return null;
      const person = find(reader, session.person);
      if (!person) return null;
      this.noteSignedIn(reader, person);
      return { person, session };
    });
    if (found && at - found.session.seenAt >= SEEN_INTERVAL_MS && !this.isRefresh()) {
      // Awaited, because a session whose use cannot be recorded must not outlive its half hour.
      await writer.submit("noteSession", { site, id: found.session.id }).catch(ignoreRefusal);
    }
    return found;
  }

  /** Returns the identity. Throws if nobody is signed in, as on pages that need no sign-in. */
  identity(): Identity<Who> {
    if (!this.#identity) throw new Error("nobody is signed in");
    return this.#identity;
  }

  isSignedIn(): boolean {
    return this.#identity !== null;
  }

  /** Key of the signed-in person. */
  get key(): string {
    return this.signInSite.keyOf(this.identity().person);
  }

  /** Returns whether a password or a code was given recently, at sign-in or later. */
  hasProved(now: number): boolean {
    return now - this.identity().session.provedAt < PROOF_MS;
  }

  /** Signs in by name and password. Refuses: sign_in_refused, sign_in_limited. */
  async signIn(name: string, password: string): Promise<{ cookie: string; awaitsCode: boolean }> {
    const { store, passwords, writer } = this.parts;
    const { site, findNamed, keyOf } = this.signInSite;
    const { found } = await store.read((reader) => ({ found: findNamed(reader, name) }));
    return this.judge(found ? keyOf(found) : null, async () => {
      const { attempt, passwordHash, isKnown } = await this.begin("password", name);
      const isRight = await passwords.isRight(password, passwordHash, isKnown);
      if (!isRight || passwordHash === null || !found) throw refusal("sign_in_refused");
      const { session, cookie } = this.newSession();
      const { network } = this;
      const opened = { site, attempt, person: keyOf(found), passwordHash, session, network };
      return { cookie, awaitsCode: await writer.submit("openSession", opened) };
    });
  }

  /** Continues with the code of the second factor. Returns the cookie of a new session. */
  async passCode(code: string): Promise<string> {
    const { site } = this.signInSite;
    const { id } = this.identity().session;
    return this.judge(this.key, async () => {
      const { attempt } = await this.begin("code", this.name);
      const { session, cookie } = this.newSession();
      const { network } = this;
      await this.parts.writer.submit("passCode", { site, attempt, id, code, session, network });
      return cookie;
    });
  }

  /** Accepts an invitation with the chosen password, and signs in. Refuses: invitation_invalid, sign_in_limited. */
  async acceptInvitation(
    token: string,
    password: string,
  ): Promise<{ cookie: string; key: string; awaitsCode: boolean }> {
    const { store, passwords, writer } = this.parts;
    const { site, findInvited } = this.signInSite;
    return this.judge(null, async () => {
      const { attempt } = await this.begin("invitation", "");
      const invitationHash = hashSecret(token);
      const { invited } = await store.read((reader) => ({
        invited: findInvited(reader, invitationHash),
      }));
      if (!invited) throw refusal("invitation_invalid");
      const passwordHash = await passwords.hash(password);
      const key = await writer.submit("acceptInvitation", { site, invitationHash, passwordHash });
      const { session, cookie } = this.newSession();
      const { network } = this;
      const opened = { site, attempt, person: key, passwordHash, session, network };
      return { cookie, key, awaitsCode: await writer.submit("openSession", opened) };
    });
  }

  /** Returns the cookie that ends the session in the browser. */
  async signOut(): Promise<string> {
    const { site, cookie } = this.signInSite;
    if (this.isSignedIn()) {
      await this.parts.writer.submit("endSession", { site, id: this.identity().session.id });
    }
    return endedCookie(this.parts.settings.isSecure, cookie, this.parts.path);
  }

  /** Checks the present password. Returns the try, for renewSession. Refuses: sign_in_refused. */
  async beginPasswordChange(current: string): Promise<number> {
    return this.judge(this.key, async () => {
      const { attempt, passwordHash } = await this.beginProof();
      if (await this.parts.passwords.isRight(current, passwordHash, true)) return attempt;
      throw refusal("sign_in_refused");
    });
  }

  async offerSecondFactor(): Promise<void> {
    const { site } = this.signInSite;
    const secret = base32(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
    await this.parts.writer.submit("offerSecondFactor", { site, person: this.key, secret });
  }

  /** Turns the second factor on. All sessions end, and this browser gets a new one. Returns the recovery codes. */
  async enableSecondFactor(code: string): Promise<{ codes: string[]; cookie: string }> {
    const { site } = this.signInSite;
    const { passwordHash } = this.identity().person;
    const codes = Array.from({ length: RECOVERY_CODES }, () =>
      recoveryCode(crypto.getRandomValues(new Uint8Array(RECOVERY_BYTES))),
    );
    const recoveryHashes = codes.map(hashRecoveryCode);
    const cookie = await this.judge(this.key, async () => {
      const { attempt } = await this.beginProof();
      const enabled = { site, person: this.key, code, recoveryHashes, actor: this.actor() };
      await this.parts.writer.submit("enableSecondFactor", enabled);
      return this.renewSession(attempt, passwordHash!, true);
    });
    return { codes, cookie };
  }

  newSession(): { session: NewSession; cookie: string } {
    const { address, userAgent } = this;
    const { cookie, ...key } = newSessionKey(
      this.signInSite.cookie,
      this.parts.settings.isSecure,
      this.parts.path ?? "/",
    );
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
    const { session, cookie } = this.newSession();
    const { network, key: person } = this;
    const { site } = this.signInSite;
    const opened = { site, attempt, person, passwordHash, session, network, hasProvedCode };
    await this.parts.writer.submit("openSession", opened);
    return cookie;
  }

  /** Where the request comes from, by which tries to sign in are counted. */
  get origin(): VisitorOrigin {
    const { address, network, userAgent } = this;
    return { address, network, userAgent };
  }

  /** Counts a try to sign in. Refuses: sign_in_limited. */
  begin(step: SignInStep, name: string) {
    const { site } = this.signInSite;
    return this.parts.writer.submit("beginSignIn", { site, step, name, ...this.origin });
  }

  /** Counts a try of a signed-in person, which is never delayed. Refuses: sign_in_refused. */
  beginProof() {
    const { address, userAgent } = this;
    const { site } = this.signInSite;
    const { id } = this.identity().session;
    return this.parts.writer.submit("beginProof", { site, id, address, userAgent });
  }

  /** Runs the check of a try and logs its failure. `person`: the key; null for unknown names. */
  async judge<T>(person: string | null, body: () => Promise<T>): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (error instanceof Refusal && error.code !== "service_unavailable") {
        const { address, userAgent } = this;
        this.parts.log.warn(
          { ...this.loggedAs(person), address, userAgent, why: error.code },
          `${this.signInSite.site}: sign-in failed`,
        );
      }
      throw error;
    }
  }

  /** Returns the field with the person for lines of the log. */
  protected abstract loggedAs(person: string | null): Record<string, string | null>;

  /**
   * Checks the password or a code of the signed-in person. Refuses: sign_in_refused, code_wrong, and sign_in_limited
   * if the server is busy.
   */
  async prove(proof: string): Promise<void> {
    const { writer, passwords } = this.parts;
    const { person, session } = this.identity();
    const { site } = this.signInSite;
    await this.judge(this.key, async () => {
      const { attempt, passwordHash } = await this.beginProof();
      const isCode = person.totpSecret !== null && (CODE.test(proof) || RECOVERY_CODE.test(proof));
      const { id } = session;
      if (isCode) {
        await writer.submit("proveAgain", { site, attempt, id, proof: { code: proof } });
        return;
      }
      const isRight = await passwords.isRight(proof, passwordHash, true);
      if (!isRight || passwordHash === null) throw refusal("sign_in_refused");
      await writer.submit("proveAgain", { site, attempt, id, proof: { passwordHash } });
    });
  }
}

function ignoreRefusal(error: unknown): null {
  if (error instanceof Refusal) return null;
  throw error;
}
