// `admin provider sync`: the provider's list into the catalogue. The diff is shown before it is applied.

import { type Command, Option } from "commander";
import { settingOption } from "../config/settings.ts";
import {
  countsOf,
  CatalogueError,
  type SyncedFields,
  type SyncPlan,
} from "../domain/catalogue-sync.ts";
import { formatMicros } from "../domain/money.ts";
import { planCatalogue, requireProvider } from "../operations/providers.ts";
import { CommandFailure, declare, withDatabase } from "./command.ts";
import { print, printError } from "./output.ts";
import { startCounter } from "./progress.ts";
import { type CallOptions, callProvider, never } from "./providers.ts";
import { markup, providerName } from "./values.ts";

interface SyncOptions extends CallOptions {
  markup: string;
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
      new Option("--markup <percent>", "what is added to the provider's rate")
        .argParser(markup)
        .default("0", "0%"),
    )
    .option("--dry-run", "only show what it would do")
    .addOption(settingOption("provider-timeout"))
    .action(async (name: string, options: SyncOptions) => {
      const progress = startCounter("bytes received:");
      const { result: upstream } = await callProvider(name, options, (api) =>
        api.services(never(), (bytes) => progress.update(bytes)),
      ).finally(() => progress.end());
      const plan = await refusingBadLists(name, () =>
        withDatabase(options, ({ store }) =>
          store.read((reader) =>
            planCatalogue(reader, requireProvider(reader, name), upstream, options.markup),
          ),
        ),
      );
      showDiff(plan, options);
      if (!options.dryRun) {
        await withDatabase(options, ({ execute }) =>
          execute("syncCatalogue", { name, upstream, markup: options.markup, plan }),
        );
      }
      print(options.json, countsOf(plan), (counts) => {
        const text = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
        return `${options.dryRun ? "dry run, nothing was changed: " : ""}${text.join(", ")}`;
      });
    });
}

async function refusingBadLists<T>(name: string, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    throw new CommandFailure(
      `the list of provider ${name} cannot be taken: ${error.message}: nothing was changed, ask the provider or try later`,
    );
  }
}

/** On stdout for a person; with --json on stderr, because stdout is one JSON document. */
function showDiff(plan: SyncPlan, { json }: SyncOptions): void {
  const text = [...diffLines(plan)].join("\n");
  if (text === "") return;
  if (json) printError(text);
  else print(json, plan, () => text);
}

function* diffLines(plan: SyncPlan): Generator<string> {
  for (const { providerService, ...service } of plan.added) {
    yield `+ ${service.name} (provider's ${providerService}): ${termsOf(service)}`;
  }
  for (const { id, before, after, returns } of plan.updated) {
    yield `${returns ? "^" : "~"} ${after.name} (${id}): ${changesOf(before, after) || "returns"}`;
  }
  for (const { id, name } of plan.deactivated) yield `- ${name} (${id}): no longer listed`;
  for (const { service, name, reason } of plan.skipped) {
    yield `  ${name} (provider's ${service}) left out: ${reason}`;
  }
  for (const { entry, service, reason } of plan.unreadable) {
    const whose = service === null ? "" : ` (provider's ${service})`;
    yield `? entry ${entry}${whose} cannot be read, left out: ${reason}`;
  }
  if (plan.unreadable.some(({ service }) => service === null)) {
    yield "? an entry without a service id may be of any service: none was taken for one that is no longer listed";
  }
  for (const { id, name, priceMicros, rate } of plan.belowCost) {
    const ours = formatMicros(priceMicros);
    yield `! ${name}${id ? ` (${id})` : ""} costs ${ours}, the provider takes ${rate} for 1000`;
  }
}

function termsOf({ priceMicros, min, max }: SyncedFields): string {
  return `${formatMicros(priceMicros)} USD, ${min} to ${max}`;
}

function changesOf(before: SyncedFields, after: SyncedFields): string {
  const changes: string[] = [];
  if (before.name !== after.name) changes.push(`was called ${before.name}`);
  if (termsOf(before) !== termsOf(after)) {
    changes.push(`${termsOf(before)} → ${termsOf(after)}`);
  }
  return changes.join(", ");
}
