// `admin service …`: creates, shows and changes services.

import { type Command, Option } from "commander";
import type { Awaitable } from "../../db/port/port.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { findProvider } from "../../db/providers/providers.ts";
import { paidPrice } from "../../db/catalogue/grants.ts";
import { findUser } from "../../db/users/users.ts";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import { attempt, Refusal, sentenceOf } from "../../domain/values/error-table.ts";
import { NO_PROVIDER } from "../../domain/providers/providers.ts";
import {
  DEFAULT_SERVICE_TYPE,
  refuseUnfitType,
  standardUnit,
} from "../../domain/catalogue/service-types.ts";
import { applyChanges, type UpdateService } from "../../operations/catalogue/services.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { confirmBelowCost } from "./below-cost.ts";
import { providerNames } from "../providers/provider-names.ts";
import { declareExport } from "./service-export.ts";
import { declareImport } from "./service-import.ts";
import { declareServiceList, serviceJson } from "./service-lists.ts";
import { declareRoutes } from "./service-routes.ts";
import { addConfirmation, confirm, type ConfirmOptions } from "../kernel/confirm.ts";
import {
  addServiceOptions,
  requireBounds,
  refuseCrossedBounds,
  requestTermsOf,
  type ServiceOptions,
} from "./service-terms.ts";
import { declareShow } from "./service-show.ts";
import { declareReprice } from "./service-prices.ts";
import { print, printError } from "../output/output.ts";
import { fields } from "../output/text-table.ts";
import { price, serviceId, username } from "../kernel/values.ts";

interface GrantOptions extends CommonOptions, ConfirmOptions {
  user: string;
  price?: number;
}

