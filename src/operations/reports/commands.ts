// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import { countDailyTotals } from "./daily-totals.ts";

export const commands = {
  countDailyTotals: command(countDailyTotals),
};
