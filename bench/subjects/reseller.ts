// Ours: the compiled binary as shipped, defaults as shipped, its market made with its own command line.

import { cpSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  freshFolder,
  freshFolderInMemory,
  removeFolder,
  runToEnd,
  startChild,
} from "../tools/children.ts";
import {
  BALANCE,
  PRICE,
  RESELLERS,
  type Running,
  SERVICE,
  SERVICES,
  type Subject,
} from "./subject.ts";

export const BINARY = join(import.meta.dir, "../../dist/reseller");
const READY = /listening on (http:\S+)/;
/** Above any load: the rate limiter counts, but refuses nothing. */
const RATE_LIMIT = "1000000/s";

export const reseller: Subject = {
  name: "reseller",
  start: (env) => serveCopy(env),
};

export const resellerWithPortal: Subject = {
  name: "reseller --portal",
  start: (env) => serveCopy(env, undefined, ["--portal"]),
};

/** Serves a copy of the market. */
export async function serveCopy(
  env?: Record<string, string>,
  binary?: string,
  flags?: readonly string[],
): Promise<Running> {
  const folder = freshFolder();
  const { folder: template, keys } = await market(binary);
  cpSync(template, folder, { recursive: true });
  return serve(folder, keys, env, () => removeFolder(folder), binary, flags);
}

/** Serves what is in the folder, with more flags if given. */
export async function serve(
  folder: string,
  keys: string[],
  env?: Record<string, string>,
  after: () => void = () => {},
  binary = BINARY,
  flags: readonly string[] = [],
): Promise<Running> {
  const logs = freshFolderInMemory();
  const child = await startChild(
    [binary, "serve", "--port", "0", "--data", folder, ...(await rateLimit()), ...flags],
    { env, ready: READY, log: join(logs, "log") },
  );
  return {
    url: child.ready,
    keys,
    pids: [child.pid],
    async stop() {
      await child.stop();
      removeFolder(logs);
      after();
    },
  };
}

/** A data directory that nobody serves, and the keys of its resellers. */
export interface Market {
  folder: string;
  keys: string[];
}

const made = new Map<string, Promise<Market>>();

/** The market without orders, made once a run by each binary: an older one reads no newer database. */
export function market(binary = BINARY): Promise<Market> {
  const making = made.get(binary) ?? makeMarket(binary);
  made.set(binary, making);
  return making;
}

async function makeMarket(binary: string): Promise<Market> {
  const folder = freshFolder();
  const admin = (...words: string[]) =>
    // By variable: builds that are compared may not know the flag.
    runToEnd([binary, "admin", ...words, "--data", folder, "--json"], {
      RESELLER_CONFIRM_ABOVE: String(BALANCE),
    });
  await (await serve(folder, [], {}, () => {}, binary)).stop();
  const rows = Array.from({ length: SERVICES }, (_, index) =>
    index === 0
      ? `${SERVICE},${SERVICE},${PRICE},1,1000`
      : `service-${index},Service ${index} of a catalogue,${index}.5,10,10000`,
  );
  const catalogue = join(folder, "catalogue.csv");
  writeFileSync(catalogue, `id,name,price,min,max\n${rows.join("\n")}\n`);
  await admin("service", "import", catalogue);
  const keys: string[] = [];
  for (let index = 1; index <= RESELLERS; index += 1) {
    await admin("user", "create", `reseller${index}`);
    await admin("user", "credit", `reseller${index}`, String(BALANCE));
    const created = await admin("key", "create", "--user", `reseller${index}`, "--type", "order");
    keys.push((JSON.parse(created) as { key: string }).key);
  }
  return { folder, keys };
}

let limit: Promise<string[]> | undefined;

function rateLimit(): Promise<string[]> {
  return (limit ??= findRateLimit());
}

async function findRateLimit(): Promise<string[]> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: bun run build`);
  const help = await runToEnd([BINARY, "serve", "--help"]);
  return help.includes("--rate-limit") ? ["--rate-limit", RATE_LIMIT] : [];
}
