// `admin invoice …`: lists, shows, issues and corrects invoices.

import { type Command, Option } from "commander";
import {
  findListedInvoice,
  type ListedInvoice,
  listInvoicesBelow,
} from "../../db/ledger/invoices.ts";
import {
  INVOICE_NUMBER,
  INVOICE_REASON,
  invoiceNumber,
  linesIn,
  taxWords,
} from "../../domain/ledger/invoices.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { requireUser } from "../../operations/users/users.ts";
import { invoiceCells, INVOICES_HEADER } from "../../reports/invoices-csv.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { amount, checked, username } from "../kernel/values.ts";
import { type CsvList, exportAll, listWithCsv, type ShownList } from "../output/csv-lists.ts";
import { addWindow, type WindowOptions, windowOf } from "../output/list-pages.ts";
import { dollars, print } from "../output/output.ts";
import { type PageReader, write } from "../output/streams.ts";
import { fields, table } from "../output/text-table.ts";
import { declareBilling, declareSettings } from "./invoice-settings.ts";
import { monthText } from "../../domain/values/calendar.ts";

/** Invoices of one transaction. */
const ISSUED_AT_ONCE = 50;

const number = checked(INVOICE_NUMBER);
type Number = ReturnType<typeof number>;

interface FilterOptions extends CommonOptions, WindowOptions {
  user?: string;
}

export function declareInvoices(admin: Command): void {
  const group = declareGroup(admin, "invoice", "invoices for credits");
  declareList(group);
  declareExport(group);
  declareShow(group);
  declareIssue(group);
  declareCorrect(group);
  declareSettings(group);
  declareBilling(group);
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list invoices and corrections, newest first",
    "reseller admin invoice list --user alice --since 2026-11-01",
  ).option("--user <username>", "only invoices of this reseller", username);
  listWithCsv(addWindow(command), "invoices", LIST);
}

function declareExport(group: Command): void {
  const command = declare(
    group,
    "export",
    "write all invoices and corrections as CSV or JSON lines, newest first",
    "reseller admin invoice export --since 2026-11-01 --until 2026-11-30 > invoices.csv",
  ).option("--user <username>", "only invoices of this reseller", username);
  exportAll(addWindow(command), "one JSON object a line, with all lines", LIST, invoiceJson);
}

async function readerOf(
  { store }: Session,
  options: FilterOptions,
): Promise<PageReader<ListedInvoice, number>> {
  const { user } = options;
  const account =
    user === undefined ? null : (await store.read((reader) => requireUser(reader, user))).account;
  const filter = { account, window: windowOf(options) };
  return (below, limit) => store.read((reader) => listInvoicesBelow(reader, filter, below, limit));
}

const LIST: CsvList<ListedInvoice, FilterOptions> & ShownList<ListedInvoice, FilterOptions> = {
  open: readerOf,
  header: () => INVOICES_HEADER,
  cells: invoiceCells,
  json: listedJson,
  table: invoiceTable,
  numberOf: ({ invoiceId }) => invoiceId,
};

function declareShow(group: Command): void {
  declare(
    group,
    "show",
    "show an invoice; --html writes it as a file to print on A4",
    "reseller admin invoice show 2026-17 --html > 2026-17.html",
  )
    .argument("<number>", "number of the invoice, with its prefix", number)
    .addOption(new Option("--html", "write it as HTML to print").conflicts("json"))
    .action(async (given: Number, options: CommonOptions & { html?: true }) => {
      const invoice = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = findListedInvoice(reader, given);
          if (!found) throw refusal("invoice_not_found");
          return found;
        }),
      );
      if (options.html) {
        const { invoiceFile } = await import("../../panel/ledger/invoice-document.tsx");
        return write(`${invoiceFile(invoice)}\n`);
      }
      const following = invoice.following.map(invoiceNumber);
      print(options.json, { ...invoiceJson(invoice), following }, () =>
        invoiceText(invoice, following),
      );
    });
}

