// What the package's verification accepts and refuses.

import type { Delivery } from "../../support/peers/stripe/events.ts";
import { WEBHOOK_SECRET } from "../../support/peers/stripe/server.ts";
import { answered, type Case, COMPLETED, paid, pending, type Row, type World } from "./case.ts";

/** The card is paid, and its event is delivered with a change. */
const told =
  (change: (world: World) => Delivery): Case["run"] =>
  async (world) => {
    world.local.account.payByCard(world.reference);
    await world.deliver(COMPLETED, change(world));
  };

const OTHER_SECRET = "whsec_OfAnotherEndpoint00000000000001";
const nowS = () => Math.floor(Date.now() / 1000);
const refused = answered(pending, 401);
const accepted = answered(paid, 200);

export const SIGNATURES: readonly Row[] = [
  [
    "a time five minutes and more ago",
    "webhooks/signature",
    told(() => ({ signedAt: nowS() - 310 })),
    refused,
  ],
  [
    "a time within five minutes",
    "webhooks/signature",
    told(() => ({ signedAt: nowS() - 200 })),
    accepted,
  ],
  [
    "the secret of another endpoint",
    "webhooks/signature",
    told(() => ({ secrets: [OTHER_SECRET] })),
    refused,
  ],
  [
    "the secret key instead of the signing secret",
    "webhooks/signature",
    told(({ local }) => ({ secrets: [local.key] })),
    refused,
  ],
  [
    "a changed body",
    "webhooks/signature",
    told(({ local }) => ({
      body: JSON.stringify(local.event(COMPLETED), null, 2).replace("2500", "9500"),
    })),
    refused,
  ],
  [
    "a body that was formatted again",
    "webhooks/signature",
    told(({ local }) => ({ body: JSON.stringify(local.event(COMPLETED)) })),
    refused,
  ],
  ["an empty body", "webhooks/signature", told(() => ({ body: "" })), refused],
  ["no header", "webhooks/signature", told(() => ({ header: null })), refused],
  ["an empty header", "webhooks/signature", told(() => ({ header: "" })), refused],
  [
    "a header without a time",
    "webhooks/signature",
    told(() => ({ header: `v1=${"0".repeat(64)}` })),
    refused,
  ],
  [
    "a header without a signature",
    "webhooks/signature",
    told(() => ({ header: `t=${nowS()}` })),
    refused,
  ],
  ["a header of another form", "webhooks/signature", told(() => ({ header: "Bearer x" })), refused],
  [
    "a signature of zeros",
    "webhooks/signature",
    told(() => ({ header: `t=${nowS()},v1=${"0".repeat(64)}` })),
    refused,
  ],
  [
    "only the scheme of test events, v0",
    "webhooks/signature",
    told(() => ({ scheme: "v0" })),
    refused,
  ],
  [
    "several signatures, one of them right",
    "webhooks/signature",
    told(() => ({ secrets: [OTHER_SECRET, WEBHOOK_SECRET] })),
    accepted,
  ],
  [
    "several signatures, none of them right",
    "webhooks/signature",
    told(() => ({ secrets: [OTHER_SECRET, `${OTHER_SECRET}2`] })),
    refused,
  ],
  [
    "while a secret is rolled, both sign",
    "webhooks#roll-endpoint-secrets",
    told(() => ({ secrets: [`${WEBHOOK_SECRET}New`, WEBHOOK_SECRET] })),
    accepted,
  ],
  [
    "after a secret was rolled, the old one does not",
    "webhooks#roll-endpoint-secrets",
    told(() => ({ secrets: [`${WEBHOOK_SECRET}New`] })),
    refused,
  ],
  [
    "a body that is signed and no JSON",
    "webhooks/signature",
    told(() => ({ payload: "not JSON" })),
    refused,
  ],
  [
    "a body of a megabyte",
    "webhooks",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.deliver({ ...world.local.event(COMPLETED), padding: "x".repeat(1_000_000) });
    },
    answered(pending, 413),
  ],
  [
    "another address: another method, another kind, another verb",
    "webhooks",
    async (world) => {
      world.local.account.payByCard(world.reference);
      const event = world.local.event(COMPLETED);
      await world.deliver(event, { path: "/payments/stripe/other" });
      await world.deliver(event, { path: "/payments/callback/card" });
      await world.deliver(event, { method: "PUT" });
    },
    answered(pending, 404, 404, 405),
  ],
];
