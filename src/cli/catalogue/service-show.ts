// `admin service show`: shows one service and the resellers with a grant of it.

import type { Command } from "commander";
import { listGrants } from "../../db/catalogue/service-lists.ts";
import { findService } from "../../db/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { dollars, print } from "../output/output.ts";
import { providerNames } from "../providers/provider-names.ts";
import { serviceJson } from "./service-lists.ts";
import { fields, table } from "../output/text-table.ts";
import { serviceId } from "../kernel/values.ts";

export function declareShow(group: Command): void {
  declare(group, "show", "show one service and its grants", "reseller admin service show followers")
    .argument("<id>", "the service", serviceId)
    .action(async (id: string, options: CommonOptions) => {
      const { service, grants } = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = findService(reader, id);
          if (!found) throw refusal("service_not_found");
          const provider = providerNames(reader)(found.providerId);
          return { service: { ...found, provider }, grants: listGrants(reader, id) };
        }),
      );
      const shown = grants.map(({ username, priceMicros }) => ({ username, priceMicros }));
      const facts = serviceJson(service);
      const result = {
        ...facts,
        grants: shown.map(({ username, priceMicros }) => ({
          username,
          price: priceMicros === null ? null : jsonAmount(priceMicros),
        })),
      };
      print(options.json, result, () => {
        const rows = shown.map(({ username, priceMicros }) => ({
          user: username,
          "its price usd": priceMicros === null ? "the service's" : dollars(priceMicros),
        }));
        return [fields(facts), "", table(rows, "no grants")].join("\n");
      });
    });
}
