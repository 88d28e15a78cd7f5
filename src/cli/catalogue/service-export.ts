// `admin service export`: writes the catalogue in the form that `service import` reads.

import type { Command } from "commander";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { catalogueCsv, catalogueRows } from "../../imports/export.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { providerNames } from "../providers/provider-names.ts";
import { addFilters, type FilterOptions, serviceFilter } from "./service-lists.ts";

export function declareExport(group: Command): void {
  addFilters(
    declare(
      group,
      "export",
      "print services as CSV, or with --json as JSON, for `service import --update`",
      "reseller admin service export --provider acme > catalogue.csv",
    ),
  ).action(async (options: CommonOptions & FilterOptions) => {
    const services = await withDatabase(options, ({ store }) =>
      store.read((reader) => {
        const names = providerNames(reader);
        const filter = serviceFilter(reader, options);
        const { rows } = listServicesAfter(reader, filter, null, Number.MAX_SAFE_INTEGER - 1);
        return rows.map((service) => ({ ...service, provider: names(service.providerId) }));
      }),
    );
    // print() is not used: it replaces invisible characters, and the result could not be imported again.
    const text = options.json
      ? `${JSON.stringify(catalogueRows(services))}\n`
      : catalogueCsv(services);
    process.stdout.write(text);
  });
}
