// What administrators may change of members, decided in the transaction: every operation × every author × every role of
// a member × what the portal lets it create.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findPortalSettings } from "../../../src/db/members/members.ts";
import { findUser } from "../../../src/db/users/users.ts";
import {
  administratorOf,
  authorOf,
  mayAct,
  type Role,
  ROLES,
} from "../../../src/domain/administrators/administrators.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { MEMBER_ROLES, type MemberRole } from "../../../src/domain/members/members.ts";
import { KEY_TYPES, type KeyType } from "../../../src/domain/users/keys.ts";
import type { RefusalCode } from "../../../src/domain/values/error-table.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

let shop: Shop;
let made = 0;
const hash = () => String((made += 1)).padStart(64, "0");

beforeAll(() => {
  shop = openShop();
  for (const role of ROLES)
    shop.run("inviteAdministrator", { name: role, role, invitationHash: hash() });
  shop.run("inviteAdministrator", { name: "gone", role: "owner", invitationHash: hash() });
  shop.run("inviteAdministrator", { name: "boss", role: "owner", invitationHash: hash() });
  shop.run("setAdministratorActive", { name: "gone", active: false });
});
afterAll(() => shop.close());

/** An author, with its rights by now. Null: not an administrator any more. */
const AUTHORS: readonly (readonly [operator: string, role: Role | null])[] = [
  ...ROLES.map((role) => [authorOf(role), role] as const),
  [authorOf("gone"), null],
  [authorOf("nobody"), null],
  ["reseller (root) as panel", "owner"],
];

interface Subject {
  id: string;
  role: MemberRole;
  username: string;
}

interface Operation {
  run: (actor: Actor, subject: Subject) => unknown;
  /** Whether it lets somebody in, who then acts as the member. */
  gives: boolean;
}

const OPERATIONS: Record<string, Operation> = {
  invite: {
    gives: true,
    run(actor, { username, role }) {
      const invitationHash = hash();
      const email = `n${made}@x.example`;
      const invitation = { email, name: null, role, language: "en", invitationHash } as const;
      shop.run("inviteMember", { username, ...invitation, actor });
    },
  },
  "reset the password": {
    gives: true,
    run: (actor, { id }) => shop.run("resetMember", { id, invitationHash: hash(), actor }),
  },
  "change the address": {
    gives: true,
    run: (actor, { id }) =>
      shop.run("setMemberEmail", { id, email: `a${hash()}@x.example`, actor }),
  },
  "give the role": {
    gives: true,
    run: (actor, { id, role }) => shop.run("setMemberRole", { id, role, actor }),
  },
  enable: {
    gives: true,
    run: (actor, { id }) => shop.run("setMemberActive", { id, active: true, actor }),
  },
  "remove the second factor": {
    gives: true,
    run: (actor, { id }) => shop.run("removeSecondFactor", { site: "portal", person: id, actor }),
  },
  disable: {
    gives: false,
    run: (actor, { id }) => shop.run("setMemberActive", { id, active: false, actor }),
  },
  "end the sessions": {
    gives: false,
    run: (actor, { id }) =>
      shop.run("revokeSessions", { site: "portal", person: id, session: null, actor }),
  },
};

/** A new reseller with a member of this role, who may create these keys. */
function subject(role: MemberRole, keys: KeyType): Subject {
  const invitationHash = hash();
  const username = `r${made}`;
  shop.user(username, "0");
  shop.run("setPortal", { username, changes: { keys } });
  const email = `m${made}@x.example`;
  const invitation = { email, name: null, role, language: "en", invitationHash } as const;
  const id = shop.run("inviteMember", { username, ...invitation });
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  return { id, role, username };
}

/** The refusal of an author who needs at least this role; null: none. */
function refusalFor(role: Role | null, least: Role): RefusalCode | null {
  if (role === null) return "administrator_not_allowed";
  if (mayAct(role, least)) return null;
  return least === "owner" ? "owner_required" : "administrator_not_allowed";
}

describe.each(Object.entries(OPERATIONS))("%s", (_, { run, gives }) => {
  test.each(KEY_TYPES)(
    "is refused to whoever may not, where members may create %s keys",
    (keys) => {
      for (const memberRole of MEMBER_ROLES) {
        const isCredit = gives && memberRole === "owner" && keys !== "order";
        const least = isCredit ? "owner" : "operator";
        const whom = subject(memberRole, keys);
        for (const [operator, role] of AUTHORS) {
          shop.query("UPDATE members SET totp_secret = 'x' WHERE id = ?", whom.id);
          const refused = refusalCode(() => run({ keyId: null, operator }, whom), shop);
          const expected = refusalFor(role, least);
          expect([memberRole, operator, refused]).toEqual([memberRole, operator, expected]);
        }
      }
    },
  );
});

test.each(KEY_TYPES.flatMap((from) => KEY_TYPES.map((to) => [from, to] as const)))(
  "the keys that members may create change from %s to %s by who may",
  (from, to) => {
    for (const [operator, role] of AUTHORS) {
      shop.run("setPortal", { username: "alice", changes: { keys: from } });
      const least = to !== from && to !== "order" ? "owner" : "operator";
      const actor = { keyId: null, operator };
      const changes = { keys: to };
      const refused = refusalCode(() =>
        shop.run("setPortal", { username: "alice", changes, actor }),
      );
      expect([operator, refused]).toEqual([operator, refusalFor(role, least)]);
      const { account } = shop.read((reader) => findUser(reader, "alice")!);
      const { keys } = shop.read((reader) => findPortalSettings(reader, account));
      expect(keys).toBe(refused === null ? to : from);
    }
  },
);

test.each([
  [
    "approve",
    () =>
      shop.run("approveRegistration", {
        id: waiting(),
        username: null,
        invitationHash: hash(),
        actor: author,
      }),
  ],
  ["decline", () => shop.run("declineRegistration", { id: waiting(), actor: author })],
  [
    "turn the portal off",
    () => shop.run("setPortal", { username: "alice", changes: { active: false }, actor: author }),
  ],
])("only operators and owners may %s", (_, run) => {
  for (const [operator, role] of AUTHORS) {
    author = { keyId: null, operator };
    expect([operator, refusalCode(run)]).toEqual([operator, refusalFor(role, "operator")]);
  }
});

let author: Actor = { keyId: null, operator: null };

function waiting(): string {
  const email = `w${hash()}@x.example`;
  shop.run("register", {
    email,
    name: "New",
    language: "en",
    limit: 1000,
    from: { ...VISITOR, network: email },
  });
  const [row] = shop.query("SELECT id FROM registrations WHERE email = ?", email) as {
    id: string;
  }[];
  return row!.id;
}

test.each([
  ["panel:alice", "alice"],
  ["panel:a.b-c_1", "a.b-c_1"],
  ["panel:", null],
  ["panel:Alice", null],
  ["alice", null],
  ["member:panel:alice", null],
  [null, null],
])("the author %p is the administrator %p", (operator, name) => {
  expect(administratorOf(operator)).toBe(name);
});
