// Imports services of another panel under their numbers there. docs/specification/imports.md#imported-services.

import type { RowOutcome } from "../../domain/imports/import-problems.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { findService } from "../../db/catalogue/services.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { findProvider } from "../../db/providers/providers.ts";
import { services } from "../../db/tables/catalogue.ts";
import { importedServices } from "../../db/tables/imports.ts";
import type { Context } from "../batch/context.ts";
import { listServiceListeners } from "../catalogue/service-changes.ts";
import { create, type ServiceTerms } from "../catalogue/services.ts";

export interface ImportedService extends Omit<ServiceTerms, "id" | "private"> {
  number: number;
}

/** Says what an import would do with each row now. */
export function planServices(reader: Reader, rows: readonly ImportedService[]): RowOutcome[] {
  return reader.each(rows, ({ number, provider, active = true }): RowOutcome => {
    if (reader.row(importedServices.byKey, number)) return "same";
    if (reader.row(services.byNumber, number)) return "service_number_taken";
    if (findService(reader, String(number))) return "service_id_taken";
    const found = provider && findProvider(reader, provider.name);
    if (provider && !found) return "provider_unknown";
    return found && !found.active && active ? "provider_inactive" : "new";
  });
}

export interface ImportPanelServices {
  services: readonly ImportedService[];
  actor: Actor;
}

/** Creates the services that are new. Their id is their number as text. */
export function importPanelServices(
  tx: Tx,
  { services: rows, actor }: ImportPanelServices,
  context: Context,
): RowOutcome[] {
  const outcomes = planServices(tx, rows);
  const listeners = listServiceListeners(tx, context);
  // Nothing is refused from here on.
  tx.each(rows, (row, index) => {
    if (outcomes[index] !== "new") return;
    create(tx, { ...row, id: String(row.number), private: false, actor }, listeners, context);
    tx.insert(importedServices, { number: row.number });
  });
  return outcomes;
}
