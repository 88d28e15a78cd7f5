// The data of `quickstart` and `demo`: a catalogue, a demo reseller with a balance and a key, and a month of orders of
// a second reseller.

import catalogue from "../../../deploy/catalogue.example.csv" with { type: "text" };
import { listServices } from "../../db/catalogue/services.ts";
import { transact, type Tx } from "../../db/port/port.ts";
import { findUser, listUsers } from "../../db/users/users.ts";
import type { Role } from "../../domain/administrators/administrators.ts";
import { MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import type { MemberRole } from "../../domain/members/members.ts";
import {
  type CommandName,
  runCommand,
  type UnsignedInput,
} from "../../operations/batch/commands.ts";
import { createContext } from "../../operations/batch/context.ts";
import { createCommandIds } from "../../operations/batch/execute.ts";
import { DEMO_PROVIDER_SERVICES, DEMO_PROVIDER_URL } from "../../providers/demo-provider.ts";
import type { DemoPaymentMethod } from "../../web/server/demo.ts";
import { newToken } from "../../web/sessions/tokens.ts";
import { parseCatalogue } from "../catalogue/service-import.ts";
import { type CommonOptions, signed, withDatabase } from "../kernel/command.ts";
import { newKey } from "../users/keys.ts";
import { CORNER_SHOP, sampleOrders, type Shop } from "./sample-orders.ts";

export const DEMO_USER = "demo";
const DEMO_SHOP: Shop = { username: DEMO_USER, name: "Demo" };
export const DEMO_EMAIL = "demo@shop.example";
const DEMO_BALANCE_USD = 100;
const PAYMENT_LIMIT_USD = 1000;
const DEMO_PROVIDER = "demo-provider";
/** The services that the demo's provider delivers; the others are delivered by hand. */
const DELIVERED = ["instagram-followers", "instagram-likes", "tiktok-views", "telegram-members"];

/** The services of the catalogue. */
export const CATALOGUE_IDS: ReadonlySet<string | null> = new Set(
  parseCatalogue(catalogue).map(({ id }) => id),
);

/** A part of the data. It may run several times, each time with the same ids. */
export type Step = (tx: Tx) => void;

/**
 * Creates the data of `steps` in one transaction, then that of each step in `further`. Returns false, and creates
 * nothing, if there are users or services already.
 */
export async function seed(
  options: CommonOptions,
  steps: readonly Step[],
  further: readonly Step[] = [],
): Promise<boolean> {
  return withDatabase(options, async ({ store }) => {
    const isNew = await transact(store, (tx) => {
      if (listUsers(tx).length > 0 || listServices(tx).length > 0) return false;
      for (const run of steps) run(tx);
      return true;
    });
    if (!isNew) return false;
    for (const run of further) await transact(store, run);
    return true;
  });
}

/** Returns a new key of the demo reseller, and the command that stores it. */
export function newDemoKey(label: string) {
  return newKey({ user: DEMO_USER, type: "order", label });
}

/**
 * Returns what both commands create. `key`: the command of newDemoKey. `balanceUsd`: what the demo reseller is credited.
 * `hasMonth`: whether it has placed orders for a month too.
 */
export function sharedSteps(
  key: UnsignedInput<"createKey">,
  now: number,
  { balanceUsd = DEMO_BALANCE_USD, hasMonth = false } = {},
): Step[] {
  const credit = {
    username: DEMO_USER,
    amountMicros: balanceUsd * MICROS_PER_DOLLAR,
    note: null,
    publicNote: "quickstart",
  };
  return [
    step("importServices", { services: parseCatalogue(catalogue) }, now),
    ...(hasMonth
      ? [sampleOrders(now, [CORNER_SHOP, DEMO_SHOP])]
      : [
          sampleOrders(now, [CORNER_SHOP]),
          step("createUser", { ...DEMO_SHOP, parent: null }, now),
        ]),
    step("creditUser", credit, now),
    step("createKey", key, now),
  ];
}

/** Returns the invitation of a member of the demo reseller. */
export function memberStep(
  { email, role }: { email: string; role: MemberRole },
  invitationHash: string,
  now: number,
): Step {
  const member = { username: DEMO_USER, email, name: "Demo", role, language: "en" } as const;
  return step("inviteMember", { ...member, invitationHash }, now);
}

/** People who sign in with a password that is known from the start. */
export interface DemoPeople {
  administrators: readonly { name: string; role: Role }[];
  members: readonly { email: string; role: MemberRole }[];
  /** The hash of the password of each. */
  passwordHash: string;
}

/** Returns the people, and the provider that delivers. */
export function peopleSteps(
  { administrators, members, passwordHash }: DemoPeople,
  now: number,
): Step[] {
  const accept = (site: "panel" | "portal", invitationHash: string) =>
    step("acceptInvitation", { site, invitationHash, passwordHash }, now);
  return [
    ...administrators.flatMap(({ name, role }) => {
      const { invitationHash } = newToken();
      const invite = step("inviteAdministrator", { name, role, invitationHash }, now);
      return [invite, accept("panel", invitationHash)];
    }),
    ...members.flatMap((member) => {
      const { invitationHash } = newToken();
      return [memberStep(member, invitationHash, now), accept("portal", invitationHash)];
    }),
  ];
}

/** Returns the provider, and the services that it delivers from now on. */
export function providerSteps(now: number): Step[] {
  const provider = {
    name: DEMO_PROVIDER,
    protocol: "smm-api",
    url: DEMO_PROVIDER_URL,
    key: "demo",
  };
  return [
    step("createProvider", provider, now),
    ...DELIVERED.map((id, at) => {
      const service = String(DEMO_PROVIDER_SERVICES[at]!.service);
      return step(
        "updateService",
        { id, changes: {}, provider: { name: DEMO_PROVIDER, service } },
        now,
      );
    }),
  ];
}

/** Returns the payment method whose page is the demo's own, at `portalUrl`. */
export function paymentSteps(
  { id, secret }: DemoPaymentMethod,
  portalUrl: string,
  now: number,
): Step[] {
  const terms = {
    names: JSON.stringify({ en: "Demo card" }),
    instructions: "{}",
    minMicros: MICROS_PER_DOLLAR,
    maxMicros: PAYMENT_LIMIT_USD * MICROS_PER_DOLLAR,
    feePpm: 0,
    feeFixedMicros: 0,
    feePayer: "operator",
    bonusSteps: "[]",
    rateToUsd: "1",
    settings: JSON.stringify({ secret, "pay-url": `${portalUrl}/demo-payments/{payment}` }),
    active: true,
  } as const;
  const method = { methodId: id, kind: "callback", currency: "USD", terms, known: [] };
  return [step("createPaymentMethod", { ...method, resellers: null }, now)];
}

/**
 * Credits the demo reseller up to `balanceUsd` once less than half of it is left: the orders of one visitor must not
 * keep the others from ordering.
 */
export async function topUp(options: CommonOptions, balanceUsd: number): Promise<void> {
  const wholeMicros = balanceUsd * MICROS_PER_DOLLAR;
  await withDatabase(options, async ({ store, execute }) => {
    const { balanceMicros } = (await store.read((reader) => findUser(reader, DEMO_USER)))!;
    const amountMicros = wholeMicros - Number(balanceMicros);
    if (amountMicros < wholeMicros / 2) return;
    await execute("creditUser", {
      username: DEMO_USER,
      amountMicros,
      note: null,
      publicNote: "demo",
    });
  });
}

/** Returns a step that runs a command. Its ids are created once. */
function step<Name extends CommandName>(
  name: Name,
  unsigned: UnsignedInput<Name>,
  now: number,
): Step {
  const input = signed(unsigned);
  const ids = createCommandIds(name, input);
  return (tx) => void runCommand(tx, name, input, createContext(now, ids, crypto.randomUUID()));
}
