// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import {
  clampSchedules,
  finishAttempt,
  needsOfFinish,
  needsOfStart,
  startAttempt,
} from "./deliveries.ts";
import { markInterruptedUnknown } from "./mark-unknown.ts";
import {
  finishRequest,
  markRequestsUnknown,
  recordRefillReports,
  startRequest,
  takeDueRefills,
} from "./order-request-deliveries.ts";
import { moveToNextRoute } from "./passed-orders.ts";
import { needsOfReports, recordReports, takeDuePolls } from "./polling.ts";
import { settleOrder } from "./unknown-settlement.ts";

export const commands = {
  startRequest: command(startRequest),
  finishRequest: command(finishRequest),
  takeDueRefills: command(takeDueRefills),
  recordRefillReports: command(recordRefillReports),
  markRequestsUnknown: command(markRequestsUnknown),
  startAttempt: command(startAttempt, { needs: needsOfStart }),
  finishAttempt: command(finishAttempt, { needs: needsOfFinish }),
  moveToNextRoute: command(moveToNextRoute),
  markInterruptedUnknown: command(markInterruptedUnknown),
  settleOrder: command(settleOrder),
  takeDuePolls: command(takeDuePolls),
  recordReports: command(recordReports, { needs: needsOfReports }),
  clampSchedules: command(clampSchedules),
};
