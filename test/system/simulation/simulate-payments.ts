// Payments of a few resellers at two servers that crash, with a provider, a program, customers and an operator who do
// everything that they may do, at any time. One seed is one run.

import { TransientError } from "../../../src/db/port/port.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { CommandInput, CommandName } from "../../../src/operations/batch/commands.ts";
import { connectMethod } from "../../../src/payments/methods.ts";
import {
  createPayments,
  type NoticeOutcome,
  type Payments,
} from "../../../src/payments/payments.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { type Engine, type MarketDatabase, openMarketDatabase } from "./databases.ts";
import { auditPayments, type PaymentCounts, SIMULATED_TERMS } from "./payment-auditor.ts";
import { createProgram, PROGRAM_SECRET } from "./payment-program.ts";
import { createProvider } from "./payment-provider.ts";
import { createWorld, type Life, type World } from "./world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BUSY_MS = 8 * HOUR_MS;
/** Long enough for every reading that is to come without a notice. */
const QUIET_MS = 70 * DAY_MS;
const TICK_MS = 7 * MINUTE_MS;
const QUIET_TICK_MS = 9 * HOUR_MS;
const RESELLERS = 3;
const PAYMENTS = 5;

export interface PaymentOutcome extends PaymentCounts {
  crashes: number;
  notices: number;
  finding: string | null;
}

export async function simulatePayments(
  seed: number,
  trace: (line: string) => void = () => {},
  engine: Engine = "sqlite",
): Promise<PaymentOutcome> {
  const world = createWorld(seed, trace);
  const database = openMarketDatabase(engine);
  const state = { crashes: 0, notices: 0, isQuiet: false };
  try {
    const run = startPayments(world, database, state);
    await world.runUntil(BUSY_MS, () => {});
    run.quiet();
    await world.runUntil(BUSY_MS + QUIET_MS, () => {});
    const { findings, counts } = run.audit();
    const problems = await verifyStore(database);
    const all = [...findings, ...problems.map((each) => JSON.stringify(each))];
    const { crashes, notices } = state;
    return { ...counts, crashes, notices, finding: all.length === 0 ? null : all.join("\n") };
  } finally {
    database.close();
  }
}

interface PaymentRow {
  id: string;
  state: string;
  awaits: string | null;
  url: string | null;
  due: number;
  isPaid: number;
  reversed: number;
  surpluses: number;
}

const PAYMENT_ROWS = `SELECT id, state, awaits, url, due_micros AS due,
  CASE WHEN paid_at IS NULL THEN 0 ELSE 1 END AS "isPaid",
  refunded_micros + disputed_micros - settled_micros AS reversed,
  (SELECT count(*) FROM payment_surpluses s WHERE s.payment_id = payments.payment_id
    AND left_micros > 0 AND settled_at IS NULL) AS surpluses FROM payments ORDER BY payment_id`;

/** PostgreSQL gives long integers as text. */
function withNumbers(row: PaymentRow) {
  return {
    ...row,
    due: Number(row.due),
    isPaid: Number(row.isPaid) === 1,
    reversed: Number(row.reversed),
    surpluses: Number(row.surpluses),
  };
}

interface Server {
  life: Life;
  payments: Payments;
  submit: <Name extends CommandName>(name: Name, input: CommandInput<Name>) => Promise<unknown>;
}

