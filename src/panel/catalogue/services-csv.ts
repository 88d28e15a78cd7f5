// The filtered catalogue and resellers' own prices as CSV, each in the form that its import takes.

import { listAllGrants } from "../../db/catalogue/grants.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { findUser } from "../../db/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { csvFile } from "../../http/server/csv.ts";
import { catalogueCsv } from "../../imports/export.ts";
import { grantsCsv } from "../../imports/grants.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { filterOf } from "./service-filters.ts";
import { servicesPage } from "./services.tsx";

const ALL = Number.MAX_SAFE_INTEGER - 1;

export async function servicesCsv(call: Call, panel: Panel): Promise<View | Response> {
  const services = await panel.slowStore.read((reader) => {
    const { payer: _, ...filter } = filterOf(call.filters, reader);
    if (call.filters.errors.size > 0) return [];
    const names = namesOfProviders(reader);
    return listServicesAfter(reader, filter, null, ALL).rows.map((service) => ({
      ...service,
      provider: service.providerId === null ? null : names.get(service.providerId)!,
    }));
  });
  if (call.filters.errors.size > 0) return servicesPage(call);
  return csvFile("services.csv", catalogueCsv(services));
}

/** Exports the grants of one reseller, or of all. */
export async function grantsCsvPage(call: Call, panel: Panel): Promise<Response> {
  const username = call.filters.raw("user");
  const grants = await panel.slowStore.read((reader) => {
    const user = username === "" ? null : findUser(reader, username);
    if (user === undefined) throw refusal("user_not_found");
    return listAllGrants(reader, null, user?.account ?? null);
  });
  return csvFile("grants.csv", `${grantsCsv(grants)}\n`);
}
