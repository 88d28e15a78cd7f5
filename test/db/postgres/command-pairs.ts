// One input of every command that writes users, members, invoices, payments, the ledger, sign-ins or mails, for a small
// world of two resellers. Most inputs meet rows of both resellers, and the same rows again and again.

import type { CommandInput, CommandName } from "../../../src/operations/batch/commands.ts";
import { commands as ledger } from "../../../src/operations/ledger/commands.ts";
import { commands as mails } from "../../../src/operations/mails/commands.ts";
import { commands as members } from "../../../src/operations/members/commands.ts";
import { commands as payments } from "../../../src/operations/payments/commands.ts";
import { commands as signIns } from "../../../src/operations/sign-ins/commands.ts";
import { commands as users } from "../../../src/operations/users/commands.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { TERMS } from "../../support/seeds/payments.ts";

/** Commands of these nouns. A new one needs an input below, or a reason why it has none. */
export const COVERED = Object.keys({
  ...ledger,
  ...members,
  ...payments,
  ...users,
  ...signIns,
  ...mails,
}) as CommandName[];

/** What the commands are about: two of each, by place. */
export interface World {
  usernames: readonly [string, string];
  accounts: readonly number[];
  members: readonly string[];
  keys: string[];
  sessions: string[];
  /** Hash of the newest link to a password. */
  invitation: string;
  /** Keys, orders and payments, with the place of their owner. */
  ownKeys: Owned[];
  orders: Owned[];
  payments: Owned[];
}

export interface Owned {
  id: string;
  of: number;
}

const OPERATOR = { keyId: null, operator: "tester" };
const hashOf = (n: number) => n.toString(16).padStart(64, "0");
const SERVER = "server-1";

type Inputs = { [Name in CommandName]?: (world: World, n: number) => CommandInput<Name> };

