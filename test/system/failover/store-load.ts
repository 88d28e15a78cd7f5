// `bun store-load.ts <options as JSON>`: a server's part of the load, on the store itself: batches of orders, each with
// its charge, as operations/orders/orders.ts writes them. Every answer is a line on the standard output: whoever reads it keeps
// the journal, and what was written before a kill is there after it. SIGTERM ends it after its batches.

import { writeSync } from "node:fs";
import { SALES_ACCOUNT } from "../../../src/domain/ledger/ledger.ts";
import { createId } from "../../../src/db/port/ids.ts";
import {
  type Job,
  needLock,
  needNumbers,
  needRow,
  OutcomeUnknownError,
  TransientError,
  type Tx,
} from "../../../src/db/port/port.ts";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { transfers } from "../../../src/db/tables/ledger.ts";
import { orders } from "../../../src/db/tables/orders.ts";
import { users } from "../../../src/db/tables/users.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { linkOf } from "./audit.ts";
import type { Fate } from "./journal.ts";
import { createForgetfulStore } from "./forgetful-store.ts";

export interface StoreLoadOptions {
  address: string;
  /** Begins the name of every order. */
  name: string;
  seed: number;
  accounts: number[];
  service: string;
  turnMs: number;
  primaryWaitMs: number;
  /** The control: a batch whose COMMIT is lost is run again without asking. */
  isForgetful: boolean;
}

/** One line: a batch that was sent, or its answers. */
export type LoadLine =
  | { sent: string[] }
  | { at: number; answers: [name: string, fate: string, orderId: number | null][] };

const IN_FLIGHT = 3;
const BATCH_LIMIT = 24;
/** Between two batches: the machine has other work. */
const PAUSE_MS = 4;
const CHARGE = 7;

const options = JSON.parse(process.argv[2]!) as StoreLoadOptions;
const { name, accounts, service, turnMs, primaryWaitMs } = options;
const address = parseAddress(options.address);
const store = options.isForgetful
  ? createForgetfulStore(address, { turnMs })
  : createPostgresStore(address, {
      name: `reseller ${name}`,
      turnMs,
      primaryWaitMs: primaryWaitMs,
    });
const random = randomFrom(options.seed);
let isEnding = false;
let next = 0;
process.on("SIGTERM", () => (isEnding = true));

await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    while (!isEnding) {
      const names = Array.from(
        { length: 1 + below(random, BATCH_LIMIT) },
        () => `${name}-${next++}`,
      );
      print({ sent: names });
      const outcomes = await store.runBatch(names.map(jobOf));
      print({
        at: Date.now(),
        answers: outcomes.map((outcome, place) => {
          const own = names[place]!;
          if ("threw" in outcome) return [own, fateOf(outcome.threw), null];
          if (typeof outcome.done === "number") return [own, "acknowledged", outcome.done];
          return [own, "its own order was there already", null];
        }),
      });
      await Bun.sleep(PAUSE_MS);
    }
  }),
);
await store.close();

/** Every second order has a reference, whose unique index would refuse a second one. */
function jobOf(own: string): Job {
  const number = Number(own.slice(own.lastIndexOf("-") + 1));
  const account = accounts[number % accounts.length]!;
  const reference = number % 2 === 0 ? own : null;
  return {
    needs: [
      needLock(account),
      needRow(users.byKey, account),
      ...(reference === null ? [] : [needRow(orders.byReference, account, reference)]),
      needNumbers(orders),
      needNumbers(transfers),
    ],
    run: (tx) => place(tx, own, account, reference),
  };
}

function place(tx: Tx, own: string, account: number, reference: string | null): number | null {
  if (reference !== null && tx.row(orders.byReference, account, reference)) return null;
  const user = tx.row(users.byKey, account)!;
  const { orderId } = tx.insert(orders, {
    id: createId(),
    resellerAccount: account,
    serviceId: service,
    serviceName: "Followers",
    priceMicros: CHARGE,
    per: "1",
    link: linkOf(own),
    quantity: 1,
    chargeMicros: CHARGE,
    status: "PROCESSING",
    remains: 1,
    createdAt: 1,
    placement: "manual",
    reference,
  });
  const { balanceMicros } = tx.update(users, user, {
    balanceMicros: user.balanceMicros - BigInt(CHARGE),
  });
  tx.insert(transfers, {
    debitAccount: account,
    creditAccount: SALES_ACCOUNT,
    amountMicros: CHARGE,
    kind: "order",
    orderId,
    createdAt: 1,
    balanceAfterMicros: balanceMicros,
  });
  return orderId;
}

function fateOf(error: unknown): string {
  if (error instanceof OutcomeUnknownError) return "unknown" satisfies Fate;
  if (error instanceof TransientError) return "refused" satisfies Fate;
  return String(error);
}

/** At once: a stream would hold back what a kill then takes with it. */
function print(line: LoadLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
  }
}