export function declareServices(admin: Command): void {
  const group = declareGroup(admin, "service", "the catalogue");
  declareCreate(group);
  declareUpdate(group);

  declareServiceList(group);
  declareShow(group);
  declareReprice(group);
  declareSwitch(group, "activate", true, "offer a service again");
  declareSwitch(group, "deactivate", false, "stop offering a service; its orders continue");
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
  addConfirmation(addServiceOptions(command, true))
    .option("--id <id>", "id of your choice (default: generated)", serviceId)
    .action(async (options: ServiceOptions, command: Command) => {
      const { provider: name, providerService: service } = options;
      const { type = DEFAULT_SERVICE_TYPE, dripfeed = false } = options;
      const { per = standardUnit(type) } = options;
      const { min, max } = requireBounds(command, options, type);
      refuseCrossedBounds(command, { min, max });
      const unfit = attempt(() => refuseUnfitType({ type, per, dripfeed }));
      if (unfit instanceof Refusal) command.error(`error: ${sentenceOf(unfit)}.`);
      if ((name === undefined) !== (service === undefined)) {
        command.error("error: --provider and --provider-service must be used together.");
      }
      const priceMicros = options.price!;
      if (name !== undefined && priceMicros > 0) {
        await confirmBelowCost(options, (reader) => {
          const providerId = findProvider(reader, name)?.providerId ?? null;
          const terms = { priceMicros, per, max, providerId, providerService: service! };
          const what = `sell ${options.name!} at ${formatMicros(priceMicros)} USD`;
          return [{ what, before: null, after: terms }];
        });
      }
      await changeService(options, ({ execute }) =>
        execute("createService", {
          id: options.id ?? null,
          name: options.name!,
          ...(options.category === undefined ? {} : { category: options.category }),
          priceMicros,
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
    "change a service; settings that are not given stay unchanged",
    "reseller admin service update followers --price 2.50",
  );
  addConfirmation(addServiceOptions(command, false))
    .argument("<id>", "the service", serviceId)
    .addOption(new Option("--public", "available to every reseller").conflicts("private"))
    .action(async (id: string, options: ServiceOptions, command: Command) => {
      refuseCrossedBounds(command, options);
      const { name, category, price: priceMicros, per, min, max, type, dripfeed } = options;
      const hidden = options.private ? true : options.public ? false : undefined;
      const terms = { name, category, priceMicros, per, min, max, type, dripfeed };
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
        command.error("error: give at least one option to change.");
      }
      const given = providerName === undefined ? {} : { name: providerName };
      const linked = service === undefined ? {} : { provider: { ...given, service } };
      const update = {
        changes: Object.fromEntries(named),
        ...(isManual ? { provider: null } : linked),
      };
      if (priceMicros === 0) await confirmFree(id, options);
      else await confirmUpdate(id, update, options);
      const note = isManual ? await formerProviderNote(id, options) : null;
      await changeService(options, ({ execute }) => execute("updateService", { id, ...update }));
      if (note !== null && !options.json) printError(note);
    });
}

/**
 * Returns a note for a service that is delivered by hand from now on: the next sync treats its entry in the provider's
 * list as new. Null if the service was already delivered by hand.
 */
async function formerProviderNote(id: string, options: ServiceOptions): Promise<string | null> {
  const provider = await withDatabase(options, ({ store }) =>
    store.read((reader) => {
      const service = findService(reader, id);
      const name = providerNames(reader)(service?.providerId ?? null);
      return name === null ? null : { name, number: service!.providerService };
    }),
  );
  if (provider === null) return null;
  const { name, number } = provider;
  return `note: the next sync of ${name} treats its service ${number} as new; to prevent that, use \`provider sync --only\` or \`provider update --sync-new ignore\``;
}

/** Asks before a price is set to 0, unless it is 0 already. */
async function confirmFree(id: string, options: ServiceOptions): Promise<void> {
  const service = await withDatabase(options, ({ store }) =>
    store.read((reader) => findService(reader, id)),
  );
  if (!service || service.priceMicros === 0) return;
  const now = formatMicros(service.priceMicros);
  await confirm(options, `set the price of ${id} from ${now} USD to 0`, "the service becomes free");
}

/** Asks before the service is sold below cost. What is refused is left to the command. */
async function confirmUpdate(
  id: string,
  { changes, provider }: Pick<UpdateService, "changes" | "provider">,
  options: ServiceOptions,
): Promise<void> {
  await confirmBelowCost(options, (reader) => {
    const before = findService(reader, id);
    if (!before) return [];
    const after = attempt(() => applyChanges(reader, before, changes, provider));
    if (after instanceof Refusal) return [];
    return [{ what: `sell ${id} at ${formatMicros(after.priceMicros)} USD`, before, after }];
  });
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
    "remove a service without orders and grants; any other can only be deactivated",
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

  const grant = declare(
    group,
    "grant",
    "make a private service available to a reseller, or set the reseller's own price",
    "reseller admin service grant followers --user alice --price 1.90",
  );
  addConfirmation(grant)
    .argument("<id>", "the service", serviceId)
    .addOption(user())
    .option("--price <price>", "price for this reseller (default: the service's price)", price)
    .action(async (id: string, options: GrantOptions) => {
      const { user: name, price: priceMicros = null } = options;
      if (priceMicros !== null) await confirmOwnPrice(id, name, priceMicros, options);
      await withDatabase(options, ({ execute }) =>
        execute("grantService", { id, username: name, priceMicros }),
      );
      const shown = priceMicros === null ? null : jsonAmount(priceMicros);
      print(options.json, { service: id, username: name, price: shown }, fields);
    });

  declare(group, "revoke", "revoke a grant", "reseller admin service revoke followers --user alice")
    .argument("<id>", "the service", serviceId)
    .addOption(user())
    .action(async (id: string, options: CommonOptions & { user: string }) => {
      await withDatabase(options, ({ execute }) =>
        execute("revokeService", { id, username: options.user }),
      );
      print(options.json, { service: id, username: options.user, revoked: true }, fields);
    });
}

/** Asks before a reseller pays less than the service costs, if it paid more before. */
async function confirmOwnPrice(
  id: string,
  name: string,
  priceMicros: number,
  options: GrantOptions,
): Promise<void> {
  await confirmBelowCost(options, (reader) => {
    const service = findService(reader, id);
    const user = findUser(reader, name);
    if (!service || !user) return [];
    const before = { ...service, priceMicros: paidPrice(reader, service, user) };
    const what = `sell ${id} to ${name} at ${formatMicros(priceMicros)} USD`;
    return [{ what, before, after: { ...service, priceMicros } }];
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
