// `admin service …`

import { type Command, Option } from "commander";
import type { Awaitable } from "../db/port.ts";
import { findService, type Service } from "../db/services.ts";
import { formatMicros, jsonAmount } from "../domain/money.ts";
import { DEFAULT_CATEGORY, type PriceUnit, PRICE_UNITS } from "../domain/services.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { providerNames } from "./provider-names.ts";
import { declareImport } from "./service-import.ts";
import { declareServiceList, serviceJson } from "./service-lists.ts";
import { addConfirmation, confirm, type ConfirmOptions } from "./confirm.ts";
import { declareShow } from "./service-show.ts";
import { declareReprice } from "./service-prices.ts";
import { print } from "./output.ts";
import { fields } from "./text-table.ts";
import {
  category,
  price,
  providerName,
  providerService,
  quantity,
  serviceId,
  serviceName,
  username,
} from "./values.ts";

interface ServiceOptions extends CommonOptions, ConfirmOptions {
  id?: string;
  name?: string;
  category?: string;
  price?: number;
  min?: number;
  max?: number;
  per?: PriceUnit;
  private?: true;
  public?: true;
  provider?: string;
  providerService?: string;
}

export function declareServices(admin: Command): void {
  const group = declareGroup(admin, "service", "the catalogue");
  declareCreate(group);
  declareUpdate(group);

  declareServiceList(group);
  declareShow(group);
  declareReprice(group);
  declareSwitch(group, "activate", true, "offer a service again");
  declareSwitch(group, "deactivate", false, "stop offering a service; its orders go on");
  declareGrants(group);
  declareImport(group);
}

function declareCreate(group: Command): void {
  const command = declare(
    group,
    "create",
    "add a service",
    'reseller admin service create --name "Followers" --price 2.32 --min 10 --max 10000',
  );
  addServiceOptions(command, true)
    .option("--id <id>", "an id of your own (default: a new one)", serviceId)
    .action(async (options: ServiceOptions, command: Command) => {
      refuseCrossedBounds(command, options);
      const { provider: name, providerService: service } = options;
      if ((name === undefined) !== (service === undefined)) {
        command.error("error: give --provider and --provider-service together.");
      }
      await changeService(options, ({ execute }) =>
        execute("createService", {
          id: options.id ?? null,
          name: options.name!,
          ...(options.category === undefined ? {} : { category: options.category }),
          priceMicros: options.price!,
          per: options.per ?? "1000",
          min: options.min!,
          max: options.max!,
          private: options.private ?? false,
          ...(name !== undefined && service !== undefined ? { provider: { name, service } } : {}),
        }),
      );
    });
}

function declareUpdate(group: Command): void {
  const command = declare(
    group,
    "update",
    "change a service; what is not named stays as it is",
    "reseller admin service update followers --price 2.50",
  );
  addConfirmation(addServiceOptions(command, false))
    .argument("<id>", "the service", serviceId)
    .addOption(new Option("--public", "open to every reseller").conflicts("private"))
    .action(async (id: string, options: ServiceOptions, command: Command) => {
      refuseCrossedBounds(command, options);
      const { name, category: group, price: priceMicros, per, min, max } = options;
      const hidden = options.private ? true : options.public ? false : undefined;
      const changes = { name, category: group, priceMicros, per, min, max, private: hidden };
      const named = Object.entries(changes).filter(([, value]) => value !== undefined);
      const { provider: providerName, providerService: service } = options;
      if (providerName !== undefined && service === undefined) {
        command.error("error: give --provider-service with --provider.");
      }
      if (named.length === 0 && service === undefined) {
        command.error("error: name at least one thing to change.");
      }
      if (priceMicros === 0) await confirmFree(id, options);
      const link = providerName === undefined ? {} : { name: providerName };
      await changeService(options, ({ execute }) =>
        execute("updateService", {
          id,
          changes: Object.fromEntries(named),
          ...(service === undefined ? {} : { provider: { ...link, service } }),
        }),
      );
    });
}

/** Where it is not free already. */
async function confirmFree(id: string, options: ServiceOptions): Promise<void> {
  const service = await withDatabase(options, ({ store }) =>
    store.read((reader) => findService(reader, id)),
  );
  if (!service || service.priceMicros === 0) return;
  const now = formatMicros(service.priceMicros);
  await confirm(options, `set the price of ${id} from ${now} USD to 0`, "a service for nothing");
}

function addServiceOptions(command: Command, mandatory: boolean): Command {
  const option = (flags: string, description: string, parse: (text: string) => unknown) =>
    new Option(flags, description).argParser(parse).makeOptionMandatory(mandatory);
  return command
    .addOption(option("--name <name>", "display name", serviceName))
    .addOption(option("--price <price>", "USD, at most six decimals", price))
    .addOption(option("--min <quantity>", "smallest order", quantity))
    .addOption(option("--max <quantity>", "largest order", quantity))
    .addOption(
      new Option(
        "--per <unit>",
        mandatory ? "what the price buys (default: 1000)" : "what the price buys",
      ).choices(PRICE_UNITS),
    )
    .option(
      "--category <category>",
      mandatory ? `where panels list it (default: ${DEFAULT_CATEGORY})` : "where panels list it",
      category,
    )
    .option("--private", "only for resellers with a grant")
    .option("--provider <name>", "who delivers it (default: you, by hand)", providerName)
    .option("--provider-service <id>", "its id at the provider", providerService);
}

/** Wrong usage, known without reading the database: exit 2. */
function refuseCrossedBounds(command: Command, { min, max }: ServiceOptions): void {
  if (min !== undefined && max !== undefined && min > max) {
    command.error("error: --min must not be above --max.");
  }
}

function declareSwitch(group: Command, verb: string, active: boolean, description: string): void {
  declare(group, verb, description, `reseller admin service ${verb} followers`)
    .argument("<id>", "the service", serviceId)
    .action(async (id: string, options: CommonOptions) => {
      await changeService(options, ({ execute }) => execute("setServiceActive", { id, active }));
    });
}

function declareGrants(group: Command): void {
  const user = () =>
    new Option("--user <username>", "the reseller").argParser(username).makeOptionMandatory();

  declare(
    group,
    "grant",
    "open a private service to a reseller, or give it a price of its own",
    "reseller admin service grant followers --user alice --price 1.90",
  )
    .argument("<id>", "the service", serviceId)
    .addOption(user())
    .option("--price <price>", "what this reseller pays (default: the service's price)", price)
    .action(async (id: string, options: CommonOptions & { user: string; price?: number }) => {
      const { user: name, price: priceMicros = null } = options;
      await withDatabase(options, ({ execute }) =>
        execute("grantService", { id, username: name, priceMicros }),
      );
      const shown = priceMicros === null ? null : jsonAmount(priceMicros);
      print(options.json, { service: id, username: name, price: shown }, fields);
    });

  declare(
    group,
    "revoke",
    "take a grant back",
    "reseller admin service revoke followers --user alice",
  )
    .argument("<id>", "the service", serviceId)
    .addOption(user())
    .action(async (id: string, options: CommonOptions & { user: string }) => {
      await withDatabase(options, ({ execute }) =>
        execute("revokeService", { id, username: options.user }),
      );
      print(options.json, { service: id, username: options.user, revoked: true }, fields);
    });
}

async function changeService(
  options: CommonOptions,
  change: (session: Session) => Awaitable<Service>,
): Promise<void> {
  const service = await withDatabase(options, async (session) => {
    const changed = await change(session);
    return session.store.read((reader) => {
      return { ...changed, provider: providerNames(reader)(changed.providerId) };
    });
  });
  print(options.json, serviceJson(service), fields);
}
