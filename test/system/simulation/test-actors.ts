// Programs of resellers that try things with a test key beside the live one: orders with magic links, which they move and
// cancel, and recharges. Now and then one names an order of the other side.

import { OutcomeUnknownError } from "../../../src/db/port/port.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { DeliveryService } from "../../../src/delivery/delivery.ts";
import type { Writer } from "../../../src/writer/writer.ts";
import { Finding } from "./auditor.ts";
import { addEndpoints } from "./endpoints.ts";
import type { Catalogue, Market } from "./market.ts";
import { OUTCOMES } from "./test-auditor.ts";
import { pickTyped, typedOrder } from "./typed-market.ts";
import { attempt } from "./world.ts";

/** How often a market has test traffic. */
const TESTED = 0.6;
const ACTS_LIMIT = 25;
const STATUSES = ["PROCESSING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"] as const;

/** What takes requests. */
interface Server {
  writer: Pick<Writer, "submit">;
  delivery: Pick<DeliveryService, "awaitProvider">;
}

export interface Program {
  reseller: string;
  keyId: string;
  account: number;
  liveKeyId: string;
  liveAccount: number;
}

export interface TestSetup {
  /** Services besides the typed ones. */
  catalogue: readonly Catalogue[];
  troubleMs: number;
  /** Null: nobody answers. */
  server: () => Server | null;
}

interface Reseller {
  username: string;
  keyId: string;
}

/** Test keys of some of the resellers, with endpoints of their test sides. */
export function openTestSides(
  market: Market,
  resellers: readonly Reseller[],
  creditMicros: number,
): Program[] {
  const { chance } = market.world;
  if (!chance.happens(TESTED)) return [];
  return resellers
    .filter(() => chance.happens(0.7))
    .map((reseller) => openTestSide(market, reseller, creditMicros));
}

/** Plans what the programs do, and when. */
export function planTests(market: Market, setup: TestSetup): void {
  const { world, programs } = market;
  const { chance } = world;
  if (programs.length === 0) return;
  for (let number = chance.whole(1, ACTS_LIMIT); number > 0; number -= 1) {
    world.later(chance.whole(0, setup.troubleMs), null, () => {
      const program = chance.pick(programs);
      if (!chance.happens(0.6)) return act(market, program);
      order(market, setup, program, `x${number}`).catch(world.fail);
    });
  }
}

function openTestSide(
  market: Market,
  { username, keyId: liveKeyId }: Reseller,
  creditMicros: number,
): Program {
  const { run, auditor, testAuditor } = market;
  const { id: keyId } = run("createKey", {
    username,
    type: "full",
    reach: "all",
    label: "",
    hash: username.padEnd(64, "1"),
    start: "rk_test_",
    test: true,
    actor: { keyId: null, operator: "sim" },
  });
  testAuditor.began(username);
  const side = `test:${username}`;
  addEndpoints(market, side, creditMicros, keyId);
  const [account, liveAccount] = [auditor.accountOf(side), auditor.accountOf(username)];
  return { reseller: username, keyId, account, liveKeyId, liveAccount };
}

async function order(
  { world, testAuditor }: Market,
  { catalogue, server }: TestSetup,
  { reseller, keyId, account }: Program,
  reference: string,
): Promise<void> {
  const open = server();
  if (!open) return;
  const { chance } = world;
  const service: Omit<Catalogue, "routes"> = chance.happens(0.3)
    ? pickTyped(chance)
    : chance.pick(catalogue);
  const { request, units: quantity } = typedOrder(chance, service);
  const outcome = chance.pick(OUTCOMES);
  const { priceMicros, per, id } = service;
  testAuditor.asks({ reference, reseller, outcome, quantity, priceMicros, per });
  try {
    const asked = { keyId, resellerAccount: account, service: id, link: outcome.link, reference };
    const placed = await open.writer.submit("placeOrder", { ...asked, ...request });
    const { status } = await open.delivery.awaitProvider(placed);
    world.trace(`test order ${reference} is answered ${status}`);
    testAuditor.answered(reference, status);
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return;
    if (!(error instanceof Refusal)) throw error;
    world.trace(`test order ${reference} is refused: ${error.code}`);
    testAuditor.refused(reference);
  }
}

function act(market: Market, program: Program): void {
  const { world, run, testAuditor, webhookAuditor } = market;
  const { chance } = world;
  const { reseller, keyId, account } = program;
  if (chance.happens(0.2)) {
    const amountMicros = chance.whole(1, 100_000_000);
    const recharge = { keyId, resellerAccount: account, isTest: true, username: reseller };
    return attempt(
      market.world,
      `${reseller} recharges its test balance by ${amountMicros}`,
      () => {
        run("recharge", { ...recharge, amountMicros });
        testAuditor.credited(reseller, amountMicros);
        webhookAuditor.credited(`test:${reseller}`);
      },
    );
  }
  if (chance.happens(0.2)) return nameForeign(market, program);
  const own = testAuditor.rows().filter(({ owner }) => owner === reseller);
  if (own.length === 0) return;
  const { reference, orderId } = chance.pick(own);
  const id = String(orderId);
  if (chance.happens(0.3)) {
    const kind = chance.pick(["cancel", "refill"] as const);
    return attempt(market.world, `${reseller} asks to ${kind} test order ${reference}`, () => {
      run("makeRequest", { keyId, resellerAccount: account, kind, id });
      if (kind === "cancel") testAuditor.cancelAsked(reference);
    });
  }
  const to = chance.pick(STATUSES);
  const remains = chance.whole(0, 50);
  attempt(market.world, `${reseller} moves test order ${reference} to ${to}`, () => {
    run("transitionTestOrder", { keyId, id, to, remains });
    testAuditor.moved(reference, to, remains);
  });
}

/** A test key an order of the live side, or the reverse: there is no such order. */
function nameForeign(market: Market, program: Program): void {
  const { world, run, auditor, testAuditor } = market;
  const { chance } = world;
  const isTest = chance.happens(0.5);
  const theirs = (isTest ? auditor.rows() : testAuditor.rows()).map(({ orderId }) => orderId);
  if (theirs.length === 0) return;
  const id = String(chance.pick(theirs));
  const keyId = isTest ? program.keyId : program.liveKeyId;
  const resellerAccount = isTest ? program.account : program.liveAccount;
  const what = `a ${isTest ? "test" : "live"} key names order ${id} of the other side`;
  attempt(market.world, what, () => {
    if (chance.happens(0.5)) run("makeRequest", { keyId, resellerAccount, kind: "cancel", id });
    else run("transitionTestOrder", { keyId, id, to: "COMPLETED", remains: 0 });
    throw new Finding(`test side: ${what}, and it is taken`);
  });
}
