// `admin payment …`: lists, shows and decides on payments.

import { type Command, Option } from "commander";
import {
  findAttachment,
  findListedPayment,
  listPaymentEvents,
  listPaymentsBelow,
  listTransfersOfPayment,
  type ListedPayment,
  PAYMENT_NEEDS,
} from "../../db/payments/payments.ts";
import { listSurpluses } from "../../db/payments/payment-surpluses.ts";
import { endingOf } from "../../domain/payments/attachments.ts";
import { METHOD_ID } from "../../domain/payments/payment-methods.ts";
import { PAYMENT_STATES } from "../../domain/payments/payment-states.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { requireUser } from "../../operations/users/users.ts";
import { paymentCells, PAYMENTS_HEADER } from "../../reports/payments-csv.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { addMoneyConfirmation, type ConfirmOptions, confirmMoney } from "../kernel/confirm.ts";
import { amount, checked, keyId, note, price, username } from "../kernel/values.ts";
import { type CsvList, listWithCsv, type ShownList } from "../output/csv-lists.ts";
import { addWindow, type WindowOptions, windowOf } from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import type { PageReader } from "../output/streams.ts";
import { fields, table } from "../output/text-table.ts";
import { declareMethods } from "./payment-methods.ts";
import { creditText, moneyText, paymentJson, surplusJson } from "./payment-output.ts";

const STATES = [...PAYMENT_NEEDS, ...PAYMENT_STATES] as const;

interface FilterOptions extends CommonOptions, WindowOptions {
  user?: string;
  method?: string;
  state?: (typeof STATES)[number];
}

export function declarePayments(admin: Command): void {
  const group = declareGroup(admin, "payment", "money that resellers pay in");
  declareMethods(group);
  declareList(group);
  declareShow(group);
  declareFile(group);
  declareApprove(group);
  declareReject(group);
  declareRefund(group);
  declareSurplus(group);
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list payments, newest first",
    "reseller admin payment list --state waiting",
  )
    .option("--user <username>", "only payments of this reseller", username)
    .option("--method <name>", "only payments by this method", checked(METHOD_ID))
    .addOption(
      new Option(
        "--state <state>",
        "only payments in this state; waiting: for you to approve or reject; reversed: refunded or disputed, surplus: with money that is not credited, for you to decide on",
      ).choices(STATES),
    );
  listWithCsv(addWindow(command), "payments", LIST);
}

async function readerOf(
  { store }: Session,
  options: FilterOptions,
): Promise<PageReader<ListedPayment, number>> {
  const { user, method = null, state = null } = options;
  const account =
    user === undefined ? null : (await store.read((reader) => requireUser(reader, user))).account;
  const filter = { account, methodId: method, state, window: windowOf(options) };
  return (below, limit) => store.read((reader) => listPaymentsBelow(reader, filter, below, limit));
}

const LIST: CsvList<ListedPayment, FilterOptions> & ShownList<ListedPayment, FilterOptions> = {
  open: readerOf,
  header: () => PAYMENTS_HEADER,
  cells: paymentCells,
  json: paymentJson,
  table: paymentTable,
  numberOf: ({ paymentId }) => paymentId,
};

function paymentTable(rows: readonly ListedPayment[]): string {
  const shown = rows.map((payment) => ({
    id: payment.id,
    created: isoTime(payment.createdAt)!.slice(0, 16),
    user: payment.username,
    method: payment.methodId,
    due: moneyText(payment.dueMicros, payment.currency),
    state: payment.awaits === null ? payment.state : `waiting (${payment.awaits})`,
    "credit usd": creditText(payment),
  }));
  return table(shown, "no payments");
}

function declareShow(group: Command): void {
  declare(
    group,
    "show",
    "show a payment, what happened to it, and its transactions",
    "reseller admin payment show pqrstuvwxyzabcdefghijklm",
  )
    .argument("<id>", "id of the payment", keyId)
    .action(async (id: string, options: CommonOptions) => {
      const found = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const payment = findListedPayment(reader, id);
          if (!payment) throw refusal("payment_not_found");
          const { paymentId } = payment;
          return {
            payment,
            events: listPaymentEvents(reader, paymentId),
            transfers: listTransfersOfPayment(reader, paymentId),
            surpluses: listSurpluses(reader, paymentId).map(surplusJson),
          };
        }),
      );
      const events = found.events.map(({ event, toState, operator, detail, createdAt }) => {
        return { at: isoTime(createdAt)!, event, state: toState, by: operator, detail };
      });
      const transactions = found.transfers.map(({ seq, kind, amountMicros }) => {
        return { seq, kind, amount: formatMicros(amountMicros) };
      });
      const { surpluses } = found;
      const json = { ...paymentJson(found.payment), events, transactions, surpluses };
      print(options.json, json, () => {
        const parts = [
          fields(paymentJson(found.payment)),
          table(events, ""),
          table(transactions, "no transactions"),
          ...surpluses.map(({ text, advice }) => (advice === null ? text : `${text}: ${advice}`)),
        ];
        return parts.join("\n\n");
      });
    });
}

