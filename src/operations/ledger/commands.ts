// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import { adjustBalance, creditUser, debitUser } from "./adjustments.ts";
import { correctInvoice, issueInvoices } from "./invoices.ts";
import { setBilling, setInvoicing } from "./invoicing.ts";
import {
  countTestAccounts,
  needsOfRecharge,
  needsOfRechargeOnce,
  recharge,
  rechargeOnce,
} from "./recharges.ts";

export const commands = {
  creditUser: command(creditUser),
  debitUser: command(debitUser),
  adjustBalance: command(adjustBalance),
  issueInvoices: command(issueInvoices),
  correctInvoice: command(correctInvoice),
  setInvoicing: command(setInvoicing),
  setBilling: command(setBilling),
  recharge: command(recharge, { ids: countTestAccounts, needs: needsOfRecharge }),
  rechargeOnce: command(rechargeOnce, {
    ids: ({ recharge }) => countTestAccounts(recharge),
    needs: needsOfRechargeOnce,
  }),
};
