// `admin provider …`: the commands for providers.

import { type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import { listProviders, getProvider } from "../../db/providers/providers.ts";
import { isProviderKey } from "../../domain/providers/providers.ts";
import { IDENTIFIER_FORM } from "../../domain/values/text.ts";
import { requireProvider } from "../../operations/providers/providers.ts";
import {
  connectProvider,
  PROTOCOL_DEFAULT,
  PROTOCOL_NAMES,
  type ProviderAddress,
} from "../../providers/protocols.ts";
import type { ProviderBalance } from "../../providers/provider.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { addWindow, inWindow, type WindowOptions } from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import { addCurrency, type CurrencyOptions, currencyOf } from "./provider-currency.ts";
import { addHold, holdOf, type HoldOptions } from "./fund-holds.ts";
import { factsOf, providerJson, rowOf, statusesOf, statusOf } from "./provider-output.ts";
import { readSecretFromStdin } from "../kernel/stdin.ts";
import { addSyncSettings, type SyncSettingOptions, syncSettingsOf } from "./sync-settings.ts";
import { fields, type Row, table } from "../output/text-table.ts";
import { providerFailure, callProvider, type CallOptions, neverAborted } from "./provider-call.ts";
import { declareSync } from "./provider-sync.ts";
import { amount, pauseFor, providerName, providerUrl } from "../kernel/values.ts";

export function declareProviders(admin: Command): void {
  const group = declareGroup(admin, "provider", "upstream services that deliver orders");
  declareCreate(group);
  declareUpdate(group);
  declareList(group);
  declareShow(group);
  declareBalance(group);
  declareSync(group);
  declareSwitch(group, "deactivate", false, "stop offering its services; its orders continue");
  declareSwitch(
    group,
    "activate",
    true,
    "accept orders for its services again, also those that its deactivation suspended",
  );
  declarePause(group);
  declareResume(group);
  declareDelete(group);
}

type SettingOptions = CurrencyOptions & SyncSettingOptions & HoldOptions;

/** Adds the flags of settings that `create` and `update` share. */
function addSettings(command: Command): Command {
  return addHold(addCurrency(addSyncSettings(command)));
}

function settingsOf(options: SettingOptions) {
  return { ...syncSettingsOf(options), ...currencyOf(options), ...holdOf(options) };
}

function declareCreate(group: Command): void {
  addSettings(
    declare(
      group,
      "create",
      "add a provider; its key is read from stdin and tested by asking for our balance",
      "reseller admin provider create acme --url https://acme.example/api/v2 --key-stdin < acme.key",
    ),
  )
    .argument("<name>", IDENTIFIER_FORM, providerName)
    .addOption(
      new Option("--url <url>", "URL of its API").argParser(providerUrl).makeOptionMandatory(),
    )
    .addOption(
      new Option("--key-stdin", "read the key from stdin, up to its end").makeOptionMandatory(),
    )
    .addOption(
      new Option("--protocol <name>", "protocol of its API")
        .choices(PROTOCOL_NAMES)
        .default(PROTOCOL_DEFAULT),
    )
    .option("--no-check", "add it without asking for our balance")
    .addOption(settingOption("provider-timeout"))
    .action(
      async (
        name: string,
        options: CallOptions & SettingOptions & { url: string; protocol: string; check: boolean },
        command: Command,
      ) => {
        const { url, protocol } = options;
        const key = await readKey(command);
        const settings = settingsOf(options);
        // Checked before the provider is created, so that a wrong address or key is not stored.
        const funds = options.check ? await balanceOf({ name, url, protocol, key }, options) : null;
        const provider = await withDatabase(options, async ({ store, now, execute }) => {
          const created = await execute("createProvider", {
            name,
            protocol,
            url,
            key,
            ...settings,
          });
          if (funds) await execute("noteProviderSuccess", { providerId: created.providerId });
          const { providerId } = created;
          return store.read((reader) => statusOf(reader, getProvider(reader, providerId), now()));
        });
        const asked = funds === null ? {} : { balance: funds.balance, currency: funds.currency };
        print(options.json, { ...providerJson(provider), ...asked }, (shown) =>
          fields({ ...rowOf(shown), ...balanceRow(asked) }),
        );
      },
    );
}

function declareUpdate(group: Command): void {
  addSettings(
    declare(
      group,
      "update",
      "change a provider; running servers apply it within a second",
      "reseller admin provider update acme --markup 30% --sync-every 6h",
    ),
  )
    .argument("<name>", "the provider", providerName)
    .option("--url <url>", "URL of its API; needs --key-stdin", providerUrl)
    .option("--key-stdin", "read another key from stdin, up to its end")
    .option("--rename <name>", `another name: ${IDENTIFIER_FORM}`, providerName)
    .addOption(
      new Option(
        "--low-balance <amount>",
        "alert when our balance at the provider falls below this, in its currency",
      ).argParser(amount),
    )
    .option("--no-low-balance", "do not alert on a low balance")
    .action(
      async (
        name: string,
        options: CommonOptions &
          SettingOptions & {
            url?: string;
            keyStdin?: true;
            rename?: string;
            lowBalance?: number | false;
          },
        command: Command,
      ) => {
        const { url, keyStdin, rename, lowBalance: low } = options;
        const settings = settingsOf(options);
        const isEmpty = [url, keyStdin, rename, low].every((given) => given === undefined);
        if (isEmpty && Object.keys(settings).length === 0) {
          command.error(
            "error: give --url, --key-stdin, --rename, --rate-to-usd, --currency, --low-balance, --on-no-funds, --hold-for, --hold-limit, --markup or a flag of scheduled syncs.",
          );
        }
        if (url !== undefined && !keyStdin) {
          command.error(
            "error: --url needs --key-stdin: a stored key is never sent to a new address.",
          );
        }
        const changes = {
          ...settings,
          ...(url === undefined ? {} : { url }),
          ...(keyStdin ? { key: await readKey(command) } : {}),
          ...(rename === undefined ? {} : { name: rename }),
          ...(low === undefined ? {} : { lowBalanceMicros: low || null }),
        };
        const provider = await withDatabase(options, async ({ store, now, execute }) => {
          const { providerId } = await execute("updateProvider", { name, changes });
          return store.read((reader) => statusOf(reader, getProvider(reader, providerId), now()));
        });
        print(options.json, providerJson(provider), (shown) => fields(factsOf(shown)));
      },
    );
}

function declareSwitch(group: Command, verb: string, active: boolean, description: string): void {
  declare(group, verb, description, `reseller admin provider ${verb} acme`)
    .argument("<name>", "the provider", providerName)
    .action(async (name: string, options: CommonOptions) => {
      const { services } = await withDatabase(options, ({ execute }) =>
        execute("setProviderActive", { name, active }),
      );
      print(options.json, { name, active, services }, fields);
    });
}

function declarePause(group: Command): void {
  declare(
    group,
    "pause",
    "stop sending orders to a provider; queued orders go to the next route or wait",
    "reseller admin provider pause acme --for 2h",
  )
    .argument("<name>", "the provider", providerName)
    .option(
      "--for <duration>",
      "how long to pause; default: until you resume the provider",
      pauseFor,
    )
    .action(async (name: string, options: CommonOptions & { for?: number }) => {
      const forMs = options.for ?? null;
      await setPaused(options, { name, paused: true, forMs });
    });
}

function declareResume(group: Command): void {
  declare(
    group,
    "resume",
    "send orders to a paused provider again, whatever paused it",
    "reseller admin provider resume acme",
  )
    .argument("<name>", "the provider", providerName)
    .action((name: string, options: CommonOptions) => setPaused(options, { name, paused: false }));
}

async function setPaused(
  options: CommonOptions,
  change: { name: string; paused: boolean; forMs?: number | null },
): Promise<void> {
  const provider = await withDatabase(options, async ({ execute, store }) => {
    await execute("setProviderPaused", change);
    return store.read((reader) => requireProvider(reader, change.name));
  });
  const { name, paused } = change;
  const pausedUntil = isoTime(provider.pausedUntil);
  print(options.json, { name, paused, ...(pausedUntil !== null && { pausedUntil }) }, fields);
}

function declareDelete(group: Command): void {
  declare(
    group,
    "delete",
    "remove a provider without services and orders; any other can only be deactivated",
    "reseller admin provider delete acme",
  )
    .argument("<name>", "the provider", providerName)
    .action(async (name: string, options: CommonOptions) => {
      await withDatabase(options, ({ execute }) => execute("deleteProvider", { name }));
      print(options.json, { name, deleted: true }, fields);
    });
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list providers and what needs attention",
    "reseller admin provider list",
  );
  addWindow(command).action(async (options: CommonOptions & WindowOptions) => {
    const providers = await withDatabase(options, ({ store, now }) =>
      store.read((reader) => {
        const created = inWindow(options, listProviders(reader), ({ createdAt }) => createdAt);
        return statusesOf(reader, created, now());
      }),
    );
    print(options.json, providers.map(providerJson), (rows) =>
      table(
        rows.map((row) => ({ ...rowOf(row), attention: row.attention.join("; ") })),
        "no providers yet: create one with `reseller admin provider create`",
      ),
    );
  });
}

