// `admin service …`

import { type Command, Option } from "commander";
import type { Awaitable } from "../db/port.ts";
import type { Service } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import { REFILL_DAYS_DEFAULT } from "../domain/order-requests.ts";
import { attempt, Refusal } from "../domain/refusals.ts";
import { NO_PROVIDER } from "../domain/providers.ts";
import {
  DEFAULT_SERVICE_TYPE,
  isPackage,
  refuseUnfitType,
  SERVICE_TYPES,
  type ServiceType,
  standardUnit,
} from "../domain/service-types.ts";
import { DEFAULT_CATEGORY, type PriceUnit, PRICE_UNITS } from "../domain/services.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { sentenceOf } from "./errors.ts";
import { providerNames } from "./provider-names.ts";
import { declareExport } from "./service-export.ts";
import { declareImport } from "./service-import.ts";
import { declareServiceList, serviceJson } from "./service-lists.ts";
import { declareRoutes } from "./service-routes.ts";
import { declareReprice } from "./service-prices.ts";
import { print } from "./output.ts";
import { fields } from "./text-table.ts";
import {
  category,
  price,
  providerName,
  providerService,
  quantity,
  refillDays,
  serviceId,
  serviceName,
  username,
} from "./values.ts";

interface ServiceOptions extends CommonOptions {
  id?: string;
  name?: string;
  category?: string;
  price?: number;
  min?: number;
  max?: number;
  per?: PriceUnit;
  type?: ServiceType;
  dripfeed?: boolean;
  private?: true;
  public?: true;
  provider?: string;
  providerService?: string;
  cancel?: boolean;
  refill?: boolean;
  refillDays?: number;
}

