// Who may be the author of what: every command × every kind of author, and every change of a sign-in × every author × every
// person. What is not allowed is refused, having written nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { authorOf, ROLES, mayAct } from "../../../src/domain/administrators/administrators.ts";
import { AUTHOR_KINDS, type AuthorKind } from "../../../src/domain/administrators/authors.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import type { Site } from "../../../src/domain/sign-ins/sign-ins.ts";
import { requireRole } from "../../../src/operations/administrators/acting.ts";
import { authorsOf, refuseAuthor } from "../../../src/operations/batch/authors.ts";
import { commands } from "../../../src/operations/batch/command-table.ts";
import type { CommandName } from "../../../src/operations/batch/commands.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { seedMember } from "../../support/seeds/payments.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;
let owner: Actor;
let hashes = 0;
const hash = () => String((hashes += 1)).padStart(64, "0");
const administrator = (name: string): Actor => ({ keyId: null, operator: authorOf(name) });

beforeAll(() => {
  shop = openShop();
  owner = seedMember(shop, "carol");
  for (const role of [...ROLES, "gone"] as const) {
    const invited = { role: role === "gone" ? "owner" : role, invitationHash: hash() } as const;
    shop.run("inviteAdministrator", { name: role, ...invited });
    const { invitationHash } = invited;
    shop.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: "p" });
  }
  shop.run("inviteAdministrator", { name: "other", role: "owner", invitationHash: hash() });
  shop.run("setAdministratorActive", { name: "gone", active: false });
});
afterAll(() => shop.close());

const NAMES = Object.keys(commands) as CommandName[];
const ACTORS: Record<AuthorKind, () => Actor> = {
  administrator: () => administrator("owner"),
  person: () => ({ keyId: null, operator: "root (alice) as panel:" }),
  member: () => owner,
  key: () => ({ keyId: "k".repeat(24), operator: null }),
  server: () => ({ keyId: null, operator: null }),
};

describe("a command is refused before it reads anything, to authors of the kind", () => {
  test.each([...AUTHOR_KINDS])("%s, unless the table has it", (kind) => {
    const actor = ACTORS[kind]();
    const isOperator = kind === "administrator" || kind === "person";
    const codes = NAMES.map((name) => {
      const isOwn = kind === "member" || authorsOf(name).join() === "member";
      const refused = isOwn ? "member_not_allowed" : "administrator_not_allowed";
      const expected = authorsOf(name).includes(kind) ? null : refused;
      const code = refusalCode(() => refuseAuthor(name, { actor }));
      expect([name, code]).toEqual([name, expected]);
      return code;
    });
    const allowed = codes.filter((code) => code === null).length;
    // By default a command is for the operator.
    if (isOperator) expect(allowed).toBeGreaterThan(NAMES.length / 2);
    else expect(allowed).toBeLessThan(NAMES.length / 4);
  });

  test("that is no operator, for all that moves money of a reseller", () => {
    const amount = { username: "carol", amountMicros: 1, note: null };
    for (const kind of ["member", "key", "server"] as const) {
      const actor = ACTORS[kind]();
      for (const name of ["creditUser", "debitUser"] as const) {
        const run = () => shop.run(name, { ...amount, actor });
        expect(refusalCode(run, shop)).toMatch(/_not_allowed$/);
      }
    }
    expect(refusalCode(() => shop.run("creditUser", amount))).toBeNull();
  });

  test("no money is created, decided on or moved by a member, a key or a server in a command with an author", () => {
    const MONEY: CommandName[] = [
      "creditUser",
      "debitUser",
      "adjustBalance",
      "approvePayment",
      "rejectPayment",
      "settleReversal",
      "settleSurplus",
      "createPaymentMethod",
      "updatePaymentMethod",
      "removePaymentMethod",
    ];
    for (const name of MONEY) expect(authorsOf(name)).toEqual(["administrator", "person"]);
  });
});

