// `admin user credit` and `debit`: the operator's adjustments of a balance.

import type { Command } from "commander";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import type { AdjustedBalance } from "../../operations/ledger/adjustments.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "../kernel/confirm.ts";
import { dollars, print, printError } from "../output/output.ts";
import { userJson } from "../users/user-output.ts";
import { amount, note, reference, username } from "../kernel/values.ts";

interface AdjustOptions extends CommonOptions, ConfirmOptions {
  note?: string;
  publicNote?: string;
  reference?: string;
  invoice?: boolean;
}

export function declareAdjustments(group: Command): void {
  declareAdjustment(group, "credit", "creditUser", "add to a user's balance");
  declareAdjustment(group, "debit", "debitUser", "take from a user's balance");
}

function declareAdjustment(
  group: Command,
  verb: "credit" | "debit",
  name: "creditUser" | "debitUser",
  description: string,
): void {
  const command = declare(
    group,
    verb,
    description,
    `reseller admin user ${verb} alice 25.50 --reference inv-12 --public-note "invoice 12"`,
  )
    .argument("<username>", "the user", username)
    .argument("<amount>", "USD, at most six decimals", amount)
    .option("--reference <text>", "your reference; repeating it has no second effect", reference)
    .option("--note <text>", "note for operators; the user never sees it", note)
    .option("--public-note <text>", "note shown to the user in GET /transactions", note);
  if (verb === "credit") {
    command.option("--no-invoice", "nobody paid for it, so no invoice follows");
  }
  addMoneyConfirmation(command).action(
    async (user: string, micros: number, options: AdjustOptions) => {
      await confirmMoney(options, micros, `${verb} ${user} ${formatMicros(micros)} USD`);
      const adjusted = await withDatabase(options, ({ execute }) =>
        execute(name, {
          username: user,
          amountMicros: micros,
          note: options.note ?? null,
          publicNote: options.publicNote ?? null,
          reference: options.reference ?? null,
          invoice: options.invoice ?? true,
        }),
      );
      show(adjusted, micros, options);
    },
  );
}

function show(
  adjusted: AdjustedBalance,
  micros: number,
  { json, reference: given }: AdjustOptions,
) {
  const { user, previousBalanceMicros, earlier } = adjusted;
  if (earlier && !json) {
    const at = new Date(earlier.createdAt).toISOString();
    printError(
      `${given} was already made as transaction ${earlier.seq} at ${at}: nothing was changed`,
    );
  }
  const result = {
    ...userJson(user),
    previousBalance: jsonAmount(previousBalanceMicros),
    amount: jsonAmount(micros),
    ...(given === undefined ? {} : { reference: given, repeated: earlier !== null }),
    ...(earlier ? { transaction: earlier.seq } : {}),
  };
  print(json, result, () => {
    if (earlier) return `${user.username}: ${dollars(user.balanceMicros)} USD`;
    return `${user.username}: ${dollars(previousBalanceMicros)} → ${dollars(user.balanceMicros)} USD`;
  });
}