function declareShow(group: Command): void {
  declare(
    group,
    "show",
    "show one provider, its settings and what needs attention",
    "reseller admin provider show acme",
  )
    .argument("<name>", "the provider", providerName)
    .action(async (name: string, options: CommonOptions) => {
      const provider = await withDatabase(options, ({ store, now }) =>
        store.read((reader) => statusOf(reader, requireProvider(reader, name), now())),
      );
      print(options.json, providerJson(provider), (shown) => fields(factsOf(shown)));
    });
}

function declareBalance(group: Command): void {
  declare(
    group,
    "balance",
    "ask a provider for our balance",
    "reseller admin provider balance acme",
  )
    .argument("<name>", "the provider", providerName)
    .addOption(settingOption("provider-timeout"))
    .action(async (name: string, options: CallOptions) => {
      const funds = await callProvider(name, options, (api) => api.balance(neverAborted()));
      await withDatabase(options, async ({ store, execute }) => {
        const { providerId } = await store.read((reader) => requireProvider(reader, name));
        await execute("noteProviderSuccess", { providerId });
      });
      print(options.json, { name: funds.name, ...funds.result }, fields);
    });
}

/** Asks for the balance at a provider that is about to be created. */
async function balanceOf(
  provider: ProviderAddress & { name: string },
  options: CallOptions,
): Promise<ProviderBalance> {
  try {
    return await connectProvider(provider, options.providerTimeout).balance(neverAborted());
  } catch (error) {
    throw providerFailure(
      error,
      provider,
      "check its address and its key, or add it with --no-check",
    );
  }
}

function balanceRow({ balance, currency }: Partial<ProviderBalance>): Row {
  return balance === undefined ? {} : { balance: `${balance} ${currency}`.trim() };
}

async function readKey(command: Command): Promise<string> {
  const key = (await readSecretFromStdin())?.trim() ?? "";
  if (!isProviderKey(key)) {
    command.error("error: stdin must hold the key: 1 to 1024 visible characters.");
  }
  return key;
}
