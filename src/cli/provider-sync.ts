// `admin provider sync`: the provider's list into the catalogue. The diff is shown before it is applied.

import { type Command, Option } from "commander";
import { settingOption } from "../config/flags.ts";
import { countsOf, CatalogueError, type SyncPlan } from "../domain/catalogue-sync.ts";
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