/** Returns the one that a number chooses. The newest are chosen most often, because both servers write them. */
const recent = <T>(all: readonly T[], n: number) => all.at(-1 - (n % Math.min(4, all.length)))!;
const one = <T>(all: readonly T[], n: number) => all[n % all.length]!;
const member = ({ members: all }: World, n: number) => ({
  keyId: null,
  operator: memberAuthor(one(all, n)),
});
const visitor = (n: number) => ({
  email: `visitor-${n % 5}@x.example`,
  name: "Vi",
  language: "en" as const,
});
const from = { address: "192.0.2.1", network: "192.0.2.0/24", userAgent: "t" };
/** A network that has not been counted often. */
const elsewhere = (n: number) => ({ ...from, network: `198.51.${n % 250}.0/24` });
export const INPUTS: Inputs = {
  placeOrder: (world, n) => ({
    resellerAccount: one(world.accounts, n),
    keyId: one(world.keys, n),
    service: "likes",
    link: "https://x.example/",
    quantity: 10,
    reference: null,
  }),
  transitionOrder: (world, n) => ({
    id: recent(world.orders, n).id,
    to: n % 2 === 0 ? "COMPLETED" : "CANCELLED",
    note: null,
    actor: OPERATOR,
  }),
  countDailyTotals: () => ({ limit: 100 }),
  creditUser: ({ usernames }, n) => ({
    username: one(usernames, n),
    amountMicros: 1_000_000,
    note: null,
    actor: OPERATOR,
  }),
  debitUser: ({ usernames }, n) => ({
    username: one(usernames, n),
    amountMicros: 1,
    note: "d",
    actor: OPERATOR,
  }),
  adjustBalance: ({ usernames }, n) => ({
    username: one(usernames, n),
    direction: "credit",
    amountMicros: 1,
    note: null,
    publicNote: null,
    reference: null,
    actor: OPERATOR,
  }),
  issueInvoices: () => ({ limit: 20 }),
  correctInvoice: (_, n) => ({
    prefix: "A-",
    number: 1 + (n % 3),
    amountMicros: 1,
    reason: "r",
    reissue: n % 2 === 0,
    actor: OPERATOR,
  }),
  setInvoicing: (_, n) => ({ changes: { taxPpm: n % 1000 }, actor: OPERATOR }),
  setBilling: ({ usernames }, n) => ({
    username: one(usernames, n),
    billing: { name: `N${n}`, address: "a", taxId: "", taxPpm: null, taxText: null },
    actor: OPERATOR,
  }),
  recharge: (world, n) => ({
    keyId: one(world.keys, n),
    resellerAccount: one(world.accounts, n),
    username: one(world.usernames, n + 1),
    amountMicros: 1,
  }),
  rechargeOnce: (world, n) => ({
    recharge: {
      keyId: one(world.keys, n),
      resellerAccount: one(world.accounts, n),
      username: one(world.usernames, n + 1),
      amountMicros: 1,
    },
    claim: { key: `claim-${n % 3}`, requestHash: hashOf(n % 3) },
  }),
  inviteMember: ({ usernames }, n) => ({
    username: one(usernames, n),
    email: `new-${n % 6}@x.example`,
    name: null,
    role: "viewer",
    language: "en",
    invitationHash: hashOf(n),
    actor: OPERATOR,
  }),
  inviteOwnMember: (world, n) => ({
    email: `new-${n % 6}@x.example`,
    name: null,
    role: "viewer",
    language: "en",
    invitationHash: hashOf(n),
    actor: member(world, n),
  }),
  resetMember: (world, n) => ({
    id: one(world.members, n),
    invitationHash: hashOf(n),
    actor: OPERATOR,
  }),
  resetOwnMember: (world, n) => ({
    id: one(world.members, n),
    invitationHash: hashOf(n),
    actor: member(world, n),
  }),
  setMemberRole: (world, n) => ({ id: one(world.members, n), role: "owner", actor: OPERATOR }),
  setOwnMemberRole: (world, n) => ({
    id: one(world.members, n),
    role: "owner",
    actor: member(world, n),
  }),
  setMemberEmail: (world, n) => ({
    id: one(world.members, n),
    email: `owner-${n % 7}@x.example`,
    actor: OPERATOR,
  }),
  setMemberActive: (world, n) => ({ id: one(world.members, n), active: true, actor: OPERATOR }),
  setOwnMemberActive: (world, n) => ({
    id: one(world.members, n),
    active: true,
    actor: member(world, n),
  }),
  updateMember: (world, n) => ({ changes: { name: `M${n}` }, actor: member(world, n) }),
  placeMemberOrder: (world, n) => ({
    order: { service: "likes", link: "https://x.example/", quantity: 10, reference: null },
    chargeMicros: null,
    claim: { key: `form-${n % 3}`, requestHash: hashOf(n % 3) },
    actor: member(world, n),
  }),
  makeMemberRequest: (world, n) => {
    const { id, of } = recent(world.orders, n);
    return { kind: "cancel", id, actor: member(world, of) };
  },
  createOwnKey: (world, n) => ({
    type: "order",
    reach: "children",
    label: `k${n}`,
    hash: hashOf(n),
    start: "rk_abcde",
    test: false,
    actor: member(world, n),
  }),
  rotateOwnKey: (world, n) => {
    const { id, of } = recent(world.ownKeys, n);
    const key = { id, hash: hashOf(n), start: "rk_abcde", graceMilliseconds: 3_600_000 };
    return { ...key, actor: member(world, of) };
  },
  openOwnTestAccount: (world, n) => ({ actor: member(world, n) }),
  setPortal: ({ usernames }, n) => ({
    username: one(usernames, n),
    changes: { active: true },
    actor: OPERATOR,
  }),
  setLowBalance: (world, n) => ({ lowBalanceMicros: 1 + (n % 1000), actor: member(world, n) }),
  addNotice: (_, n) => ({ texts: { en: `Notice ${n}` }, untilAt: null, actor: OPERATOR }),
  endInspections: () => null,
  register: (_, n) => ({ ...visitor(n), from: elsewhere(n), limit: 100 }),
  askReset: (_, n) => ({ email: `owner-${n % 2}@x.example`, from }),
  askAccount: (_, n) => ({ ...visitor(n), from: elsewhere(n), limit: 100 }),
  openAccount: (_, n) => ({ ...visitor(n), from: elsewhere(n), passwordHash: "p" }),
  createPayment: (world, n) => ({
    methodId: one(["bank", "program"], n),
    amountMicros: 10_000_000,
    requestKey: `form-${n}`,
    actor: member(world, n),
  }),
  recordBegun: (world, n) => ({
    id: recent(world.payments, n).id,
    isReadable: true,
    result: { outcome: "begun", reference: null, url: null, expiresAt: null },
  }),
  claimPayment: (world, n) => {
    const { id, of } = recent(world.payments, n);
    return { id, reference: "r", file: null, isClaimed: true, actor: member(world, of) };
  },
  takeDuePayments: () => ({ limit: 10, readableKinds: ["manual", "callback"] }),
  takePayment: (world, n) => ({
    methodId: "program",
    id: recent(world.payments, n).id,
    reference: null,
  }),
  recordPaid: (world, n) => ({
    methodId: one(["bank", "program"], n),
    id: recent(world.payments, n).id,
    programId: `p-${n % 5}`,
    amountMicros: 10_000_000,
    currency: "USD",
  }),
  approvePayment: (world, n) => ({
    id: recent(world.payments, n).id,
    receivedMicros: null,
    creditMicros: null,
    actor: OPERATOR,
  }),
  rejectPayment: (world, n) => ({
    id: recent(world.payments, n).id,
    reason: "no",
    actor: OPERATOR,
  }),
  settleReversal: (world, n) => ({
    id: recent(world.payments, n).id,
    amountMicros: 1,
    publicNote: null,
    actor: OPERATOR,
  }),
  settleSurplus: (world, n) => ({
    id: recent(world.payments, n).id,
    creditMicros: n % 2,
    publicNote: null,
    actor: OPERATOR,
  }),
  createPaymentMethod: (_, n) => ({
    methodId: `m${n % 3}`,
    kind: "manual",
    currency: "USD",
    terms: TERMS,
    known: [],
    resellers: null,
    actor: OPERATOR,
  }),
  updatePaymentMethod: ({ usernames }, n) => ({
    methodId: "bank",
    changes: { maxMicros: 100_000_000 + n * 10_000 },
    known: [],
    resellers: n % 2 === 0 ? null : [...usernames],
    actor: OPERATOR,
  }),
  removePaymentMethod: (_, n) => ({ methodId: `m${n % 3}`, unread: n % 2 === 0, actor: OPERATOR }),
  createUsers: (_, n) => ({
    users: [n, n + 1].map((place) => ({
      username: `file-${place % 9}`,
      name: "",
      parent: null,
      email: null,
      discountPpm: 0,
      credit: { amountMicros: 5, reference: `r-${place % 9}` },
    })),
    actor: OPERATOR,
  }),
  createUser: (_, n) => ({ username: `user-${n % 9}`, name: "", parent: null, actor: OPERATOR }),
  updateUser: ({ usernames }, n) => ({
    username: one(usernames, n),
    changes: { name: `U${n}`, email: `${n}@x.example` },
    actor: OPERATOR,
  }),
  setUserActive: (_, n) => ({ username: `user-${n % 9}`, active: n % 2 === 0, actor: OPERATOR }),
  eraseUser: (_, n) => ({ username: `user-${n % 9}`, reason: "asked", actor: OPERATOR }),
  setDiscount: ({ usernames }, n) => ({
    username: one(usernames, n),
    discountPpm: n % 1000,
    actor: OPERATOR,
  }),
  setLimits: ({ usernames }, n) => ({
    username: one(usernames, n),
    changes: { ordersPerMinute: 1000 + (n % 7) },
    actor: OPERATOR,
  }),
  createKey: ({ usernames }, n) => ({
    username: one(usernames, n),
    type: "order",
    reach: "children",
    label: "",
    hash: hashOf(n),
    start: "rk_abcde",
    actor: OPERATOR,
    test: n % 2 === 0,
  }),
  setKeyActive: (world, n) => ({ id: one(world.keys, n), active: true, actor: OPERATOR }),
  updateKey: (world, n) => ({
    id: one(world.keys, n),
    changes: { label: `l${n}` },
    actor: OPERATOR,
  }),
  rotateKey: (world, n) => ({
    id: one(world.keys, n),
    hash: hashOf(n),
    start: "rk_abcde",
    graceMilliseconds: 3_600_000,
    actor: OPERATOR,
  }),
  recordKeyUsage: (world, n) => ({
    // Both servers write the same keys, in either order.
    uses: (n % 2 === 0 ? world.keys : world.keys.toReversed()).map((id) => ({
      id,
      usedAt: 1e12 + n * 1e7,
      address: "192.0.2.1",
    })),
  }),
  countKeyRequests: (world, n) => ({
    day: 20_000,
    counts: (n % 2 === 0 ? world.keys : world.keys.toReversed()).map((id) => ({
      id,
      requests: 1,
      errors: 0,
    })),
  }),
  endExpiredKeys: () => null,
  acceptInvitation: ({ invitation }) => ({
    site: "portal",
    invitationHash: invitation,
    passwordHash: "p",
  }),
  setPassword: (world, n) => ({
    site: "portal",
    person: one(world.members, n),
    passwordHash: "p",
    actor: OPERATOR,
  }),
  revokeSessions: (world, n) => ({
    site: "portal",
    person: one(world.members, n),
    session: null,
    actor: OPERATOR,
  }),
  offerSecondFactor: (world, n) => ({
    site: "portal",
    person: one(world.members, n),
    secret: "JBSWY3DPEHPK3PXP",
  }),
  beginSignIn: (_, n) => ({
    site: "portal",
    step: "password",
    name: `owner-${n % 2}@x.example`,
    ...from,
  }),
  openSession: (world, n) => ({
    site: "portal",
    attempt: null,
    person: one(world.members, n),
    passwordHash: "p",
    session: { id: `s${n}`.padEnd(22, "0"), hash: hashOf(n), address: "192.0.2.1", userAgent: "" },
    network: `192.0.${n % 3}.0/24`,
  }),
  noteSession: (world, n) => ({ site: "portal", id: one(world.sessions, n) }),
  endSession: (world, n) => ({ site: "portal", id: one(world.sessions, n) }),
  takeConfirmation: (_, n) => ({ id: hashOf(n % 4).slice(0, 22) }),
  setMailSettings: (_, n) => ({ active: true, operator: `o${n % 2}@x.example` }),
  takeDueMails: (_, n) => ({
    server: SERVER,
    limit: 5,
    perHour: 100,
    hashes: Array.from({ length: 5 }, (__, place) => hashOf(n * 5 + place)),
    known: [],
  }),
  recordMailAttempts: (_, n) => ({
    attempts: [{ mailId: 1 + (n % 3), attempt: 1, error: null, reply: null }],
    jitter: 0,
  }),
  releaseMails: () => ({ server: SERVER }),
  expireMails: () => ({ limit: 10 }),
};

/** Commands without an input, and those above that take the same locks. */
export const LIKE: Partial<Record<CommandName, CommandName>> = {
  deactivateOwnKey: "setKeyActive",
  deactivateKeys: "setKeyActive",
  createKeys: "createKey",
  addUser: "createUser",
  placeMemberOrders: "placeMemberOrder",
  removeNotice: "addNotice",
  offerInspection: "endInspections",
  openInspection: "endInspections",
  closeInspection: "endInspections",
  turnOffMails: "updateMember",
  proveAddress: "setMemberEmail",
  proveRegistration: "register",
  confirmAccount: "openAccount",
  approveRegistration: "openAccount",
  declineRegistration: "register",
  recordReading: "recordPaid",
  recordNotice: "updatePaymentMethod",
  eraseHistory: "eraseUser",
  enableSecondFactor: "offerSecondFactor",
  removeSecondFactor: "offerSecondFactor",
  beginProof: "beginSignIn",
  passCode: "openSession",
  proveAgain: "openSession",
  endAttempt: "beginSignIn",
  retryMail: "releaseMails",
  resumeMails: "releaseMails",
};
