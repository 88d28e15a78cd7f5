// `admin service show`: one service, and which resellers have a grant of it.

import type { Command } from "commander";
import { listGrants } from "../db/service-lists.ts";
import { findService } from "../db/services.ts";
import { refusal } from "../domain/refusals.ts";
import { jsonAmount } from "../domain/money.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { dollars, print } from "./output.ts";
import { providerNames } from "./provider-names.ts";
import { serviceJson } from "./service-lists.ts";
import { fields, table } from "./text-table.ts";
import { serviceId } from "./values.ts";

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
