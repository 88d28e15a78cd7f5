// The visitor who sent a request to the portal: the member with its reseller, and the language of the pages. How visitors
// sign in: web/sessions/session-visitor.ts.

import { findAdministrator } from "../../db/administrators/administrators.ts";
import { findInspection, whyInspectionEnds } from "../../db/members/inspections.ts";
import {
  findInvitedMember,
  findMember,
  findMemberByEmail,
  findPortalSettings,
  mayUsePortal,
  PORTAL_SIGN_INS,
} from "../../db/members/members.ts";
import type { Reader } from "../../db/port/port.ts";
import type { Inspection, Member, PortalSettings } from "../../db/tables/members.ts";
import { findTestAccount, findUserByAccount, type User } from "../../db/users/users.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import {
  DEFAULT_TIME_ZONE,
  isLanguage,
  type Language,
  languageFor,
} from "../../domain/members/languages.ts";
import {
  memberAuthor,
  type MemberPermission,
  mayMember,
  NO_NEW_ADDRESS,
} from "../../domain/members/members.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { endedCookie, readCookie } from "../../web/sessions/cookies.ts";
import { baseOf } from "../../web/server/origin.ts";
import { isSecretOf, newSessionKey, sessionKeyOf } from "../../web/sessions/session-cookie.ts";
import {
  type Identity,
  SessionVisitor,
  type SignInSite,
} from "../../web/sessions/session-visitor.ts";
import type { SiteWords } from "../../web/server/words.ts";
import type { Translate } from "../texts/catalogue.ts";
import { type Formats, formatsOf } from "../texts/formats.ts";
import { wordsOf } from "../texts/words.ts";
import type { Portal } from "./portal.ts";

/** Where the pages of the test account are: docs/specification/portal.md#portal-test-mode. */
export const TEST_SIDE = "/test";
/** Name of the portal's session cookie. */
export const COOKIE = "reseller-portal";
/** Name of the cookie of an administrator who inspects the portal. */
const INSPECTION_COOKIE = "reseller-inspection";
/** Name of the cookie with the language that a visitor chose before signing in. */
export const LANGUAGE_COOKIE = "reseller-portal-language";

const SIGN_INS: SignInSite<Member> = {
  site: "portal",
  cookie: COOKIE,
  rows: PORTAL_SIGN_INS,
  find(reader, id) {
    const found = findMember(reader, id);
    return found && mayUsePortal(reader, found) ? found : undefined;
  },
  findNamed: findMemberByEmail,
  findInvited: findInvitedMember,
  keyOf: ({ id }) => id,
};

export class Visitor extends SessionVisitor<Member> {
  #reseller: User | null = null;
  #test: User | null = null;
  #allowed: PortalSettings | null = null;
  #inspection: Inspection | null = null;

  constructor(
    private readonly portal: Portal,
    request: Pick<IncomingRequest, "headers" | "address">,
    override readonly side: string,
  ) {
    super({ ...portal, path: pathOf(portal) }, SIGN_INS, request);
  }

  /** The inspection by an administrator, who may change nothing; null for anybody else. */
  get inspection(): Inspection | null {
    return this.#inspection;
  }

  /** Whether the request has the cookie of an inspection, which may have ended. */
  hasInspectionCookie(): boolean {
    return readCookie(this.request, this.portal.settings.isSecure, INSPECTION_COOKIE) !== null;
  }

  /** Returns the cookie of an inspection, and the hash of its secret. */
  inspectionCookie(id: string): { cookie: string; hash: string } {
    return newSessionKey(INSPECTION_COOKIE, this.portal.settings.isSecure, pathOf(this.portal), id);
  }

  endedInspectionCookie(): string {
    return endedCookie(this.portal.settings.isSecure, INSPECTION_COOKIE, pathOf(this.portal));
  }

  /** Shows the rest of the response as to a visitor who is not signed in. */
  forgetInspection(): void {
    this.#inspection = null;
    this.forget();
  }

  /** The signed-in member. Not available on pages that need no sign-in. */
  get member(): Member {
    return this.identity().person;
  }

  /** The e-mail address, which members sign in with. */
  get name(): string {
    return this.member.email;
  }

  /** Whether the page is on the test side. */
  get isTest(): boolean {
    return this.side === TEST_SIDE;
  }

  /** Whether the visitor may see what is on this side. */
  isInside(): boolean {
    const isSignedIn = this.isSignedIn() && !this.identity().session.awaitsCode;
    return isSignedIn && (!this.isTest || this.hasTestSide());
  }

  /** Whether the reseller's test account was opened. */
  hasTestSide(): boolean {
    return this.#test !== null;
  }

