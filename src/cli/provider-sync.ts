// `admin provider sync`: the provider's list into the catalogue. The diff is shown before it is applied.

import { type Command, Option } from "commander";
import { settingOption } from "../config/flags.ts";
import type { Provider } from "../db/providers.ts";
import { countsOf, CatalogueError, type SyncPlan } from "../domain/catalogue-sync.ts";
import { expectedCurrency } from "../domain/costs.ts";
import { planCatalogue, requireProvider } from "../operations/providers.ts";
import { diffLines } from "./catalogue-diff.ts";
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
      const { plan, provider } = await refusingBadLists(name, () =>
        withDatabase(options, ({ store }) =>
          store.read((reader) => {
            const found = requireProvider(reader, name);
            const planned = planCatalogue(reader, found, upstream, options.markup);
            return { plan: planned, provider: found };
          }),
        ),
      );
      if (provider.rateToUsd !== "1") printError(rateNote(provider));
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

/** All amounts that follow are in USD. */
function rateNote(provider: Provider): string {
  const unit = expectedCurrency(provider) ?? "unit of its currency";
  return `its rates are taken at ${provider.rateToUsd} USD for 1 ${unit}`;
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
