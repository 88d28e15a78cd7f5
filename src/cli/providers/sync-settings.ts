// The flags of `admin provider create` and `update` for syncs of the provider's services into the catalogue.

import { type Command, Option } from "commander";
import {
  NEW_SERVICES,
  type NewServices,
  type SyncSettings,
} from "../../domain/providers/providers.ts";
import { count, markup, syncEvery } from "../kernel/values.ts";

export interface SyncSettingOptions {
  markup?: string;
  /** In milliseconds; 0 turns scheduled syncs off. */
  syncEvery?: number;
  syncMaxPriceChange?: string;
  syncMaxDeactivated?: number;
  syncNew?: NewServices;
  readableIds?: boolean;
}

export function addSyncSettings(command: Command): Command {
  return command
    .option("--markup <percent>", "percentage added to its rates in a sync", markup)
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

/** Returns the settings that were given. */
export function syncSettingsOf(options: SyncSettingOptions): Partial<SyncSettings> {
  const settings = {
    markup: options.markup,
    syncEvery: options.syncEvery === 0 ? null : options.syncEvery,
    syncPriceLimit: options.syncMaxPriceChange,
    syncDeactivationLimit: options.syncMaxDeactivated,
    syncNew: options.syncNew,
    readableIds: options.readableIds,
  };
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined),
  ) as Partial<SyncSettings>;
}
