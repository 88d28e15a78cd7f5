// `admin provider …`

import { type Command, Option } from "commander";
import { settingOption } from "../config/flags.ts";
import { countLate } from "../db/late-reports.ts";
import { oldestDuePoll } from "../db/polling.ts";
import type { Reader } from "../db/port.ts";
import { listProviders, type Provider, providerOf, readProviderOrders } from "../db/providers.ts";
import { listUnrecognizedNumbers } from "../db/unrecognized-numbers.ts";
import { isProviderKey } from "../domain/providers.ts";
import { IDENTIFIER_FORM } from "../domain/text.ts";
import { requireProvider } from "../operations/providers.ts";
import { connectProvider, PROTOCOL_DEFAULT, PROTOCOL_NAMES } from "../providers/protocols.ts";
import { type ProviderApi, ProviderFailure } from "../providers/provider.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  declareGroup,
  withDatabase,
} from "./command.ts";
import { print } from "./output.ts";
import { readStdin } from "./stdin.ts";
import { fields, table } from "./text-table.ts";
import { declareSync } from "./provider-sync.ts";
import { providerName, providerUrl } from "./values.ts";

/** Polls that are overdue by this long are late, whatever the running server's poll interval. */
const LATE_MS = 5 * 60_000;

/** Numbers that a provider does not know that are named. */
const UNRECOGNIZED_SHOWN = 5;

export interface CallOptions extends CommonOptions {
  providerTimeout: number;
}

export function declareProviders(admin: Command): void {
  const group = declareGroup(admin, "provider", "upstream services that deliver orders");
  declareCreate(group);
  declareUpdate(group);
  declareList(group);
  declareBalance(group);
  declareSync(group);
}

function declareCreate(group: Command): void {
  declare(
    group,
    "create",
    "add a provider; its key is read from stdin",
    "reseller admin provider create acme --url https://acme.example/api/v2 --key-stdin < acme.key",
  )
    .argument("<name>", IDENTIFIER_FORM, providerName)
    .addOption(
      new Option("--url <url>", "where its API is").argParser(providerUrl).makeOptionMandatory(),
    )
    .addOption(
      new Option("--key-stdin", "read the key from stdin, up to its end").makeOptionMandatory(),
    )
    .addOption(
      new Option("--protocol <name>", "what it speaks")
        .choices(PROTOCOL_NAMES)
        .default(PROTOCOL_DEFAULT),
    )
    .action(
      async (
        name: string,
        options: CommonOptions & { url: string; protocol: string },
        command: Command,
      ) => {
        const { url, protocol } = options;
        const key = await readKey(command);
        const provider = await withDatabase(options, async ({ store, execute }) => {
          const created = await execute("createProvider", { name, protocol, url, key });
          const now = Date.now();
          return store.read((reader) => statusOf(reader, created, now));
        });
        print(options.json, providerJson(provider), fields);
      },
    );
}

function declareUpdate(group: Command): void {
  declare(
    group,
    "update",
    "change a provider; a running server takes it over within a second",
    "reseller admin provider update acme --key-stdin < acme.key",
  )
    .argument("<name>", "the provider", providerName)
    .option("--url <url>", "where its API is", providerUrl)
    .option("--key-stdin", "read another key from stdin, up to its end")
    .option("--rename <name>", `another name: ${IDENTIFIER_FORM}`, providerName)
    .action(
      async (
        name: string,
        options: CommonOptions & { url?: string; keyStdin?: true; rename?: string },
        command: Command,
      ) => {
        const { url, keyStdin, rename } = options;
        if (url === undefined && !keyStdin && rename === undefined) {
          command.error("error: give --url, --key-stdin or --rename.");
        }
        const changes = {
          ...(url === undefined ? {} : { url }),
          ...(keyStdin ? { key: await readKey(command) } : {}),
          ...(rename === undefined ? {} : { name: rename }),
        };
        const provider = await withDatabase(options, async ({ store, execute }) => {
          const { providerId } = await execute("updateProvider", { name, changes });
          const now = Date.now();
          return store.read((reader) => statusOf(reader, providerOf(reader, providerId), now));
        });
        print(options.json, providerJson(provider), fields);
      },
    );
}

