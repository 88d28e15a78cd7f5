// Mails about balances, orders and alerts: exactly as many as there are events, to those who want them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listMails } from "../../../src/db/mails/mails.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { memberAuthor, MEMBER_ROLES, mayMember } from "../../../src/domain/members/members.ts";
import {
  ENDED_STATUSES,
  type OperatorTarget,
  ORDER_STATUSES,
  type OrderStatus,
} from "../../../src/domain/orders/order-statuses.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { verifyStore } from "../../support/databases/verify.ts";

let shop: Shop;
beforeEach(() => {
  shop = openShop();
  shop.run("setMailSettings", { active: true, operator: "op@shop.example" });
});
afterEach(() => shop.close());

let made = 0;
/** A member of alice who wants these mails. */
function member(mails: string, role: (typeof MEMBER_ROLES)[number] = "owner"): string {
  made += 1;
  const email = `m${made}@x.example`;
  const invitationHash = String(made).padStart(64, "0");
  const invitation = { email, name: null, role, language: "en", invitationHash } as const;
  const id = shop.run("inviteMember", { username: "alice", ...invitation });
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  shop.run("updateMember", { changes: { mails }, actor: actorOf(id) });
  return id;
}

const actorOf = (id: string) => ({ keyId: null, operator: memberAuthor(id) });
const all = () => shop.read((reader) => listMails(reader, 999, false)).toReversed();
const balance = () => shop.read((reader) => findUser(reader, "alice")!).balanceMicros;
const PER_UNIT = 2320n;

describe("a low balance", () => {
  test("is one mail to each member who wants it, for each crossing of the threshold", () => {
    const owner = member("low_balance");
    const other = member("low_balance,payment", "viewer");
    member("payment");
    const step = fc.oneof(
      fc.record({ order: fc.integer({ min: 10, max: 9000 }) }),
      fc.record({ credit: fc.integer({ min: 1, max: 30_000_000 }) }),
      fc.record({ threshold: fc.option(fc.integer({ min: 1, max: 90_000_000 })) }),
    );
    let threshold: bigint | null = null;
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 25 }), (steps) => {
        const before = all().length;
        let crossings = 0;
        // Each run crosses at least once.
        const begin = [
          { credit: 30_000_000 },
          { threshold: Number(balance()) + 30_000_000 },
          { order: 10 },
        ];
        for (const each of [...begin, ...steps]) {
          if ("threshold" in each) {
            const lowBalanceMicros = each.threshold;
            shop.run("setLowBalance", { lowBalanceMicros, actor: actorOf(owner) });
            threshold = lowBalanceMicros === null ? null : BigInt(lowBalanceMicros);
          } else if ("credit" in each) {
            shop.run("creditUser", { username: "alice", amountMicros: each.credit, note: null });
          } else {
            const [had, charge] = [balance(), BigInt(each.order) * PER_UNIT];
            if (charge > had) continue;
            shop.order(each.order);
            if (threshold !== null && had >= threshold && had - charge < threshold) crossings += 1;
          }
        }
        const mails = all().slice(before);
        expect(mails.map(({ kind }) => kind)).toEqual(mails.map(() => "low_balance"));
        for (const id of [owner, other])
          expect(mails.filter((mail) => mail.member === id)).toHaveLength(crossings);
        expect(mails).toHaveLength(crossings * 2);
      }),
      { numRuns: 20 },
    );
    expect(all().length).toBeGreaterThanOrEqual(40);
  });

  test("tells the balance and the threshold, exactly", () => {
    const owner = member("low_balance");
    shop.run("setLowBalance", { lowBalanceMicros: 99_999_999, actor: actorOf(owner) });
    shop.order(10);
    const data = {
      balanceMicros: String(100_000_000n - 10n * PER_UNIT),
      thresholdMicros: 99_999_999,
    };
    expect(JSON.parse(all()[0]!.data)).toEqual(data);
  });

  test("its threshold is set by owners only, and neither webhooks nor an erasure lose or leave it", () => {
    for (const role of MEMBER_ROLES) {
      const set = () =>
        shop.run("setLowBalance", { lowBalanceMicros: 5, actor: actorOf(member("", role)) });
      if (mayMember(role, "members")) expect(set()).toBe(null);
      else expect(refusalCode(set)).toBe("member_not_allowed");
    }
    const low = () => shop.read((reader) => findUser(reader, "alice")!).lowBalanceMicros;
    expect(low()).toBe(5);
    const hook = { username: "alice", url: "https://hooks.example/", events: "*", secret: "s" };
    const { id } = shop.run("createWebhook", { ...hook, balanceLowBelow: 9 });
    expect(low()).toBe(9);
    shop.run("deleteWebhook", { id });
    expect(low()).toBe(5);
    shop.run("setPortal", { username: "alice", changes: { keys: "order" } });
    expect(low()).toBe(5);
    shop.run("setPortal", { username: "alice", changes: { lowBalanceMicros: null } });
    expect(low()).toBe(null);
  });

  test("verify compares the user's copy of the threshold with the portal's", async () => {
    const owner = member("");
    shop.run("setLowBalance", { lowBalanceMicros: 5, actor: actorOf(owner) });
    expect(await verifyStore(shop)).toEqual([]);
    shop.query("UPDATE users SET low_balance_micros = 6 WHERE username = 'alice'");
    expect((await verifyStore(shop)).length).toBe(1);
  });
});

