// What a load needs of a database: resellers with money, and a service.

import { CASH_ACCOUNT } from "../../../src/domain/ledger.ts";
import { parseAddress } from "../../../src/db/postgres/address.ts";
import { migrate } from "../../../src/db/postgres/migrate.ts";
import { createPostgresStore } from "../../../src/db/postgres/store.ts";
import { transfers, users } from "../../../src/db/tables.ts";
import { insertService, insertUser } from "../../support/stores.ts";
import type { Load } from "./servers.ts";

const RESELLERS = 4;
const BALANCE = 1_000_000_000_000;
const TURN_MS = 2000;
const PATIENCE_MS = 15_000;

/** `address` as an operator writes it, with all its hosts. */
export async function prepareLoad(address: string, seed: number): Promise<Load> {
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
  return {
    address,
    seed,
    accounts,
    service: doneOf(service!) as string,
    turnMs: TURN_MS,
    patienceMs: PATIENCE_MS,
    isForgetful: false,
  };
}

function doneOf(outcome: { done: unknown } | { threw: unknown }): unknown {
  if ("threw" in outcome) throw outcome.threw;
  return outcome.done;
}