export function declareServices(admin: Command): void {
  const group = declareGroup(admin, "service", "the catalogue");
  declareCreate(group);
  declareUpdate(group);

  declareServiceList(group);
  declareReprice(group);
  declareSwitch(group, "activate", true, "offer a service again");
  declareSwitch(group, "deactivate", false, "stop offering a service; its orders go on");
  declareGrants(group);
  declareRoutes(group);
  declareImport(group);
  declareExport(group);
  declareDelete(group);
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
      const { provider: name, providerService: service } = options;
      const { type = DEFAULT_SERVICE_TYPE, dripfeed = false } = options;
      const { per = standardUnit(type) } = options;
      const { min, max } = boundsOf(command, options, type);
      refuseCrossedBounds(command, { min, max });
      const unfit = attempt(() => refuseUnfitType({ type, per, dripfeed }));
      if (unfit instanceof Refusal) command.error(`error: ${sentenceOf(unfit)}.`);
      if ((name === undefined) !== (service === undefined)) {
        command.error("error: give --provider and --provider-service together.");
      }
      await changeService(options, ({ execute }) =>
        execute("createService", {
          id: options.id ?? null,
          name: options.name!,
          ...(options.category === undefined ? {} : { category: options.category }),
          priceMicros: options.price!,
          per,
          min,
          max,
          ...(options.type === undefined ? {} : { type }),
          ...(options.dripfeed === undefined ? {} : { dripfeed }),
          private: options.private ?? false,
          ...requestTermsOf(options),
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
  addServiceOptions(command, false)
    .argument("<id>", "the service", serviceId)
    .addOption(new Option("--public", "open to every reseller").conflicts("private"))
    .action(async (id: string, options: ServiceOptions, command: Command) => {
      refuseCrossedBounds(command, options);
      const { name, category: group, price: priceMicros, per, min, max, type, dripfeed } = options;
      const hidden = options.private ? true : options.public ? false : undefined;
      const terms = { name, category: group, priceMicros, per, min, max, type, dripfeed };
      const changes = { ...terms, private: hidden, ...requestTermsOf(options) };
      const named = Object.entries(changes).filter(([, value]) => value !== undefined);
      const { provider: providerName, providerService: service } = options;
      const isManual = providerName === NO_PROVIDER;
      if (isManual && service !== undefined) {
        command.error("error: --provider none takes no --provider-service.");
      }
      if (providerName !== undefined && !isManual && service === undefined) {
        command.error("error: give --provider-service with --provider.");
      }
      if (named.length === 0 && service === undefined && !isManual) {
        command.error("error: name at least one thing to change.");
      }
      const link = providerName === undefined ? {} : { name: providerName };
      const linked = service === undefined ? {} : { provider: { ...link, service } };
      await changeService(options, ({ execute }) =>
        execute("updateService", {
          id,
          changes: Object.fromEntries(named),
          ...(isManual ? { provider: null } : linked),
        }),
      );
    });
}

function addServiceOptions(command: Command, mandatory: boolean): Command {
  const option = (flags: string, description: string, parse: (text: string) => unknown) =>
    new Option(flags, description).argParser(parse).makeOptionMandatory(mandatory);
  return command
    .addOption(option("--name <name>", "display name", serviceName))
    .addOption(option("--price <price>", "USD, at most six decimals", price))
    .option("--min <quantity>", "smallest order", quantity)
    .option("--max <quantity>", "largest order", quantity)
    .addOption(
      new Option(
        "--per <unit>",
        mandatory
          ? "what the price buys (default: 1000, of a package order)"
          : "what the price buys",
      ).choices(PRICE_UNITS),
    )
    .addOption(
      new Option(
        "--type <type>",
        mandatory ? "which fields its orders take (default: default)" : "which fields orders take",
      ).choices(SERVICE_TYPES),
    )
    .option("--dripfeed", "take orders in runs, one each interval")
    .option("--no-dripfeed", mandatory ? "do not (default)" : "do not")
    .option(
      "--category <category>",
      mandatory ? `where panels list it (default: ${DEFAULT_CATEGORY})` : "where panels list it",
      category,
    )
    .option("--private", "only for resellers with a grant")
    .option(
      "--provider <name>",
      mandatory ? "who delivers it (default: you, by hand)" : "who delivers it; none: you, by hand",
      providerName,
    )
    .option("--provider-service <id>", "its id at the provider", providerService)
    .option("--cancel", "its orders can be cancelled on request")
    .option("--no-cancel", "they cannot")
    .option("--refill", "what is lost of its orders is delivered again on request")
    .option("--no-refill", "it is not")
    .option(
      "--refill-days <days>",
      mandatory
        ? `for how many days after an order's end (default: ${REFILL_DAYS_DEFAULT})`
        : "for how many days after an order's end",
      refillDays,
    );
}

/** Those that were given. */
function requestTermsOf({ cancel, refill, refillDays: days }: ServiceOptions) {
  return {
    ...(cancel === undefined ? {} : { cancel }),
    ...(refill === undefined ? {} : { refill }),
    ...(days === undefined ? {} : { refillDays: days }),
  };
}

/** Of a new service: a package has one size, 1 unless it is given; any other must be given both. */
function boundsOf(
  command: Command,
  options: ServiceOptions,
  type: ServiceType,
): { min: number; max: number } {
  const { min, max } = options;
  if (isPackage(type)) return { min: min ?? max ?? 1, max: max ?? min ?? 1 };
  for (const [name, value] of Object.entries({ min, max })) {
    if (value === undefined) {
      command.error(`error: required option '--${name} <quantity>' not specified`);
    }
  }
  return { min: min!, max: max! };
}

/** Wrong usage, known without reading the database: exit 2. */
function refuseCrossedBounds(
  command: Command,
  { min, max }: Pick<ServiceOptions, "min" | "max">,
): void {
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

function declareDelete(group: Command): void {
  declare(
    group,
    "delete",
    "remove a service that was never ordered and has no grants; others can be deactivated",
    "reseller admin service delete followers",
  )
    .argument("<id>", "the service", serviceId)
    .action(async (id: string, options: CommonOptions) => {
      await withDatabase(options, ({ execute }) => execute("deleteService", { id }));
      print(options.json, { id, deleted: true }, fields);
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