/** Whether an order that gets the status gets money back. */
const REFUNDED: readonly OrderStatus[] = ["PARTIAL", "CANCELLED", "REFUNDED", "FAILED"];
/** What leads to each status, from PROCESSING. */
const WAYS = Object.fromEntries(
  ORDER_STATUSES.map((status) => [
    status,
    status === "REFUNDED" ? ["COMPLETED", status] : [status],
  ]),
) as Record<OrderStatus, OperatorTarget[]>;

describe.each(ENDED_STATUSES)("an order that becomes %s", (status) => {
  test("is one mail to members who chose it, if something was refunded", () => {
    const chosen = member("order_refund");
    member("sign_in,low_balance,payment");
    const orderId = shop.order(1000);
    for (const to of WAYS[status]) {
      const remains = to === "PARTIAL" ? 250 : undefined;
      shop.run("transitionOrder", {
        id: String(orderId),
        to,
        note: null,
        ...(remains && { remains }),
      });
    }
    const mails = all();
    const isRefunded = REFUNDED.includes(status);
    expect(mails.map(({ kind, member: to }) => [kind, to])).toEqual(
      isRefunded ? [["order_refund", chosen]] : [],
    );
    if (!isRefunded) return;
    const refundMicros = status === "PARTIAL" ? 580_000 : 2_320_000;
    expect(JSON.parse(mails[0]!.data)).toMatchObject({ orderId, status, refundMicros });
  });
});

describe("an alert", () => {
  const DISK = { kind: "disk_low", subject: "disk", message: "The disk has 5 MiB free" } as const;
  const STUCK = { kind: "mail_stuck", subject: "e-mail", message: "E-mails wait" } as const;

  test("is a mail to the operator when it begins, when it doubles and when it ends, once each", () => {
    const record = (changes: object) =>
      shop.run("recordAlerts", { begun: [], ended: [], ...changes } as never);
    for (let twice = 0; twice < 2; twice += 1) record({ begun: [{ ...DISK, amount: 1 }] });
    record({ changed: [{ ...DISK, amount: 1 }] });
    for (let twice = 0; twice < 2; twice += 1) record({ ended: [DISK] });
    const mails = all();
    expect(mails.map(({ kind, email, member: to }) => [kind, email, to])).toEqual([
      ["alert", "op@shop.example", null],
      ["alert", "op@shop.example", null],
    ]);
    expect(mails.map(({ data }) => JSON.parse(data).event)).toEqual([
      "alert.raised",
      "alert.resolved",
    ]);
  });

  test("about e-mails is not sent by e-mail, and without an address none is", () => {
    shop.run("recordAlerts", { begun: [STUCK], ended: [] });
    shop.run("setMailSettings", { active: true, operator: null });
    shop.run("recordAlerts", { begun: [DISK], ended: [] });
    expect(all()).toEqual([]);
  });
});