function declareIssue(group: Command): void {
  declare(
    group,
    "issue",
    "issue what is due now; a running server does it by itself within a minute",
    "reseller admin invoice issue",
  ).action(async (options: CommonOptions) => {
    let issued = 0;
    await withDatabase(options, async ({ store, now }) => {
      const { execute } = await import("../../operations/batch/execute.ts");
      for (let more = 1; more > 0; issued += more) {
        more = await execute(store, "issueInvoices", { limit: ISSUED_AT_ONCE }, now());
      }
    });
    print(options.json, { issued }, () => `issued ${counted(issued, "invoice")}`);
  });
}

function declareCorrect(group: Command): void {
  declare(
    group,
    "correct",
    "take back an invoice, or a part of it, by a further document; it stays as it is",
    'reseller admin invoice correct 2026-17 --reason "wrong address" --reissue',
  )
    .argument("<number>", "number of the invoice, with its prefix", number)
    .requiredOption("--reason <text>", "why, shown on the correction", checked(INVOICE_REASON))
    .option("--amount <usd>", "take back only this much (default: all that is left)", amount)
    .option("--reissue", "issue it again, with the present names, addresses and tax")
    .action(
      async (
        given: Number,
        options: CommonOptions & { reason: string; amount?: number; reissue?: true },
      ) => {
        const { reason, amount: amountMicros = null, reissue = false } = options;
        const made = await withDatabase(options, ({ execute }) =>
          execute("correctInvoice", { ...given, amountMicros, reason, reissue }),
        );
        print(options.json, made, ({ correction, replacement }) =>
          replacement === null
            ? `corrected by ${correction}`
            : `corrected by ${correction}, replaced by ${replacement}`,
        );
      },
    );
}

function listedJson(invoice: ListedInvoice) {
  const { totalMicros, taxMicros } = invoice;
  return {
    id: invoice.invoiceId,
    number: invoiceNumber(invoice),
    kind: invoice.kind,
    corrects: invoice.corrected,
    issuedAt: new Date(invoice.issuedAt).toISOString(),
    month: invoice.month === null ? null : monthText(invoice.month),
    username: invoice.username,
    net: jsonAmount(totalMicros - taxMicros),
    tax: jsonAmount(taxMicros),
    total: jsonAmount(totalMicros),
    taxText: taxWords(invoice),
  };
}

function invoiceJson(invoice: ListedInvoice) {
  const { sellerName, sellerAddress, sellerTaxId, buyerName, buyerAddress, buyerTaxId } = invoice;
  return {
    ...listedJson(invoice),
    seller: { name: sellerName, address: sellerAddress, taxId: sellerTaxId },
    buyer: { name: buyerName, address: buyerAddress, taxId: buyerTaxId },
    lines: linesIn(invoice).map(({ text, micros }) => ({ text, amount: jsonAmount(micros) })),
    reason: invoice.reason,
    by: invoice.operator,
    carriedOver: invoice.carriedOver,
  };
}

function invoiceTable(rows: readonly ListedInvoice[]): string {
  const shown = rows.map((invoice) => ({
    number: invoiceNumber(invoice),
    date: new Date(invoice.issuedAt).toISOString().slice(0, 10),
    user: invoice.username,
    "tax usd": dollars(invoice.taxMicros),
    "total usd": dollars(invoice.totalMicros),
    month: invoice.month === null ? null : monthText(invoice.month),
    corrects: invoice.corrected,
  }));
  return table(shown, "no invoices");
}

function invoiceText(invoice: ListedInvoice, following: readonly string[]): string {
  const { lines: _, seller, buyer, ...facts } = invoiceJson(invoice);
  const partyText = ({ name, address, taxId }: typeof seller) =>
    [name, ...address.split("\n"), taxId].filter((text) => text !== "").join(", ");
  const head = fields({
    ...facts,
    net: dollars(invoice.totalMicros - invoice.taxMicros),
    tax: dollars(invoice.taxMicros),
    total: dollars(invoice.totalMicros),
    seller: partyText(seller),
    buyer: partyText(buyer),
    following: following.join(", "),
  });
  const rows = linesIn(invoice).map(({ text, micros }) => ({
    line: text,
    "amount usd": dollars(micros),
  }));
  return `${head}\n\n${table(rows, "")}`;
}
