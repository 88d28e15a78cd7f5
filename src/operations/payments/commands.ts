// Commands of this folder, by name.

import { command, one } from "../batch/command.ts";
import { approvePayment, rejectPayment, settleReversal } from "./payment-decisions.ts";
import {
  createPaymentMethod,
  recordNotice,
  removePaymentMethod,
  updatePaymentMethod,
} from "./payment-methods.ts";
import { recordPaid, recordReading, takeDuePayments, takePayment } from "./payment-reports.ts";
import { settleSurplus } from "./payment-surpluses.ts";
import { claimPayment, createPayment, recordBegun } from "./payments.ts";

export const commands = {
  createPayment: command(createPayment, { ids: one }),
  recordBegun: command(recordBegun),
  claimPayment: command(claimPayment),
  takeDuePayments: command(takeDuePayments),
  takePayment: command(takePayment),
  recordReading: command(recordReading),
  recordPaid: command(recordPaid),
  approvePayment: command(approvePayment),
  rejectPayment: command(rejectPayment),
  settleReversal: command(settleReversal),
  settleSurplus: command(settleSurplus),
  createPaymentMethod: command(createPaymentMethod),
  updatePaymentMethod: command(updatePaymentMethod),
  recordNotice: command(recordNotice),
  removePaymentMethod: command(removePaymentMethod),
};
