// `admin service list`: lists the catalogue, or with --user the services and prices of one reseller.

import { type Command, Option } from "commander";
import type { Reader } from "../../db/port/port.ts";
import {
  type ListedService,
  listServicesAfter,
  type ServiceFilter,
} from "../../db/catalogue/service-lists.ts";
import { findService, type Service } from "../../db/catalogue/services.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { priceFor } from "../../domain/catalogue/prices.ts";
import { smmTerms } from "../../domain/catalogue/services.ts";
import { requireProvider } from "../../operations/providers/providers.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addColumns, type ColumnOptions, type List, listTable } from "../output/list-columns.ts";
import {
  addPaging,
  addWindow,
  inWindow,
  type PageOptions,
  printMore,
  readPages,
  type WindowOptions,
} from "../output/list-pages.ts";
import { dollars, print } from "../output/output.ts";
import { type ProviderNames, providerNames } from "../providers/provider-names.ts";
import { providerName, searchText, serviceId, username } from "../kernel/values.ts";

export interface FilterOptions {
  search?: string;
  provider?: string;
  manual?: true;
  active?: true;
  inactive?: true;
  private?: true;
  public?: true;
  belowCost?: true;
}

interface ListOptions
  extends CommonOptions, PageOptions, WindowOptions, FilterOptions, ColumnOptions {
  user?: string;
  cursor?: string;
}

export function declareServiceList(group: Command): void {
  const command = addFilters(
    declare(group, "list", "list the catalogue", "reseller admin service list --user alice"),
  ).option(
    "--user <username>",
    "the services that this reseller may order, at its prices",
    username,
  );
  addColumns(command, SERVICE_LIST);
  addWindow(command);
  addPaging(command, { what: "id", parse: serviceId }).action(async (options: ListOptions) => {
    const { services, names, discountPpm } = await withDatabase(options, async ({ store }) => {
      const { filter, names, discountPpm } = await store.read((reader) => {
        const { user, cursor } = options;
        if (cursor !== undefined && !findService(reader, cursor))
          throw refusal("service_not_found");
        const payer = user === undefined ? null : requireUser(reader, user);
        const filter = { ...serviceFilter(reader, options), resellerAccount: payer?.account };
        return { filter, names: providerNames(reader), discountPpm: payer?.discountPpm ?? 0 };
      });
      const services = await readPages<ListedService, string | undefined>(
        options,
        options.cursor,
        async (after, most) => {
          const page = await store.read((reader) =>
            listServicesAfter(reader, filter, after ?? null, most),
          );
          return { ...page, rows: inWindow(options, page.rows, ({ createdAt }) => createdAt) };
        },
      );
      return { services, names, discountPpm };
    });
    const isForUser = options.user !== undefined;
    const priced = services.map((service) => ({ ...service, ...pricesOf(service, discountPpm) }));
    const shown = priced.map((service) => withProvider(service, names));
    print(
      options.json,
      shown.map((service) => (isForUser ? priceJson(service) : serviceJson(service))),
      () => listTable(isForUser ? PRICE_LIST : SERVICE_LIST, shown, options),
    );
    printMore(options, shown, () => shown.at(-1)!.id);
  });
}

/** Adds the filters of `service list` and `service reprice`. */
export function addFilters(command: Command): Command {
  return command
    .option(
      "--search <text>",
      "only services with this text in the name, or with this id",
      searchText,
    )
    .option("--provider <name>", "only services that this provider delivers", providerName)
    .addOption(new Option("--manual", "only services without a provider").conflicts("provider"))
    .addOption(new Option("--active", "only active ones").conflicts("inactive"))
    .addOption(new Option("--inactive", "only inactive ones").conflicts("active"))
    .addOption(new Option("--private", "only private ones").conflicts("public"))
    .addOption(new Option("--public", "only public ones").conflicts("private"))
    .option("--below-cost", "only those priced below the rate of their first provider");
}

/** Turns options into a filter. Refuses: provider_not_found. */
export function serviceFilter(reader: Reader, options: FilterOptions): ServiceFilter {
  const { provider } = options;
  return {
    search: options.search,
    providerId: provider === undefined ? null : requireProvider(reader, provider).providerId,
    manual: options.manual,
    active: options.active ? true : options.inactive ? false : null,
    private: options.private ? true : options.public ? false : null,
    belowCost: options.belowCost,
  };
}

type PricedService = ListedService & { standardPriceMicros: number };

/** Returns the price for the reseller, and the standard price. */
function pricesOf({ priceMicros: list, ownPriceMicros }: ListedService, discountPpm: number) {
  return {
    priceMicros: priceFor(list, ownPriceMicros, discountPpm),
    standardPriceMicros: list,
  };
}

function withProvider(service: PricedService, names: ProviderNames) {
  return { ...service, provider: names(service.providerId) };
}

type NamedService = ReturnType<typeof withProvider>;

export function serviceJson(service: Service & { provider: string | null }) {
  return {
    id: service.id,
    number: service.number,
    name: service.name,
    category: service.category,
    price: jsonAmount(service.priceMicros),
    per: service.per,
    min: service.min,
    max: service.max,
    type: service.type,
    dripfeed: service.dripfeed,
    active: service.active,
    private: service.private,
    provider: service.provider,
    providerService: service.providerService,
    cancel: service.cancel,
    refill: service.refill,
    refillDays: service.refillDays,
    apiV2: smmTerms(service) !== null,
  };
}

function priceJson(service: NamedService) {
  const standardPrice = jsonAmount(service.standardPriceMicros);
  return { ...serviceJson(service), standardPrice, own: service.ownPriceMicros !== null };
}

/** The columns of `service list`. The default ones fit into 80 columns; the id is last because it may be long. */
const SERVICE_LIST: List<NamedService> = {
  columns: {
    number: ({ number }) => number,
    id: ({ id }) => id,
    name: ({ name }) => name,
    category: ({ category }) => category,
    "price usd": ({ priceMicros }) => dollars(priceMicros),
    "standard usd": ({ standardPriceMicros }) => dollars(standardPriceMicros),
    per: ({ per }) => per,
    min: ({ min }) => min,
    max: ({ max }) => max,
    type: ({ type }) => type,
    dripfeed: ({ dripfeed }) => dripfeed,
    active: ({ active }) => active,
    private: (service) => service.private,
    provider: ({ provider }) => provider,
    "api v2": (service) =>
      smmTerms(service) ? "yes" : "no: its price is per order, but min and max differ",
  },
  shown: ["number", "name", "price usd", "per", "active", "provider", "id"],
  empty: "no services to list: create one with `reseller admin service create`",
};

/** The list for --user: the reseller's price beside the standard price. */
const PRICE_LIST: List<NamedService> = {
  ...SERVICE_LIST,
  shown: ["number", "name", "price usd", "standard usd", "per", "id"],
  empty: "no services that this reseller may order",
};