function declareList(group: Command): void {
  declare(
    group,
    "list",
    "list providers and what needs attention",
    "reseller admin provider list",
  ).action(async (options: CommonOptions) => {
    const now = Date.now();
    const providers = await withDatabase(options, ({ store }) =>
      store.read((reader) =>
        reader.each(listProviders(reader), (provider) => statusOf(reader, provider, now)),
      ),
    );
    print(options.json, providers.map(providerJson), (rows) =>
      table(
        rows.map((row, index) => ({ ...row, attention: providers[index]!.attention.join("; ") })),
        "no providers yet: create one with `reseller admin provider create`",
      ),
    );
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
      const funds = await callProvider(name, options, (api) => api.balance(never()));
      await withDatabase(options, async ({ store, execute }) => {
        const { providerId } = await store.read((reader) => requireProvider(reader, name));
        await execute("noteProviderSuccess", { providerId });
      });
      print(options.json, { name: funds.name, ...funds.result }, fields);
    });
}

/** Calls a provider, without an open database meanwhile. Throws ProviderFailure as CommandFailure. */
export async function callProvider<T>(
  name: string,
  options: CallOptions,
  call: (api: ProviderApi) => Promise<T>,
): Promise<{ name: string; result: T }> {
  const provider = await withDatabase(options, ({ store }) =>
    store.read((reader) => requireProvider(reader, name)),
  );
  try {
    const result = await call(connectProvider(provider, options.providerTimeout));
    return { name: provider.name, result };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    throw new CommandFailure(
      `provider ${provider.name} at ${provider.url}: ${error.message}: nothing was changed, check its address, its key and its own status`,
    );
  }
}

/** A signal that never aborts: Ctrl-C ends the process. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

interface ProviderStatus extends Provider {
  open: number;
  unknown: number;
  oldestUncheckedAt: number | null;
  /** What needs the operator's attention. */
  attention: string[];
}

function statusOf(reader: Reader, provider: Provider, now: number): ProviderStatus {
  const orders = readProviderOrders(reader, provider.providerId);
  const { outOfFundsAt } = provider;
  const due = oldestDuePoll(reader, provider.providerId);
  const late = countLate(reader, provider.providerId);
  const unrecognized = listUnrecognizedNumbers(reader, provider.providerId, UNRECOGNIZED_SHOWN);
  const attention: string[] = [];
  if (orders.unknown > 0) attention.push(`${orders.unknown} unknown, settle them`);
  for (const { orderId, providerOrder } of unrecognized) {
    attention.push(
      `does not know ${providerOrder} of order ${orderId}, correct it with \`order settle --placed\``,
    );
  }
  if (outOfFundsAt !== null) attention.push(`out of funds since ${isoOf(outOfFundsAt)}`);
  if (due !== null && now - due > LATE_MS) {
    attention.push(`looking at orders is late since ${isoOf(due)}`);
  }
  if (late > 0)
    attention.push(
      `${late} changed after their end, see \`order list --late\`, then \`order late\` each`,
    );
  return { ...provider, ...orders, attention };
}

/** Without the key. */
function providerJson(provider: ProviderStatus) {
  return {
    name: provider.name,
    url: provider.url,
    open: provider.open,
    unknown: provider.unknown,
    lastSuccessAt: isoOf(provider.lastSuccessAt),
    oldestUncheckedAt: isoOf(provider.oldestUncheckedAt),
  };
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

async function readKey(command: Command): Promise<string> {
  const key = (await readStdin())?.trim() ?? "";
  if (!isProviderKey(key)) {
    command.error("error: stdin must hold the key: 1 to 1024 visible characters.");
  }
  return key;
}