function declareFile(group: Command): void {
  declare(
    group,
    "file",
    "write the file that the customer sent with a payment",
    "reseller admin payment file pqrstuvwxyzabcdefghijklm > receipt.pdf",
  )
    .argument("<id>", "id of the payment", keyId)
    .action(async (id: string, options: CommonOptions) => {
      const file = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const payment = findListedPayment(reader, id);
          if (!payment) throw refusal("payment_not_found");
          const found = findAttachment(reader, payment.paymentId);
          if (!found) throw new CommandFailure("the customer sent no file with this payment");
          return found;
        }),
      );
      if (!options.json) {
        process.stdout.write(Buffer.from(file.data, "base64"));
        return;
      }
      const { type, bytes, sha256, data } = file;
      print(options.json, { type, name: `${id}.${endingOf(type)}`, bytes, sha256, data }, () => "");
    });
}

function declareApprove(group: Command): void {
  const command = declare(
    group,
    "approve",
    "credit a payment because you have received the money",
    "reseller admin payment approve pqrstuvwxyzabcdefghijklm --received 50",
  )
    .argument("<id>", "id of the payment", keyId)
    .option(
      "--received <amount>",
      "what you received, in the payment's currency (default: what was reported, or was due)",
      amount,
    )
    .option("--credit <usd>", "credit exactly this, without a bonus", amount);
  addMoneyConfirmation(command).action(
    async (
      id: string,
      options: CommonOptions & ConfirmOptions & { received?: number; credit?: number },
    ) => {
      const { received: receivedMicros = null, credit: creditMicros = null } = options;
      const payment = await paymentOf(options, id);
      const expected = creditMicros ?? receivedMicros ?? payment.creditMicros + payment.bonusMicros;
      await confirmMoney(options, expected, `approve payment ${id} of ${payment.username}`);
      const made = await withDatabase(options, ({ execute }) =>
        execute("approvePayment", { id, receivedMicros, creditMicros }),
      );
      const credit = formatMicros(made.creditMicros);
      const bonus = formatMicros(made.bonusMicros);
      print(options.json, { id, state: made.state, credit, bonus }, () =>
        made.bonusMicros === 0
          ? `${payment.username}: credited ${credit} USD`
          : `${payment.username}: credited ${credit} USD and a bonus of ${bonus} USD`,
      );
    },
  );
}

function declareReject(group: Command): void {
  declare(
    group,
    "reject",
    "reject a payment; the customer reads the reason",
    'reseller admin payment reject pqrstuvwxyzabcdefghijklm --reason "No transfer arrived"',
  )
    .argument("<id>", "id of the payment", keyId)
    .requiredOption("--reason <text>", "why, for the customer", note)
    .action(async (id: string, options: CommonOptions & { reason: string }) => {
      const { reason } = options;
      const { state } = await withDatabase(options, ({ execute }) =>
        execute("rejectPayment", { id, reason }),
      );
      print(options.json, { id, state, reason }, () => `rejected: ${reason}`);
    });
}

function declareRefund(group: Command): void {
  const command = declare(
    group,
    "refund",
    "debit the balance for a payment that you gave back, or that was refunded or disputed",
    "reseller admin payment refund pqrstuvwxyzabcdefghijklm --amount 20",
  )
    .argument("<id>", "id of the payment", keyId)
    .option(
      "--amount <usd>",
      "what to debit; 0: nothing, the matter is settled (default: the credit, at most the balance)",
      price,
    )
    .option("--public-note <text>", "note shown to the user in GET /transactions", note);
  addMoneyConfirmation(command).action(
    async (
      id: string,
      options: CommonOptions & ConfirmOptions & { amount?: number; publicNote?: string },
    ) => {
      const { amount: amountMicros = null, publicNote = null } = options;
      const payment = await paymentOf(options, id);
      const left = payment.creditMicros + payment.bonusMicros - payment.reversedMicros;
      await confirmMoney(
        options,
        amountMicros ?? left,
        `debit ${payment.username} for payment ${id}`,
      );
      const made = await withDatabase(options, ({ execute }) =>
        execute("settleReversal", { id, amountMicros, publicNote }),
      );
      const debited = formatMicros(made.debitedMicros);
      print(
        options.json,
        { id, state: made.state, debited },
        () => `${payment.username}: debited ${debited} USD`,
      );
    },
  );
}

function declareSurplus(group: Command): void {
  const command = declare(
    group,
    "surplus",
    "decide on money that was received for a payment and is not credited",
    "reseller admin payment surplus pqrstuvwxyzabcdefghijklm --credit 25",
  )
    .argument("<id>", "id of the payment", keyId)
    .requiredOption(
      "--credit <usd>",
      "what to credit; 0: nothing, because you gave it back or it is credited already",
      price,
    )
    .option("--public-note <text>", "note shown to the user in GET /transactions", note);
  addMoneyConfirmation(command).action(
    async (
      id: string,
      options: CommonOptions & ConfirmOptions & { credit: number; publicNote?: string },
    ) => {
      const { credit: creditMicros, publicNote = null } = options;
      const payment = await paymentOf(options, id);
      const what = `credit ${payment.username} for a surplus of payment ${id}`;
      await confirmMoney(options, creditMicros, what);
      const made = await withDatabase(options, ({ execute }) =>
        execute("settleSurplus", { id, creditMicros, publicNote }),
      );
      const credited = formatMicros(made.creditedMicros);
      print(options.json, { id, credited }, () => `${payment.username}: credited ${credited} USD`);
    },
  );
}

function paymentOf(options: CommonOptions, id: string): Promise<ListedPayment> {
  return withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const found = findListedPayment(reader, id);
      if (!found) throw refusal("payment_not_found");
      return found;
    }),
  );
}
