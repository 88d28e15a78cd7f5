// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import { recordProviderBalance, takeDueBalances } from "./provider-balances.ts";
import {
  deleteProvider,
  holdSync,
  setProviderActive,
  endTimedPauses,
  setProviderPaused,
} from "./provider-states.ts";
import { createProvider, noteProviderSuccess, syncCatalogue, updateProvider } from "./providers.ts";

export const commands = {
  createProvider: command(createProvider),
  updateProvider: command(updateProvider),
  setProviderActive: command(setProviderActive),
  setProviderPaused: command(setProviderPaused),
  endTimedPauses: command(endTimedPauses),
  deleteProvider: command(deleteProvider),
  noteProviderSuccess: command(noteProviderSuccess),
  syncCatalogue: command(syncCatalogue, { ids: ({ plan }) => plan.added.length }),
  holdSync: command(holdSync),
  takeDueBalances: command(takeDueBalances),
  recordProviderBalance: command(recordProviderBalance),
};
