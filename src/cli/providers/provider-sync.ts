// `admin provider sync`: syncs a provider's list into the catalogue. The diff is shown before it is applied.

import { type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import type { Provider } from "../../db/providers/providers.ts";
import { CatalogueError } from "../../domain/providers/upstream-services.ts";
import type { SyncedFields, SyncPlan } from "../../domain/providers/sync-plan.ts";
import { expectedCurrency } from "../../domain/delivery/costs.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { countsOf, delistedRoutes } from "../../domain/providers/sync-counts.ts";
import type { NewServices } from "../../domain/providers/providers.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  planCatalogue,
  requireProvider,
  type SyncOptions as PlanOptions,
} from "../../operations/providers/providers.ts";
import { ask } from "../kernel/ask.ts";
import { diffLines } from "./catalogue-diff.ts";
import { asFailure, CommandFailure, declare, withDatabase } from "../kernel/command.ts";
import { databaseOf } from "../kernel/database-name.ts";
import { print, printError } from "../output/output.ts";
import { startCounter } from "../output/progress.ts";
import { wordsOf } from "../output/text-table.ts";
import { type CallOptions, callProvider, neverAborted } from "./provider-call.ts";
import { markup, providerName, providerServices } from "../kernel/values.ts";

interface SyncOptions extends CallOptions {
  markup?: string;
  only?: string[];
  private?: true;
  readableIds?: boolean;
  dryRun?: true;
}

export function declareSync(group: Command): void {
  declare(
    group,
    "sync",
    "bring a provider's services into the catalogue",
    "reseller admin provider sync acme --markup 30% --dry-run",
  )
    .argument("<name>", "the provider", providerName)
    .addOption(
      new Option(
        "--markup <percent>",
        "percentage added to the provider's rates; stored unless --only is used (default: the stored one)",
      ).argParser(markup),
    )
    .option(
      "--only <ids>",
      "only these services, by the provider's ids, separated by commas",
      providerServices,
    )
    .option("--private", "make new services private: only resellers with a grant can order them")
    .option("--readable-ids", "new services get ids made from their names")
    .option("--no-readable-ids", "new services get random ids")
    .option("--dry-run", "only show what would change")
    .addOption(settingOption("provider-timeout"))
    .action(async (name: string, options: SyncOptions) => {
      const provider = await withDatabase(options, ({ store }) =>
        store.read((reader) => requireProvider(reader, name)),
      );
      // Refused before the list is read, because the change would be refused anyway.
      if (!provider.active) {
        throw asFailure(refusal("provider_inactive"), databaseOf(options));
      }
      const settings = {
        ...optionsOf(provider, options),
        markup: await markupOf(provider, options),
      };
      const progress = startCounter("bytes received:");
      const { result: upstream } = await callProvider(name, options, (api) =>
        api.services(neverAborted(), (bytes) => progress.update(bytes)),
      ).finally(() => progress.end());
      const plan = await refusingBadLists(name, () =>
        withDatabase(options, ({ store }) =>
          store.read((reader) =>
            planCatalogue(reader, requireProvider(reader, name), upstream, settings),
          ),
        ),
      );
      if (provider.rateToUsd !== "1" && !options.json) printError(rateNote(provider));
      showDiff(plan, options);
      if (!options.dryRun) {
        await withDatabase(options, ({ execute }) =>
          execute("syncCatalogue", { name, upstream, ...settings, plan }),
        );
      }
      const result = {
        ...countsOf(plan),
        markup: Number(settings.markup),
        plan: planJson(plan),
      };
      print(options.json, result, () => summaryOf(plan, provider, settings.markup, options));
    });
}

/** Returns a note about the exchange rate, printed before amounts in USD. */
function rateNote(provider: Provider): string {
  const unit = expectedCurrency(provider) ?? "unit of its currency";
  return `its rates are taken at ${provider.rateToUsd} USD for 1 ${unit}`;
}

function summaryOf(
  plan: SyncPlan,
  provider: Provider,
  markupPercent: string,
  { dryRun, only }: SyncOptions,
): string {
  const counts = Object.entries(countsOf(plan)).map(([what, count]) => `${count} ${wordsOf(what)}`);
  const isStored = provider.markup === markupPercent;
  const isKept = !dryRun && only === undefined;
  const storedForAll = provider.markup === null ? "" : `: ${provider.markup}% stays stored for all`;
  const changed = only === undefined ? "not stored" : `for these services only${storedForAll}`;
  const stored = isStored ? "as stored" : isKept ? "stored from now on" : changed;
  const priced = `markup ${markupPercent}%, ${stored}`;
  return `${dryRun ? "dry run, nothing was changed: " : ""}${counts.join(", ")} (${priced})`;
}

function optionsOf(provider: Provider, options: SyncOptions): Omit<PlanOptions, "markup"> {
  const { only, readableIds = provider.readableIds } = options;
  // Adds services named by --only, even if new services are ignored by default.
  const isIgnored = provider.syncNew === "ignore" && only === undefined;
  const open: NewServices = isIgnored ? "ignore" : "public";
  const isPrivate = options.private || provider.syncNew === "private";
  return { only, newServices: isPrivate ? "private" : open, readableIds };
}

/** Returns the markup. Without one a dry run uses 0; otherwise the person is asked, because the markup sets prices. */
async function markupOf(provider: Provider, options: SyncOptions): Promise<string> {
  const known = options.markup ?? provider.markup;
  if (known !== null) return known;
  if (options.dryRun) return "0";
  const answer = await ask(`What is added to the rates of ${provider.name}, such as 30%?`);
  if (answer !== null) {
    try {
      return markup(answer);
    } catch (error) {
      throw new CommandFailure(`the markup ${(error as Error).message} Nothing was changed`);
    }
  }
  throw new CommandFailure(
    `no markup is stored for provider ${provider.name}: give --markup, such as --markup 30%, or 0% to sell at its rates; nothing was changed`,
  );
}

/** Runs `body`. Throws CatalogueError as CommandFailure. */
async function refusingBadLists<T>(name: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new CommandFailure(
      `the list of provider ${name} cannot be used: ${error.message}. Nothing was changed; ask the provider or try later`,
    );
  }
}

/** Prints the diff for a person. With --json the result contains the plan. */
function showDiff(plan: SyncPlan, { json }: SyncOptions): void {
  if (json) return;
  const text = [...diffLines(plan)].join("\n");
  if (text !== "") print(json, plan, () => text);
}

/** Returns the plan with amounts in USD. */
function planJson(plan: SyncPlan) {
  return {
    added: plan.added.map((service) => ({
      id: service.id ?? null,
      providerService: service.providerService,
      ...fieldsJson(service),
    })),
    updated: plan.updated.map(({ id, before, after, returns }) => ({
      id,
      returns,
      before: fieldsJson(before),
      after: fieldsJson(after),
    })),
    deactivated: plan.deactivated,
    returned: plan.returned,
    delisted: delistedRoutes(plan).map(({ id, name, providerService }) => ({
      id,
      name,
      providerService,
    })),
    skipped: plan.skipped,
    unreadable: plan.unreadable,
    belowCost: plan.belowCost.map(({ id, name, priceMicros, rate }) => ({
      id,
      name,
      price: jsonAmount(priceMicros),
      rate,
    })),
  };
}

function fieldsJson({ name, category, priceMicros, min, max }: SyncedFields) {
  return { name, category, price: jsonAmount(priceMicros), min, max };
}
