// Servers that are nothing but the store and its load, each a process of its own (store-load.ts).

import { CASH_ACCOUNT } from "../../../src/domain/ledger/ledger.ts";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { migrate } from "../../../src/db/postgres/schema/migrate.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { transfers } from "../../../src/db/tables/ledger.ts";
import { users } from "../../../src/db/tables/users.ts";
import { insertService, insertUser } from "../../support/databases/stores.ts";
import type { Fate, Journal } from "./journal.ts";
import type { Load, LoadOptions, Server } from "./load.ts";
import { readLines } from "./processes.ts";
import type { LoadLine, StoreLoadOptions } from "./store-load.ts";

const LOAD = new URL("store-load.ts", import.meta.url).pathname;
const FATES: readonly string[] = ["acknowledged", "refused", "unknown"] satisfies Fate[];

const RESELLERS = 4;
const BALANCE = 1_000_000_000_000;
const TURN_MS = 2000;
const PRIMARY_WAIT_MS = 15_000;

export async function prepareStoreLoad(options: LoadOptions): Promise<Load> {
  const { address, serverAddress = address, seed, isForgetful = false } = options;
  const { accounts, service } = await fill(address);
  let lives = 0;
  return {
    frozenMs: 1.5 * TURN_MS,
    start(journal) {
      const life = lives++;
      return Promise.resolve(
        startServer(journal, {
          address: serverAddress,
          name: `${seed}.${life}`,
          seed: seed + life,
          accounts,
          service,
          turnMs: TURN_MS,
          primaryWaitMs: PRIMARY_WAIT_MS,
          isForgetful,
        }),
      );
    },
    // Nobody sends anything again: what was not acknowledged may be there once.
    settle: () => Promise.resolve(),
    submitted: () => 0,
    problems: () => Promise.resolve([]),
  };
}

function startServer(journal: Journal, options: StoreLoadOptions): Server {
  const child = Bun.spawn(["nice", process.execPath, LOAD, JSON.stringify(options)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const read = readLines(child.stdout, (line) => note(journal, JSON.parse(line) as LoadLine));
  return {
    async stop() {
      child.kill("SIGTERM");
      const code = await child.exited;
      await read;
      if (code !== 0) throw new Error(`a server ended with exit ${code}`);
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
      await read;
    },
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
  };
}

function note(journal: Journal, line: LoadLine): void {
  if ("sent" in line) {
    for (const name of line.sent) journal.sent(name);
    return;
  }
  for (const [name, fate, orderId] of line.answers) {
    if (FATES.includes(fate)) journal.answered(name, fate as Fate, line.at, orderId);
    else journal.faults.push(`${name}: ${fate}`);
  }
}

/** Resellers with money, and a service. */
async function fill(address: string): Promise<{ accounts: number[]; service: string }> {
  const parsed = parseAddress(address);
  await migrate(parsed, Date.now());
  const store = createPostgresStore(parsed);
  const [service, ...made] = await store.runBatch([
    { run: (tx) => insertService(tx) },
    ...Array.from({ length: RESELLERS }, (_, each) => ({
      run: (tx: Parameters<typeof insertUser>[0]) => insertUser(tx, `reseller${each}`),
    })),
  ]);
  const accounts = made.map(doneOf) as number[];
  const funded = await store.runBatch(
    accounts.map((account) => ({
      run: (tx) => {
        const { balanceMicros } = tx.update(users, { account }, { balanceMicros: BigInt(BALANCE) });
        tx.insert(transfers, {
          debitAccount: CASH_ACCOUNT,
          creditAccount: account,
          amountMicros: BALANCE,
          kind: "recharge",
          operator: "tester",
          createdAt: 1,
          balanceAfterMicros: balanceMicros,
        });
      },
    })),
  );
  for (const each of funded) doneOf(each);
  await store.close();
  return { accounts, service: doneOf(service!) as string };
}

function doneOf(outcome: { done: unknown } | { threw: unknown }): unknown {
  if ("threw" in outcome) throw outcome.threw;
  return outcome.done;
}
