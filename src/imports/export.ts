// Writes a catalogue as CSV or JSON in the form that `readCatalogue` reads, so that an export can be imported again.

import { formatMicros, jsonAmount } from "../domain/ledger/money.ts";
import type { ServiceType } from "../domain/catalogue/service-types.ts";
import type { CatalogueColumn } from "./catalogue.ts";
import { quotedCell } from "../domain/values/csv.ts";
import type { PriceUnit } from "../domain/catalogue/services.ts";

/** A service with the name of its provider. */
export interface ExportedService {
  id: string;
  name: string;
  category: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  private: boolean;
  active: boolean;
  type: ServiceType;
  dripfeed: boolean;
  cancel: boolean;
  refill: boolean;
  refillDays: number;
  provider: string | null;
  providerService: string | null;
}

type Cell = string | number | boolean | null;

/** The exported columns. A price is text, so that a spreadsheet does not round it. */
const COLUMNS: Record<CatalogueColumn, (service: ExportedService) => Cell> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  category: ({ category }) => category,
  price: ({ priceMicros }) => formatMicros(priceMicros),
  per: ({ per }) => per,
  min: ({ min }) => min,
  max: ({ max }) => max,
  private: (service) => service.private,
  active: ({ active }) => active,
  type: ({ type }) => type,
  dripfeed: ({ dripfeed }) => dripfeed,
  cancel: ({ cancel }) => cancel,
  refill: ({ refill }) => refill,
  refillDays: (service) => service.refillDays,
  provider: ({ provider }) => provider,
  providerService: ({ providerService }) => providerService,
};

/** Returns CSV by RFC 4180, with lines ending in CR LF. */
export function catalogueCsv(services: readonly ExportedService[]): string {
  const lines = services.map((service) => Object.values(COLUMNS).map((cell) => cell(service)));
  return [Object.keys(COLUMNS), ...lines]
    .map((line) => `${line.map(cellText).join(",")}\r\n`)
    .join("");
}

export function catalogueRows(services: readonly ExportedService[]): Record<string, Cell>[] {
  return services.map((service) => {
    const cells = Object.entries(COLUMNS).map(([name, cell]) => [name, cell(service)]);
    return { ...Object.fromEntries(cells), price: jsonAmount(service.priceMicros) };
  });
}

/** Adds an apostrophe to a cell that a spreadsheet would evaluate as a formula. An import removes it. */
function cellText(cell: Cell): string {
  const given = String(cell ?? "");
  const text = /^'*[=+\-@]/.test(given) ? `'${given}` : given;
  return quotedCell(text);
}
