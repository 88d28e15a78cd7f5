// A provider of payments that is not ours: it loses, doubles, delays and reorders what it tells, answers late or not at
// all, takes other amounts and currencies, lets payments expire, refunds and disputes them. What it knows is the truth.

import type { PaymentReading } from "../../../src/domain/payments/payment-reads.ts";
import type {
  BeginResult,
  MethodApi,
  PaymentToBegin,
  ReadResult,
} from "../../../src/payments/method.ts";
import type { Life, World } from "./world.ts";

const HOUR_MS = 3_600_000;
const SESSION_MS = 2 * HOUR_MS;

export interface Session {
  id: string;
  paymentId: string;
  dueMicros: number;
  currency: string;
  expiresAt: number;
  state: "open" | "paid" | "failed" | "expired";
  /** What was received; null: nothing. */
  received: { amountMicros: number; currency: string } | null;
  refundedMicros: number;
  disputedMicros: number;
  /** Every sum of refunds that there was, and whether it was ever disputed: a credit may have seen any of them. */
  refunds: number[];
  wasDisputed: boolean;
}

export interface PaymentProvider {
  sessions: ReadonlyMap<string, Session>;
  /** The method as one server calls it: nothing is answered to a server that has died. */
  apiFor(life: Life): MethodApi;
  /** From now on it does nothing wrong any more. */
  behave(): void;
}

/** How often something happens to what is told and asked. */
const FAULTS = { lost: 0.25, doubled: 0.25, refused: 0.04, unanswered: 0.12, readFails: 0.2 };
const GOOD: typeof FAULTS = { lost: 0, doubled: 0, refused: 0, unanswered: 0, readFails: 0 };