function startPayments(
  world: World,
  database: MarketDatabase,
  state: { crashes: number; notices: number; isQuiet: boolean },
) {
  const { chance } = world;
  const members = seed(database, world);
  const servers: Server[] = [];
  const any = () => chance.pick(servers);
  const rows = () => database.query<PaymentRow>(PAYMENT_ROWS).map(withNumbers);
  const rowOf = (id: string) => rows().find((row) => row.id === id);

  const provider = createProvider(
    world,
    (body) => deliver("stripe", "card", { body, headers: new Headers() }, () => {}),
    (paymentId) => rowOf(paymentId)?.url != null,
  );
  const program = createProgram(world, ({ body, headers, report }) =>
    deliver("callback", "program", { body, headers }, (outcome) => {
      if (!report) return;
      report.isAcknowledged ||= outcome === "recorded";
      report.isConflict ||= outcome === "conflict";
    }),
  );

  /** Sends a notice until a server has answered, up to some times. */
  function deliver(
    kind: string,
    method: string,
    notice: { body: string; headers: Headers },
    onAnswer: (outcome: NoticeOutcome) => void,
    tries = 0,
  ): void {
    state.notices += 1;
    const again = () => {
      if (tries < 4) {
        const wait = chance.whole(MINUTE_MS, 30 * MINUTE_MS);
        world.later(wait, null, () => deliver(kind, method, notice, onAnswer, tries + 1));
      }
    };
    const { life, payments } = any();
    let isAnswered = false;
    const body = new TextEncoder().encode(notice.body);
    payments.receive(kind, method, { ...notice, body, now: world.now() }).then(
      (outcome) => {
        isAnswered = true;
        onAnswer(outcome);
        if (outcome === "unavailable") again();
      },
      () => {
        isAnswered = true;
        again();
      },
    );
    // A server that died does not answer.
    world.later(2 * MINUTE_MS, null, () => {
      if (!isAnswered && life.dead) again();
    });
  }

  function start(index: number): void {
    const life: Life = { dead: false };
    const crash = () => {
      if (life.dead) return;
      life.dead = true;
      state.crashes += 1;
      world.trace(`server ${index} died`);
      world.later(chance.whole(0, MINUTE_MS), null, () => start(index));
    };
    const submit: Server["submit"] = (name, input) =>
      new Promise((resolve, reject) => {
        world.later(chance.whole(0, 200), life, () => {
          const fate = state.isQuiet ? 1 : chance.number();
          if (fate < 0.015) return crash();
          if (fate < 0.03) {
            database.fail(name, input, world.now());
            return reject(new TransientError("the disk is full"));
          }
          let done: unknown;
          try {
            done = database.execute(name, input, world.now());
          } catch (error) {
            if (!(error instanceof Refusal)) world.fail(error);
            return reject(error as Error);
          }
          // It is committed, and nobody hears of it.
          if (fate < 0.045) return crash();
          world.later(chance.whole(0, 200), life, () => resolve(done));
        });
      });
    const api = provider.apiFor(life);
    const deps = { timeoutMs: 1000, stripeApi: null };
    const log = { info() {}, warn() {}, error() {} };
    const payments = createPayments({
      ...deps,
      store: database.store,
      writer: { submit: submit as never },
      log,
      connect: (method) =>
        method.kind === "stripe" ? Promise.resolve(api) : connectMethod(method, deps),
    });
    servers[index] = { life, payments, submit };
    const tick = () => {
      payments.readDue().catch((error: unknown) => {
        if (!(error instanceof TransientError)) world.fail(error);
      });
      world.later(state.isQuiet ? QUIET_TICK_MS : TICK_MS, life, tick);
    };
    world.later(chance.whole(0, TICK_MS), life, tick);
  }

  /** A member asks for a payment: the form may be sent twice, and the page of the payment begins it again. */
  function ask(actor: Actor, index: number): void {
    const methodId = chance.pick(["card", "card", "program", "bank"]);
    const amountMicros = chance.happens(0.3)
      ? chance.whole(100, 400) * DOLLAR
      : chance.whole(100, 9999) * 10_000;
    const input = { methodId, amountMicros, requestKey: `form-${index}`, actor };
    const send = (tries: number) => {
      const { life, submit, payments } = any();
      let isAnswered = false;
      submit("createPayment", input).then(
        (made) => {
          isAnswered = true;
          begin(payments, (made as { id: string }).id);
        },
        (error: unknown) => {
          isAnswered = true;
          if (error instanceof TransientError && tries < 3) send(tries + 1);
        },
      );
      world.later(MINUTE_MS, null, () => {
        if (!isAnswered && life.dead && tries < 3) send(tries + 1);
      });
    };
    const page = { returnUrl: "https://r.example/", description: "x", language: "en" as const };
    const begin = (payments: Payments, id: string) => {
      payments.begin(id, page).catch(() => {});
      world.later(chance.whole(2 * MINUTE_MS, 10 * MINUTE_MS), null, () => {
        if (rowOf(id)?.state === "created") begin(any().payments, id);
      });
      if (methodId === "program") program.visit({ id, dueMicros: rowOf(id)!.due });
      if (methodId === "bank") claim(actor, id);
    };
    send(0);
    if (chance.happens(0.2)) send(0);
  }

  function claim(actor: Actor, id: string): void {
    for (let times = chance.whole(0, 2); times > 0; times -= 1) {
      world.later(chance.whole(0, 2 * HOUR_MS), null, () => {
        const said = { id, reference: `t${times}`, file: null, isClaimed: true, actor };
        any()
          .submit("claimPayment", said)
          .catch(() => {});
      });
    }
  }

  /** The operator decides on what waits and what was reversed, sometimes on anything, and at two servers at once. */
  function operate(): void {
    const actor: Actor = { keyId: null, operator: "olga" };
    for (const row of rows()) {
      const { id } = row;
      // Some payments are approved before their provider reports them.
      const isOdd = chance.happens(0.04);
      if (row.awaits !== null || isOdd) {
        const credit = row.awaits === "claim" || isOdd ? null : chance.whole(1, 100) * DOLLAR;
        const received = chance.happens(0.3) ? chance.whole(1, 50_000) * 10_000 : null;
        const approval = { id, receivedMicros: received, creditMicros: credit, actor };
        const choice = chance.number();
        if (choice < 0.4)
          any()
            .submit("approvePayment", approval)
            .catch(() => {});
        if (choice < 0.1)
          any()
            .submit("approvePayment", approval)
            .catch(() => {});
        if (choice > 0.8)
          any()
            .submit("rejectPayment", { id, reason: "no", actor })
            .catch(() => {});
      }
      const isReversed = row.isPaid && row.reversed > 0;
      if ((isReversed && chance.happens(0.4)) || (row.isPaid && isOdd)) {
        const amountMicros = chance.pick([null, 0, 1, chance.whole(1, 200 * DOLLAR)]);
        any()
          .submit("settleReversal", { id, amountMicros, publicNote: null, actor })
          .catch(() => {});
      }
      if ((row.surpluses > 0 && chance.happens(0.3)) || isOdd) {
        const creditMicros = chance.pick([0, chance.whole(1, 200 * DOLLAR)]);
        const decision = { id, creditMicros, publicNote: null, actor };
        for (let times = chance.whole(1, 2); times > 0; times -= 1) {
          any()
            .submit("settleSurplus", decision)
            .catch(() => {});
        }
      }
    }
    // A reseller spends what it has, so that there is not always enough to debit.
    for (const { username, balance } of database.query<{ username: string; balance: number }>(
      "SELECT username, balance_micros AS balance FROM users",
    )) {
      const amountMicros = chance.happens(0.3) ? Number(balance) : Math.floor(Number(balance) / 3);
      if (amountMicros === 0 || !chance.happens(0.4)) continue;
      database.execute("debitUser", { username, amountMicros, note: null, actor }, world.now());
    }
    if (!state.isQuiet) world.later(chance.whole(10 * MINUTE_MS, HOUR_MS), null, operate);
  }

  for (const index of [0, 1]) start(index);
  let asked = 0;
  for (const actor of members) {
    for (let each = 0; each < PAYMENTS; each += 1) {
      asked += 1;
      const index = asked;
      world.later(chance.whole(0, BUSY_MS / 2), null, () => ask(actor, index));
    }
  }
  world.later(HOUR_MS, null, operate);
  return {
    quiet() {
      state.isQuiet = true;
      provider.behave();
      world.idle();
    },
    audit() {
      const { findings, counts } = auditPayments(database, provider.sessions, program.reports);
      const before = world.now() - DAY_MS;
      const due = database.query<{ id: string }>(
        `SELECT id FROM payments WHERE next_read_at < ${before}`,
      );
      const late = due.map(({ id }) => `${id} should have been looked at`);
      return { findings: [...findings, ...late], counts };
    },
  };
}

/** Methods, and a member of each reseller. */
function seed(database: MarketDatabase, world: World): Actor[] {
  const now = world.now();
  const actor = { keyId: null, operator: "olga" };
  const run = ((name: CommandName, input: object) =>
    database.execute(name, { actor, ...input } as never, now)) as never;
  const user = (username: string) => {
    const created = { username, name: username, parent: null, actor };
    database.execute("createUser", created, now);
  };
  const execute = ((name: CommandName, input: never, at: number) =>
    database.execute(name, input, at)) as never;
  const query = ((text: string) => database.query(text)) as never;
  const seeded = { run, execute, query, user };
  seedMethod(seeded, "card", "stripe", SIMULATED_TERMS);
  const settings = JSON.stringify({ secret: PROGRAM_SECRET });
  seedMethod(seeded, "program", "callback", { ...SIMULATED_TERMS, settings });
  seedMethod(seeded, "bank", "manual", SIMULATED_TERMS);
  return Array.from({ length: RESELLERS }, (_, index) => seedMember(seeded, `reseller${index}`));
}