  /** The reseller, or its test account on the test side, as it was when the request arrived. */
  get reseller(): User {
    const found = this.isTest ? this.#test : this.#reseller;
    if (!found) throw new Error("nobody is signed in");
    return found;
  }

  /** The account whose orders, keys, webhooks and transactions the pages show. */
  get account(): number {
    return this.reseller.account;
  }

  /** The reseller on both sides: catalogue, prices, members and settings are its own. */
  get payer(): User {
    if (!this.#reseller) throw new Error("nobody is signed in");
    return this.#reseller;
  }

  /** What the operator allows in the reseller's portal. */
  get allowed(): PortalSettings {
    if (!this.#allowed) throw new Error("nobody is signed in");
    return this.#allowed;
  }

  /** Returns whether the member's role allows it. It only decides what a page shows: operations check it again. */
  may(permission: MemberPermission): boolean {
    return mayMember(this.member.role, permission);
  }

  actor(): Actor {
    if (this.#inspection) throw new Error("an inspection changes nothing");
    const author = { keyId: null, operator: memberAuthor(this.member.id) };
    return this.isTest ? { ...author, isTest: true } : author;
  }

  get language(): Language {
    return this.isSignedIn() ? this.member.language : this.#chosenLanguage;
  }

  /** The language that the visitor chose by a button before signing in; null: none. */
  get askedLanguage(): Language | null {
    const asked = readCookie(this.request, this.portal.settings.isSecure, LANGUAGE_COOKIE) ?? "";
    return isLanguage(asked) ? asked : null;
  }

  get #chosenLanguage(): Language {
    return this.askedLanguage ?? languageFor(this.request.headers.get("accept-language"));
  }

  /** Translates a text of the portal. */
  get t(): Translate {
    return this.portal.texts[this.language];
  }

  get formats(): Formats {
    return formatsOf(this.language, this.isSignedIn() ? this.member.timeZone : DEFAULT_TIME_ZONE);
  }

  /** Returns the address of a page of the portal for browsers. */
  addressOf(path: string): string {
    return baseOf(this.request, this.portal.settings) + this.portal.prefix + path;
  }

  override get words(): SiteWords {
    return wordsOf(this.language, this.t);
  }

  /** While an inspection lasts, it comes before the session of a member in the same browser. */
  protected override async findIdentity(): Promise<Identity<Member> | null> {
    return this.hasInspectionCookie() ? this.#findInspector() : super.findIdentity();
  }

  async #findInspector(): Promise<Identity<Member> | null> {
    const { store, settings, now } = this.portal;
    const key = sessionKeyOf(this.request, INSPECTION_COOKIE, settings.isSecure);
    if (!key) return null;
    const at = now();
    return store.read((reader) => {
      this.#inspection = null;
      const found = findInspection(reader, key.id);
      if (!found?.hash || !isSecretOf({ hash: found.hash }, key.secret)) return null;
      if (whyInspectionEnds(reader, found, at) !== null) return null;
      const { timeZone } = findAdministrator(reader, found.administrator)!;
      const person = stranger(found, this.#chosenLanguage, timeZone ?? DEFAULT_TIME_ZONE);
      this.noteSignedIn(reader, person);
      this.#inspection = found;
      return { person, session: sessionOf(found) };
    });
  }

  protected override noteSignedIn(reader: Reader, { account }: Member): void {
    this.#reseller = findUserByAccount(reader, account)!;
    const test = findTestAccount(reader, account);
    this.#test = test ? findUserByAccount(reader, test.account)! : null;
    this.#allowed = findPortalSettings(reader, account);
  }

  protected loggedAs(member: string | null): Record<string, string | null> {
    return { member };
  }
}

/** Returns the path of the portal, to which its cookies are limited. */
function pathOf({ prefix }: Portal): string {
  return prefix === "" ? "/" : prefix;
}

/** Returns a member with the role of an inspection. No person has its id, so it has no sessions and no secrets. */
function stranger(
  { account, role, administrator, createdAt }: Inspection,
  language: Language,
  timeZone: string,
): Member {
  return {
    id: "",
    account,
    email: "",
    name: administrator,
    role,
    language,
    timeZone,
    mails: "",
    active: true,
    passwordHash: null,
    invitationHash: null,
    invitedUntil: null,
    totpSecret: null,
    offeredSecret: null,
    totpStep: 0,
    createdAt,
    signedInAt: null,
    ...NO_NEW_ADDRESS,
  };
}

/** Returns a session in which nothing was proved. */
function sessionOf({ id, hash, createdAt }: Inspection): Identity<Member>["session"] {
  return {
    id,
    hash: hash!,
    person: "",
    awaitsCode: false,
    createdAt,
    seenAt: createdAt,
    provedAt: 0,
    address: "",
    userAgent: "",
    failures: 0,
  };
}
