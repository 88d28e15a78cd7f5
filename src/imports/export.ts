// A catalogue as CSV or JSON, in the form that `readCatalogue` reads: what is exported can be imported again unchanged.

import { formatMicros, jsonAmount } from "../domain/money.ts";
import type { ServiceType } from "../domain/service-types.ts";
import type { PriceUnit } from "../domain/services.ts";

/** A service, and the name of its provider. */
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

/** A price is text: a spreadsheet must not round it. */
const COLUMNS: Record<string, (service: ExportedService) => Cell> = {
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

/** RFC 4180, lines that end with CR LF. */
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

/** A spreadsheet would evaluate a cell that starts like a formula: an apostrophe, which an import takes off, makes it text. */
function cellText(cell: Cell): string {
  const given = String(cell ?? "");
  const text = /^'*[=+\-@]/.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
