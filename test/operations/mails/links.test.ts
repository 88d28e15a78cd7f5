// Links with a secret in e-mails, on both engines: each works once, goes to the member's address of the moment, and
// nobody can have an address flooded with them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listMails } from "../../../src/db/mails/mails.ts";
import { findInvitedMember } from "../../../src/db/members/members.ts";
import { LINK_PAUSE_MS, type MailFailure } from "../../../src/domain/mails/mails.ts";
import type { DueMail } from "../../../src/operations/mails/mail-deliveries.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

const HOUR = 3_600_000;
/** Later than everything that a test has queued. */
const NOW = Date.now() + HOUR;
const ORIGIN = { address: "10.0.0.1", network: "10.0.0.0/24", userAgent: "" };
const ANN = "ann@x.example";

let shop: Shop;
let ann = "";
beforeEach(() => {
  shop = openShop();
  shop.run("setMailSettings", { active: true, operator: null });
  const invitationHash = "0".repeat(64);
  const invitation = { email: ANN, name: null, role: "owner", language: "en" } as const;
  ann = shop.run("inviteMember", { username: "alice", ...invitation, invitationHash });
  accept(invitationHash);
});
afterEach(() => shop.close());

const actorOf = (id: string) => ({ keyId: null, operator: `member:${id}` });
const ask = (now = NOW) => shop.execute("askReset", { email: ANN, from: ORIGIN }, now);
function accept(invitationHash: string): void {
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
}

let made = 0;
/** A server that sends mails keeps the hashes of its tokens. */
function take(now: number, known: { mailId: number; hash: string }[] = [], perHour = 20) {
  const hashes = Array.from({ length: 20 }, () => String((made += 1)).padStart(64, "c"));
  return shop.execute("takeDueMails", { server: "a", limit: 20, perHour, hashes, known }, now);
}
const knownOf = ({ mailId, linkHash }: DueMail) => [{ mailId, hash: linkHash! }];
function record({ mailId, attempt }: DueMail, error: MailFailure | null, now: number) {
  const attempts = [{ mailId, attempt, error, reply: null }];
  return shop.execute("recordMailAttempts", { attempts, jitter: 0.5 }, now)[0]?.result;
}
const works = (hash: string) =>
  shop.read((reader) => findInvitedMember(reader, hash)) !== undefined;
const states = () => shop.read((reader) => listMails(reader, 99, false)).map(({ state }) => state);

describe("a link that arrived, although its attempt failed", () => {
  // The mail server took the mail, and the connection broke before its answer.
  test.each(["timeout", "connection", "deferred"] as const)("%s: works once", (failure) => {
    ask();
    const [sent] = take(NOW);
    record(sent!, failure, NOW);
    accept(sent!.linkHash!);
    const later = NOW + HOUR;
    for (const known of [knownOf(sent!), []]) expect(take(later, known)).toEqual([]);
    expect(works(sent!.linkHash!)).toBe(false);
    expect(states()).toEqual(["dropped"]);
  });

  test("works no more after another link was made and used", () => {
    ask();
    const [first] = take(NOW);
    record(first!, "timeout", NOW);
    const actor = actorOf(ann);
    accept(first!.linkHash!);
    shop.run("resetOwnMember", { id: ann, invitationHash: "e".repeat(64), actor });
    for (const each of take(NOW + HOUR, knownOf(first!))) {
      expect(each.linkHash).not.toBe(first!.linkHash);
    }
    expect(works(first!.linkHash!)).toBe(false);
  });

  test("is sent again by each of two servers until it arrives, and the last one works", () => {
    ask();
    let now = NOW;
    const [one] = take(now);
    record(one!, "connection", now);
    const [two] = take((now += HOUR));
    record(two!, "connection", now);
    const [three] = take((now += HOUR), knownOf(one!));
    expect(works(three!.linkHash!)).toBe(true);
    expect(record(three!, null, now)).toBe("sent");
  });
});

test("a new address ends the link that was sent to the old one", () => {
  ask();
  const [sent] = take(NOW);
  record(sent!, null, NOW);
  expect(works(sent!.linkHash!)).toBe(true);
  shop.run("updateMember", { changes: { name: "Ann" }, newEmail: ANN, actor: actorOf(ann) });
  expect(works(sent!.linkHash!)).toBe(true);
  shop.run("setMemberEmail", { id: ann, email: "new@x.example" });
  expect(works(sent!.linkHash!)).toBe(false);
  expect(refusalCode(() => accept(sent!.linkHash!))).toBe("invitation_invalid");
});

describe("an owner who asks often", () => {
  const BOB = { email: "bob@x.example", name: null, role: "viewer", language: "en" } as const;
  const invite = (now: number) =>
    shop.execute("inviteOwnMember", { ...BOB, invitationHash: null, actor: actorOf(ann) }, now);
  const reset = (now: number) =>
    shop.execute("resetOwnMember", { id: ann, invitationHash: null, actor: actorOf(ann) }, now);

  test.each([
    ["an invitation", invite],
    ["a link to a new password", reset],
  ] as const)("%s: one mail in ten minutes, and one more after a mail that failed", (_, send) => {
    for (let each = 0; each < 5; each += 1) send(NOW + each);
    expect(states()).toEqual(["waiting"]);
    const [sent] = take(NOW + 10);
    record(sent!, "refused", NOW + 10);
    for (let each = 0; each < 5; each += 1) send(NOW + 20 + each);
    expect(states()).toEqual(["waiting", "failed"]);
    const [again] = take(NOW + 30);
    record(again!, null, NOW + 30);
    for (let each = 0; each < 5; each += 1) send(NOW + 40 + each);
    expect(states()).toEqual(["waiting", "sent", "failed"]);
    expect(take(NOW + 29 + LINK_PAUSE_MS)).toEqual([]);
    expect(take(NOW + 30 + LINK_PAUSE_MS).length).toBe(1);
  });
});

test("a link does not wait behind what its address got, and does not make other mails wait less", () => {
  for (let each = 0; each < 4; each += 1) signIn(each);
  const first = take(NOW, [], 2);
  expect(first.map(({ kind }) => kind)).toEqual(["sign_in", "sign_in"]);
  ask();
  expect(take(NOW, [], 2).map(({ kind }) => kind)).toEqual(["password_reset"]);
  expect(take(NOW, [], 2)).toEqual([]);
});

function signIn(each: number): void {
  const id = `session-${each}`.padEnd(20, "x");
  const session = { id, hash: "0".repeat(64), address: "10.1.2.3", userAgent: "Firefox" };
  const network = `10.1.${each}.0/24`;
  const opened = {
    site: "portal",
    attempt: null,
    person: ann,
    passwordHash: "p",
    session,
    network,
  };
  shop.run("openSession", opened as never);
}
