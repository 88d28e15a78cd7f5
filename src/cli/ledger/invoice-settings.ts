// `admin invoice settings` and `billing`: how invoices are issued, and to whom.

import { type Command, Option } from "commander";
import { readInvoiceSettings } from "../../db/ledger/invoices.ts";
import type { InvoiceSettings } from "../../db/tables/invoices.ts";
import { billingDetails } from "../../db/tables/invoices.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import {
  ADDRESS,
  INVOICE_MODES,
  INVOICE_PREFIX,
  type InvoiceMode,
  PARTY_NAME,
  TAX_ID,
  TAX_TEXT,
} from "../../domain/ledger/invoices.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { ConfigError } from "../../config/flags.ts";
import { checked, discount, firstNumber, username } from "../kernel/values.ts";
import { print } from "../output/output.ts";
import { fields } from "../output/text-table.ts";

/** Parses a text that `none` removes. */
function orNone(parse: (text: string) => string): (text: string) => string {
  return (text) => (text === "none" ? "" : parse(text));
}

interface SettingsOptions extends CommonOptions {
  for?: InvoiceMode;
  prefix?: string;
  nextNumber?: number;
  taxId?: string;
  tax?: number;
  taxText?: string;
}

export function declareSettings(group: Command): void {
  declare(
    group,
    "settings",
    "show or change how invoices are issued",
    "reseller admin invoice settings --for month --prefix 2026- --tax 20% --tax-text VAT",
  )
    .addOption(
      new Option(
        "--for <what>",
        "one invoice for each credit, or for a reseller's credits of a month (UTC)",
      ).choices(INVOICE_MODES),
    )
    .option(
      "--prefix <text>",
      "text before the number; a new one begins a new series; none: no prefix",
      orNone(checked(INVOICE_PREFIX)),
    )
    .option("--next-number <number>", "first number of a new series", firstNumber)
    .option("--tax-id <text>", "your tax number; none: no number", orNone(checked(TAX_ID)))
    .option("--tax <percent>", "tax that every credit includes, such as 20%; 0: none", discount)
    .option(
      "--tax-text <text>",
      "name of the tax, or why there is none; none: no text",
      orNone(checked(TAX_TEXT)),
    )
    .action(async (options: SettingsOptions) => {
      const { for: mode, prefix, nextNumber, tax: taxPpm, taxText } = options;
      const given = { mode, prefix, nextNumber, sellerTaxId: options.taxId, taxPpm, taxText };
      const changes = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      );
      const settings = await withDatabase(options, ({ store, execute }) =>
        Object.keys(changes).length === 0
          ? store.read(readInvoiceSettings)
          : execute("setInvoicing", { changes }),
      );
      print(options.json, settingsJson(settings), (shown) => {
        return fields({ ...shown, sellerAddress: shown.sellerAddress.replaceAll("\n", ", ") });
      });
    });
}

function settingsJson(settings: InvoiceSettings) {
  const { mode, prefix, nextNumber, taxPpm, taxText } = settings;
  const { sellerName, sellerAddress, sellerTaxId: taxId } = settings;
  const tax = { taxId, tax: discountPercent(taxPpm), taxText };
  return { for: mode, prefix, nextNumber, sellerName, sellerAddress, ...tax };
}

interface BillingOptions extends CommonOptions {
  name?: string;
  address?: string;
  taxId?: string;
  tax?: number;
  taxText?: string;
  none?: true;
}

export function declareBilling(group: Command): void {
  declare(
    group,
    "billing",
    "show or set to whom a reseller's invoices are made out",
    'reseller admin invoice billing alice --name "Alice Ltd" --address "Lane 2; City" --tax 0 --tax-text "Reverse charge"',
  )
    .argument("<username>", "the reseller", username)
    .addOption(
      new Option("--name <name>", "legal name").argParser(checked(PARTY_NAME)).conflicts("none"),
    )
    .option("--address <lines>", "address, lines separated by `;`", checked(ADDRESS))
    .option("--tax-id <text>", "tax number", checked(TAX_ID))
    .option("--tax <percent>", "its own tax instead of yours; needs --tax-text", discount)
    .option("--tax-text <text>", "name of the tax, or why there is none", checked(TAX_TEXT))
    .option("--none", "make invoices out to the user's name again, with your tax")
    .action(async (user: string, options: BillingOptions) => {
      const { name, address = "", taxId = "", tax = null, taxText = null } = options;
      const isGiven = address !== "" || taxId !== "" || tax !== null || taxText !== null;
      if (name === undefined && isGiven) throw new ConfigError("--name is missing");
      if (tax === null && taxText !== null) throw new ConfigError("--tax-text needs --tax");
      const billing = await withDatabase(options, async ({ store, execute }) => {
        if (options.none) return execute("setBilling", { username: user, billing: null });
        if (name !== undefined) {
          const details = { name, address, taxId, taxPpm: tax, taxText };
          return execute("setBilling", { username: user, billing: details });
        }
        return store.read((reader) => {
          const { account } = requireUser(reader, user);
          return reader.row(billingDetails.byKey, account) ?? null;
        });
      });
      const shown = billing && {
        name: billing.name,
        address: billing.address,
        taxId: billing.taxId,
        tax: billing.taxPpm === null ? null : discountPercent(billing.taxPpm),
        taxText: billing.taxText,
      };
      print(options.json, { username: user, billing: shown }, () =>
        shown === null
          ? `${user}: invoices are made out to the user's name`
          : fields({ ...shown, address: shown.address.replaceAll("\n", ", ") }),
      );
    });
}