export function createProvider(
  world: World,
  /** Sends a notice to any server, as often as it takes or not at all. */
  send: (body: string) => void,
  /** Whether the customer has seen the page to pay on. */
  isKnown: (paymentId: string) => boolean,
): PaymentProvider {
  const { chance } = world;
  const sessions = new Map<string, Session>();
  let faults = FAULTS;

  /** Tells of a change: late, twice, in another order or never. */
  const tell = (session: Session) => {
    const times = chance.happens(faults.lost) ? 0 : chance.happens(faults.doubled) ? 2 : 1;
    const body = JSON.stringify({
      session: session.id,
      payment: session.paymentId,
      by: "provider",
    });
    for (let time = 0; time < times; time += 1) {
      world.later(chance.whole(0, 20 * 60_000), null, () => send(body));
    }
    if (chance.happens(faults.lost / 5)) send(body.replace("provider", "a stranger"));
  };

  const receive = (session: Session) => {
    session.state = "paid";
    const { dueMicros, currency } = session;
    const kind = chance.number();
    const cents = chance.whole(1, Math.floor((2 * dueMicros) / 10_000));
    session.received =
      kind < 0.75
        ? { amountMicros: dueMicros, currency }
        : kind < 0.88
          ? { amountMicros: cents * 10_000, currency }
          : { amountMicros: dueMicros, currency: "EUR" };
    world.trace(`${session.id} received ${JSON.stringify(session.received)}`);
    tell(session);
    if (chance.happens(0.3)) world.later(chance.whole(0, 3 * HOUR_MS), null, () => refund(session));
    if (chance.happens(0.2))
      world.later(chance.whole(0, 3 * HOUR_MS), null, () => dispute(session));
  };
  const refund = (session: Session) => {
    const left = session.received!.amountMicros - session.refundedMicros - session.disputedMicros;
    if (left <= 0) return;
    const part = chance.happens(0.4) ? left : chance.whole(1, Math.ceil(left / 10_000)) * 10_000;
    const refunded = Math.min(left, part);
    session.refundedMicros += refunded;
    session.refunds.push(session.refundedMicros);
    world.trace(`${session.id} refunded ${session.refundedMicros}`);
    tell(session);
    // It may fail hours later: the provider has the money again.
    if (chance.happens(0.3)) {
      world.later(chance.whole(0, 4 * HOUR_MS), null, () => {
        session.refundedMicros -= refunded;
        session.refunds.push(session.refundedMicros);
        world.trace(`${session.id} has a refund that failed: ${session.refundedMicros}`);
        tell(session);
      });
    }
    if (chance.happens(0.3)) world.later(chance.whole(0, 2 * HOUR_MS), null, () => refund(session));
  };
  const dispute = (session: Session) => {
    const left = session.received!.amountMicros - session.refundedMicros;
    if (left <= 0 || session.disputedMicros > 0) return;
    session.disputedMicros = left;
    session.wasDisputed = true;
    world.trace(`${session.id} disputed ${left}`);
    tell(session);
    if (!chance.happens(0.5)) return;
    world.later(chance.whole(0, 4 * HOUR_MS), null, () => {
      session.disputedMicros = 0;
      world.trace(`${session.id} won its dispute`);
      tell(session);
      if (chance.happens(0.3)) {
        world.later(chance.whole(0, 2 * HOUR_MS), null, () => dispute(session));
      }
    });
  };
  /** The customer at the page: pays, fails, leaves, or pays after the page has expired. */
  const visit = (session: Session, visits: number) => {
    if (!isKnown(session.paymentId)) {
      if (visits < 6) world.later(20 * 60_000, null, () => visit(session, visits + 1));
      return;
    }
    const act = chance.number();
    const isLate = session.state === "expired";
    if (session.state !== "open" && !isLate) return;
    if (act < (isLate ? 0.3 : 0.75)) receive(session);
    else if (act < 0.85 && !isLate) {
      session.state = "failed";
      world.trace(`${session.id} failed`);
      tell(session);
      // A failed payment may succeed after all.
      if (chance.happens(0.4)) world.later(chance.whole(0, HOUR_MS), null, () => receive(session));
    } else if (!isLate)
      world.later(chance.whole(HOUR_MS, 4 * HOUR_MS), null, () => visit(session, 9));
  };
  const open = ({ id: paymentId, amountMicros, currency }: PaymentToBegin): Session => {
    const known = [...sessions.values()].find((each) => each.paymentId === paymentId);
    if (known) return known;
    const session: Session = {
      id: `cs_${sessions.size + 1}`,
      paymentId,
      dueMicros: amountMicros,
      currency,
      expiresAt: world.now() + SESSION_MS,
      state: "open",
      received: null,
      refundedMicros: 0,
      disputedMicros: 0,
      refunds: [0],
      wasDisputed: false,
    };
    sessions.set(session.id, session);
    world.trace(`${session.id} opened for ${paymentId}`);
    world.later(chance.whole(1000, 3 * HOUR_MS), null, () => visit(session, 0));
    world.later(SESSION_MS, null, () => {
      if (session.state !== "open") return;
      session.state = "expired";
      world.trace(`${session.id} expired`);
      tell(session);
    });
    return session;
  };

  return {
    sessions,
    behave: () => void (faults = GOOD),
    apiFor(life) {
      const answer = <T>(value: () => T): Promise<T> =>
        new Promise((resolve) => {
          // Decided at one moment, and heard at another: answers overtake each other.
          world.later(chance.whole(10, 5000), life, () => {
            const decided = value();
            world.later(chance.whole(10, 60_000), life, () => resolve(decided));
          });
        });
      return {
        begin: (payment) =>
          answer((): BeginResult => {
            if (chance.happens(faults.refused)) return { outcome: "refused", cause: "declined" };
            const isLost = chance.happens(faults.unanswered);
            if (isLost && chance.happens(0.5))
              return { outcome: "unknown", cause: "no connection" };
            const { id, expiresAt } = open(payment);
            if (isLost) return { outcome: "unknown", cause: "no answer" };
            return { outcome: "begun", reference: id, url: `https://pay.example/${id}`, expiresAt };
          }),
        read: ({ reference }) =>
          answer((): ReadResult => {
            if (chance.happens(faults.readFails)) return { failed: "no answer" };
            const session = sessions.get(reference);
            return session ? { reading: readingOf(session) } : { failed: "not found" };
          }),
        async notice({ body }) {
          const { session, payment, by } = JSON.parse(new TextDecoder().decode(body)) as {
            session: string;
            payment: string;
            by: string;
          };
          if (by !== "provider") return { refused: "not signed" };
          return { claim: "read", paymentId: payment, reference: session };
        },
      };
    },
  };
}

function readingOf(session: Session): PaymentReading {
  const { state, paymentId, received, refundedMicros, disputedMicros } = session;
  return {
    state,
    paymentId,
    amountMicros: received?.amountMicros ?? 0,
    currency: received?.currency ?? session.currency,
    refundedMicros,
    disputedMicros,
    cause: state === "failed" ? "declined" : null,
  };
}