/** The commands that pages submit in the name of who is signed in. */
function submittedIn(folder: string): Set<string> {
  const root = new URL("../../../", import.meta.url).pathname;
  const names = [...new Bun.Glob(`src/${folder}/**/*.{ts,tsx}`).scanSync(root)].flatMap((path) => {
    const text = readFileSync(root + path, "utf8");
    return [...text.matchAll(/submission\.submit\(\s*"(\w+)"/g)].map(([, name]) => name!);
  });
  return new Set(names);
}

test("the table has every command that the portal's pages submit for members, and no other", () => {
  const submitted = submittedIn("portal");
  expect(submitted.size).toBeGreaterThan(20);
  const inTable = NAMES.filter((name) => authorsOf(name).includes("member"));
  // Whoever follows a link to unsubscribe is no author.
  const [linked, unused] = [["turnOffMails"], ["enableSecondFactor"]];
  const missing = [...submitted].filter((name) => !inTable.includes(name as CommandName));
  expect(missing.filter((name) => !linked.includes(name))).toEqual([]);
  expect<string[]>(inTable.filter((name) => !submitted.has(name))).toEqual(unused);
});

test("a role is required of every author but a person at the command line", () => {
  const authors: [Actor, least: number][] = [
    ...ROLES.map((role, index) => [administrator(role), index] as [Actor, number]),
    [administrator("gone"), -1],
    [administrator("nobody"), -1],
    [{ keyId: null, operator: "panel:" }, -1],
    [{ keyId: null, operator: "member:" }, -1],
    [ACTORS.member(), -1],
    [ACTORS.key(), -1],
    [ACTORS.server(), -1],
    [ACTORS.person(), ROLES.length],
  ];
  for (const [actor, highest] of authors) {
    for (const [index, least] of ROLES.entries()) {
      const code = refusalCode(() => shop.read((reader) => requireRole(reader, actor, least, "x")));
      const isRole = highest >= 0 && least === "owner";
      const expected =
        index <= highest ? null : isRole ? "owner_required" : "administrator_not_allowed";
      expect<unknown>([actor, least, code]).toEqual([actor, least, expected]);
    }
  }
});

const CHANGES = {
  setPassword: { passwordHash: "q" },
  enableSecondFactor: { code: "000000", recoveryHashes: [] },
  removeSecondFactor: {},
  revokeSessions: { session: null },
} as const;
type Change = keyof typeof CHANGES;

/** What the change itself refuses, once the author may make it. */
const PASSED: Record<Change, string | null> = {
  setPassword: null,
  enableSecondFactor: "second_factor_absent",
  removeSecondFactor: "second_factor_absent",
  revokeSessions: null,
};

describe.each(Object.keys(CHANGES) as Change[])("a sign-in is changed by %s", (name) => {
  const run = (site: Site, person: string, actor: Actor) =>
    refusalCode(() => shop.run(name, { site, person, ...CHANGES[name], actor } as never));
  const member = (username: string) => {
    const actor = seedMember(shop, `${username}${(hashes += 1)}`);
    return { actor, id: actor.operator!.slice("member:".length) };
  };

  test("of a member, only by itself, administrators and the command line", () => {
    const [own, colleague] = [member("own"), member("colleague")];
    expect<string | null>(run("portal", own.id, own.actor)).toBe(PASSED[name]);
    const authors: [Actor, isAllowed: boolean][] = [
      [colleague.actor, false],
      [{ keyId: null, operator: memberAuthor("z".repeat(24)) }, false],
      [{ keyId: own.id, operator: memberAuthor(own.id) }, false],
      [ACTORS.key(), false],
      [ACTORS.server(), false],
      [administrator("gone"), false],
      ...ROLES.map((role) => [administrator(role), mayAct(role, "operator")] as [Actor, boolean]),
      [ACTORS.person(), true],
    ];
    for (const [actor, isAllowed] of authors) {
      const code = run("portal", own.id, actor);
      const expected = isAllowed ? PASSED[name] : expect.stringMatching(/_not_allowed$/);
      expect<unknown>([actor, code]).toEqual([actor, expected]);
    }
  });

  test("of an administrator, only by itself, owners and the command line", () => {
    expect<string | null>(run("panel", "other", administrator("other"))).toBe(PASSED[name]);
    const authors: [Actor, isAllowed: boolean][] = [
      [member("member").actor, false],
      [{ keyId: null, operator: "member:other" }, false],
      [ACTORS.key(), false],
      [ACTORS.server(), false],
      [administrator("gone"), false],
      [administrator("support"), false],
      [administrator("operator"), false],
      [administrator("owner"), true],
      [ACTORS.person(), true],
    ];
    for (const [actor, isAllowed] of authors) {
      const code = run("panel", "other", actor);
      const expected = isAllowed
        ? PASSED[name]
        : expect.stringMatching(/^(owner_required|(member|administrator)_not_allowed)$/);
      expect<unknown>([actor, code]).toEqual([actor, expected]);
    }
  });
});
