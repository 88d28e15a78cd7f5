// The flags of `admin provider create` and `update` for syncs of the provider's services into the catalogue.

import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type CategoryMarkupChanges,
  PRICE_ROUNDINGS,
  type PriceRounding,
} from "../../domain/providers/pricing.ts";
import {
  NEW_SERVICES,
  type NewServices,
  type SyncSettings,
} from "../../domain/providers/providers.ts";
import { category, count, markup, syncEvery } from "../kernel/values.ts";

export interface SyncSettingOptions {
  markup?: string;
  /** In milliseconds; 0 turns scheduled syncs off. */
  syncEvery?: number;
  syncMaxPriceChange?: string;
  syncMaxDeactivated?: number;
  syncNew?: NewServices;
  readableIds?: boolean;
  roundPrices?: PriceRounding;
  categoryMarkup?: CategoryMarkupChanges;
}

export function addSyncSettings(command: Command): Command {
  return command
    .option("--markup <percent>", "percentage added to its rates in a sync", markup)
    .option(
      "--category-markup <category=percent>",
      "another markup for one category of its list, such as Likes=40%; Likes=none removes it; may be repeated",
      categoryMarkup,
    )
    .addOption(
      new Option(
        "--round-prices <how>",
        "round the prices of a sync up: to a multiple, or to the next price that ends so (x.x9: 1.29)",
      ).choices(PRICE_ROUNDINGS),
    )
    .option(
      "--sync-every <duration>",
      "let a running server sync on a schedule, such as every 6h; off: no schedule",
      syncEvery,
    )
    .option(
      "--sync-max-price-change <percent>",
      "a scheduled sync that changes a price by more than this waits for your approval",
      markup,
    )
    .option(
      "--sync-max-deactivated <number>",
      "a scheduled sync that deactivates more services than this waits for your approval",
      count,
    )
    .addOption(
      new Option("--sync-new <what>", "how to treat new services of the provider").choices(
        NEW_SERVICES,
      ),
    )
    .option("--readable-ids", "new services get ids made from their names")
    .option("--no-readable-ids", "new services get random ids");
}

/** The word that removes the markup of a category. */
const NO_MARKUP = "none";

/** Parses `CATEGORY=PERCENT`. A category may contain `=`, a percentage may not. */
function categoryMarkup(text: string, before: CategoryMarkupChanges = {}): CategoryMarkupChanges {
  const at = text.lastIndexOf("=");
  if (at < 0) throw new InvalidArgumentError("must be a category, = and a percentage.");
  const percent = text.slice(at + 1);
  const name = category(text.slice(0, at));
  return { ...before, [name]: percent === NO_MARKUP ? null : markup(percent) };
}

/** Returns the settings that were given. */
export function syncSettingsOf(options: SyncSettingOptions) {
  const settings = {
    markup: options.markup,
    syncEvery: options.syncEvery === 0 ? null : options.syncEvery,
    syncPriceLimit: options.syncMaxPriceChange,
    syncDeactivationLimit: options.syncMaxDeactivated,
    syncNew: options.syncNew,
    readableIds: options.readableIds,
    roundPrices: options.roundPrices,
    categoryMarkups: options.categoryMarkup,
  };
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<SyncSettings> & {
    roundPrices?: PriceRounding;
    categoryMarkups?: CategoryMarkupChanges;
  };
}
