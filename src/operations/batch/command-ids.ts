// The ids of what a command creates. They are made before it runs and travel with it. So a command that runs again
// creates the same ids, the writer thread spends no time on them, and no transaction stays open for them.

import { createId, createSeed } from "../../db/port/ids.ts";
import type { CommandInput, CommandName } from "./commands.ts";
import type { PlaceOrders } from "../orders/order-batches.ts";
import type { Recharge } from "../ledger/recharges.ts";
import type { ServiceTerms } from "../catalogue/services.ts";

export { createSeed };

/** Maximum number of ids for each command. A command that is not listed creates nothing that has an id. */
const counts: { [Name in CommandName]?: (input: CommandInput<Name>) => number } = {
  createUser: () => 1,
  addUser: () => 1,
  createKey: ({ test }) => (test ? 2 : 1),
  rotateKey: () => 1,
  createWebhook: () => 1,
  createAlertEndpoint: () => 1,
  createService: (service) => countWithoutId([service]),
  importServices: ({ services }) => countWithoutId(services),
  syncCatalogue: ({ plan }) => plan.added.length,
  sendTestEvent: () => 1,
  recharge: countTestAccounts,
  rechargeOnce: ({ recharge }) => countTestAccounts(recharge),
  makeRequest: () => 1,
  makeRequestOnce: () => 1,
  makeRequests: ({ ids }) => ids.length,
  placeOrder: () => 1,
  placeOrderOnce: () => 1,
  placeOrders: countOrders,
  placeOrdersOnce: countOrders,
};

/** Fresh ids for one command, in the order in which it takes them. */
export function createCommandIds<Name extends CommandName>(
  name: Name,
  input: CommandInput<Name>,
): string[] {
  return Array.from({ length: counts[name]?.(input) ?? 0 }, createId);
}

function countWithoutId(services: readonly Pick<ServiceTerms, "id">[]): number {
  return services.filter(({ id }) => id === null).length;
}

/** One for a test key: the user may have no test account yet. */
function countTestAccounts({ isTest }: Recharge): number {
  return isTest ? 1 : 0;
}

function countOrders({ entries }: PlaceOrders): number {
  return entries.filter((entry) => "order" in entry).length;
}
