// `admin service route ID add|remove|list`: changes the providers of a service, and the order in which they are tried.

import { Argument, type Command, Option } from "commander";
import { listRoutes } from "../../db/catalogue/service-routes.ts";
import { findService } from "../../db/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { PrioritizedRoute } from "../../domain/catalogue/service-routes.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { type ProviderNames, providerNames } from "../providers/provider-names.ts";
import { table } from "../output/text-table.ts";
import { priority, providerName, providerService, serviceId } from "../kernel/values.ts";

interface RouteOptions extends CommonOptions {
  provider?: string;
  providerService?: string;
  priority?: number;
}

const VERBS = ["add", "remove", "list"] as const;
type Verb = (typeof VERBS)[number];

export function declareRoutes(group: Command): void {
  declare(
    group,
    "route",
    "the providers of a service, first to last: if one refuses an order or cannot be reached, the next is tried",
    "reseller admin service route followers add --provider acme --provider-service 17",
  )
    .argument("<id>", "the service", serviceId)
    .addArgument(new Argument("<verb>", "what to do").choices(VERBS))
    .option("--provider <name>", "provider of the route", providerName)
    .option("--provider-service <id>", "the service's id at the provider", providerService)
    .addOption(
      new Option(
        "--priority <number>",
        "number of the route; the lowest is tried first (default: after all others)",
      ).argParser(priority),
    )
    .action(async (id: string, verb: Verb, options: RouteOptions, command: Command) => {
      const { provider, providerService: service } = options;
      if (verb !== "add" && options.priority !== undefined) {
        command.error("error: --priority can only be used with add.");
      }
      if (
        verb === "list" ? provider !== undefined || service !== undefined : !provider || !service
      ) {
        command.error(
          "error: add and remove need --provider and --provider-service; list takes neither.",
        );
      }
      const routes = await withDatabase(options, async ({ store, execute }) => {
        const route = { id, provider: provider!, providerService: service! };
        if (verb === "add") {
          await execute("putRoute", { ...route, priority: options.priority ?? null });
        } else if (verb === "remove") await execute("removeRoute", route);
        return store.read((reader) => {
          const found = findService(reader, id);
          if (!found) throw refusal("service_not_found");
          const names = providerNames(reader);
          return listRoutes(reader, found).map((each) => routeJson(each, names));
        });
      });
      print(options.json, routes, (rows) =>
        table([...rows], "no routes: the service is delivered by hand"),
      );
    });
}

function routeJson(route: PrioritizedRoute, names: ProviderNames) {
  const { providerId, providerService: service, priority: place, delisted } = route;
  return { provider: names(providerId)!, providerService: service, priority: place, delisted };
}
