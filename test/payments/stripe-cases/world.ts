// A server with a payment method by Stripe, a local Stripe, and a reseller of its own for each case.

import { readPaymentFacts } from "../../../src/db/payments/payments.ts";
import type { PaymentFacts } from "../../../src/domain/alerts/payment-conditions.ts";
import { memberOf } from "../../../src/domain/members/members.ts";
import { createLog } from "../../../src/monitoring/log.ts";
import { createPayments } from "../../../src/payments/payments.ts";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { deliver } from "../../support/peers/stripe/events.ts";
import { startStripe, TEST_KEY, WEBHOOK_SECRET } from "../../support/peers/stripe/server.ts";
import { DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import type { Outcome, World } from "./case.ts";

const METHOD = "card";
const needs = ({ waiting, reversed, surplus }: PaymentFacts) => waiting + reversed + surplus;

export type Market = Awaited<ReturnType<typeof openMarket>>;

export async function openMarket() {
  const local = await startStripe();
  const service = await openService({ settings: { portal: true, stripeApi: local.url } });
  const settings = { "secret-key": TEST_KEY, "webhook-secret": WEBHOOK_SECRET };
  const names = JSON.stringify({ en: "Card" });
  seedMethod(service, METHOD, "stripe", { settings: JSON.stringify(settings), names });
  local.to.endpoint = {
    url: `${service.url}/payments/stripe/${METHOD}`,
    secrets: [WEBHOOK_SECRET],
  };
  // What the server's job does every ten seconds.
  const job = createPayments({
    store: service.store,
    writer: {
      submit: (name: never, input: never) =>
        Promise.resolve(service.execute(name, input, Date.now())),
    } as Parameters<typeof createPayments>[0]["writer"],
    log: createLog("silent"),
    timeoutMs: 10_000,
    stripeApi: new URL(local.url),
  });
  let resellers = 0;

  /** A new reseller with a balance of 0, and the cookie of its owner, who has signed in. */
  function customer(): { username: string; cookie: string } {
    resellers += 1;
    const username = `reseller-${resellers}`;
    const cookie = signIn(service, memberOf(seedMember(service, username).operator)!);
    return { username, cookie };
  }

  /** Asks for a payment by the portal's two forms. Returns the answer, which leads to its page. */
  async function addFunds(cookie: string, methodId: string, amount: number): Promise<Response> {
    const ask = (fields: Record<string, string>) =>
      fetch(`${service.url}/portal/add-funds`, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: { cookie, origin: service.url },
        redirect: "manual",
      });
    const review = await ask({ method: methodId, amount: String(amount) });
    return ask(hiddenFields(await review.text()));
  }

  return {
    local,
    service,
    customer,
    addFunds,
    /** Adds another method, with a currency or a key of its own. */
    method(methodId: string, currency: string, rateToUsd: string, key = TEST_KEY): void {
      const given = JSON.stringify({ ...settings, "secret-key": key });
      const terms = { settings: given, rateToUsd, maxMicros: 1e11 };
      seedMethod(service, methodId, "stripe", terms, currency);
    },
    /** A new reseller whose member asked for an amount in the portal. */
    async world(methodId = METHOD, amount = 25): Promise<World & { outcome(): Promise<Outcome> }> {
      const { username, cookie } = customer();
      const created = await addFunds(cookie, methodId, amount);
      const id = created.headers.get("location")!.split("/").at(-1)!;
      const statuses: number[] = [];
      const facts = () => service.store.read((reader) => readPaymentFacts(reader));
      const before = await facts();
      return {
        local,
        id,
        reference: local.session.id,
        session: local.session,
        async deliver(event, change) {
          const sent = typeof event === "string" ? local.event(event) : event;
          statuses.push((await deliver(sent, local.to.endpoint!, change)).status);
        },
        async read() {
          service.query("UPDATE payments SET next_read_at = 0 WHERE id = ?", id);
          await job.readDue();
        },
        operator: {
          approve: () =>
            void service.run("approvePayment", { id, receivedMicros: null, creditMicros: null }),
          reject: () => void service.run("rejectPayment", { id, reason: "no" }),
          debit(dollars) {
            const debit = { amountMicros: dollars * DOLLAR, publicNote: null };
            service.run("settleReversal", { id, ...debit });
          },
          credit(dollars) {
            const credit = { creditMicros: dollars * DOLLAR, publicNote: null };
            service.run("settleSurplus", { id, ...credit });
          },
        },
        async outcome() {
          const [row] = service.query<Record<string, string | number | null>>(
            "SELECT * FROM payments WHERE id = ?",
            id,
          );
          const transfers = service.query<{ kind: string; micros: number }>(
            `SELECT p.kind AS kind, t.amount_micros AS micros FROM payment_transfers p
             JOIN transfers t ON t.seq = p.seq WHERE p.payment_id = ?`,
            Number(row!["payment_id"]),
          );
          const [user] = service.query<{ balance: number }>(
            "SELECT balance_micros AS balance FROM users WHERE username = ?",
            username,
          );
          const [open] = service.query<{ micros: number }>(
            `SELECT coalesce(sum(left_micros), 0) AS micros FROM payment_surpluses
             WHERE payment_id = ? AND settled_at IS NULL`,
            Number(row!["payment_id"]),
          );
          const after = await facts();
          const inUnits = (micros: unknown) => Number(micros) / DOLLAR;
          return {
            state: String(row!["state"]),
            awaits: row!["awaits"] as string | null,
            balance: inUnits(user!.balance),
            transfers: Object.fromEntries(
              transfers.map(({ kind, micros }) => [kind, inUnits(micros)]),
            ),
            refunded: inUnits(row!["refunded_micros"]),
            disputed: inUnits(row!["disputed_micros"]),
            surplus: inUnits(open!.micros),
            isAlerted: needs(after) > needs(before),
            statuses,
          };
        },
      };
    },
    async stop() {
      await job.stop();
      await service.stop();
      await local.stop();
    },
  };
}

/** Opens a session of a member, as signing in does. Returns its cookie. */
function signIn(service: TestService, person: string): string {
  const [id, secret] = [random(16), random(32)];
  service.run("openSession", {
    site: "portal",
    attempt: null,
    person,
    passwordHash: "p",
    session: { id, hash: hashSecret(secret), address: "127.0.0.1", userAgent: "test" },
    hasProvedCode: true,
  });
  return `reseller-portal=${id}.${secret}`;
}
