// A portal with data for the tests in a browser: a reseller with orders in every state, members and services.

import { findUser } from "../../../src/db/users/users.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { monthText, utcMonthOf } from "../../../src/domain/values/calendar.ts";
import { seedInvoice } from "../../support/seeds/invoices.ts";
import { askPayment, seedMethod } from "../../support/seeds/payments.ts";
import { mailTo } from "../../support/seeds/mails.ts";
import type { TestPortal } from "../../support/worlds/portal.ts";

export interface Market {
  /** Values of the parameters of paths. */
  parameters: Record<string, string>;
  /** Id of the owner that looks. */
  owner: string;
}

const SERVICES = [
  ["Instagram Followers [Real, 30 days refill]", "Instagram"],
  ["Instagram Likes", "Instagram"],
  ["YouTube Views [Slow, monetizable, worldwide]", "YouTube"],
  ["Telegram Members", "Telegram"],
] as const;

/** Fills the portal. Everything belongs to alice. */
export function fillPortal(portal: TestPortal): Market {
  portal.user("alice", "250");
  portal.user("shop-of-bea", "12.5", "alice");
  SERVICES.forEach(([name, category], index) => {
    const id = `service-${index}`;
    portal.service({ id, name, price: `${index + 1}.234567`, cancel: true, refill: true });
    portal.run("updateService", { id, changes: { category } });
  });
  portal.service({ id: "words", name: "Custom comments", type: "custom_comments", price: "9" });
  const { account } = portal.read((reader) => findUser(reader, "alice")!);
  const { id: keyId } = portal.key("alice", "order");
  const placed = Array.from({ length: 30 }, (_, index) =>
    portal.run("placeOrder", {
      resellerAccount: account,
      keyId,
      service: `service-${index % SERVICES.length}`,
      link: `https://instagram.example/some.long.profile.name.${index}`,
      quantity: 100 + index * 37,
      reference: index % 3 === 0 ? `shop-${index}` : null,
    }),
  );
  const [done, partial, cancelled, open] = placed.slice(-4).map(({ orderId }) => String(orderId));
  const moved = { note: null };
  portal.run("transitionOrder", { id: done!, to: "COMPLETED", ...moved });
  portal.run("transitionOrder", { id: partial!, to: "PARTIAL", remains: 40, ...moved });
  portal.run("transitionOrder", { id: cancelled!, to: "CANCELLED", ...moved });
  portal.run("makeRequest", { resellerAccount: account, keyId, kind: "cancel", id: open! });
  while (portal.run("countDailyTotals", { limit: 1000 }) !== "done");
  portal.run("addNotice", {
    texts: {
      en: "Refills take a day longer this week.",
      ru: "На этой неделе восполнения идут на день дольше.",
    },
    untilAt: null,
  });
  const hook = { username: "alice", url: "https://hooks.example/", events: "*", secret: "s" };
  const webhook = portal.run("createWebhook", { ...hook, balanceLowBelow: null }).id;
  const owner = portal.member("alice", "ann@alice.example");
  const member = portal.member("alice", "bea.with.a.long.name@alice.example", "buyer");
  portal.run("inviteMember", {
    username: "alice",
    email: "cem@alice.example",
    name: "Cem",
    role: "viewer",
    language: "tr",
    invitationHash: "0".repeat(64),
  });
  const payer = { keyId: null, operator: memberAuthor(owner) };
  const names = JSON.stringify({ en: "Bank transfer", ru: "Банковский перевод" });
  const instructions = JSON.stringify({ en: "Account 1234 5678\nNova Ltd\nWrite your user name" });
  const bonusSteps = JSON.stringify([{ fromMicros: 100_000_000, ppm: 30_000 }]);
  const terms = { names, instructions, feePpm: 29_000, feeFixedMicros: 300_000, bonusSteps };
  seedMethod(portal, "bank", "manual", terms);
  const asked = { methodId: "bank", actor: payer, now: portal.clock.now };
  const payments = [100, 50].map((amount) => askPayment(portal, { ...asked, amount }));
  const id = payments[1]!;
  portal.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
  const payment = payments[0]!;
  portal.run("setMailSettings", { active: true, operator: null });
  const parameters = {
    mail: mailTo(portal, member),
    payment,
    order: partial!,
    service: "1",
    kind: "cancel",
    key: keyId,
    webhook,
    member,
  };
  const invoice = seedInvoice(portal, "alice");
  const month = monthText(utcMonthOf(portal.clock.now));
  return { owner, parameters: { ...parameters, user: "shop-of-bea", month, invoice } };
}
