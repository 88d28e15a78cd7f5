// Servers that are the compiled program, with callers over HTTP and a provider that counts what it is sent. Half of the
// orders have an Idempotency-Key and are sent again, to any of the servers, until that is answered; the others have a
// reference and are sent once.

import { readFileSync } from "node:fs";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { connect } from "../../../src/db/postgres/connection/connection.ts";
import { SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { BINARY, runBinary, startServerProcess } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { type Ask, linkOf, nameOf } from "./audit.ts";
import type { Journal } from "./journal.ts";
import type { Load, LoadOptions, Server } from "./load.ts";

const GRANTS = new URL("../../../deploy/postgres-role.sql", import.meta.url);
const RESELLERS = 3;
const CONNECTIONS = 6;
const PAUSE_MS = 4;
/** How long a caller waits: longer than a server is frozen. */
const RESPONSE_LIMIT_MS = 30_000;
const FROZEN_MS = 12_000;
export const SERVICES = [
  { id: "by-hand", options: [] },
  { id: "passed-on", options: ["--provider", "upstream", "--provider-service", "7"] },
];

export interface Caller {
  keys: string[];
  /** Names of orders that are to be sent again. */
  again: string[];
  next: number;
  /** Pause of each connection between two orders. */
  pauseMs: number;
}

export async function prepareBinaryLoad(options: LoadOptions): Promise<Load> {
  const { address, seed } = options;
  const serverAddress = (options.serverAddress ?? address).replace(
    "//postgres@",
    `//${SERVICE_ROLE}@`,
  );
  const upstream = await startUpstream();
  const keys = await fill(address, upstream.url);
  const caller: Caller = { keys, again: [], next: 0, pauseMs: PAUSE_MS };
  const folders = new Map<number, string>();
  const folderOf = (place: number) => {
    const folder = folders.get(place) ?? freshFolder();
    folders.set(place, folder);
    return folder;
  };
  const start = async (journal: Journal, place: number, isLast = false): Promise<Server> => {
    const server = await startServerProcess({
      binary: options.binaryOf?.(place) ?? BINARY,
      data: folderOf(place),
      arguments: ["--database", serverAddress, "--server", `server${place}`, "--backup-every", "0"],
    });
    const callers = startCallers(server.url, caller, journal, seed, isLast);
    return {
      async stop() {
        callers.end();
        await callers.ended;
        const code = await server.stop();
        if (code !== 0) throw new Error(`serve ended with exit ${code}: ${server.log()}`);
      },
      async kill() {
        callers.end();
        await server.kill();
        await callers.ended;
      },
      freeze: () => process.kill(server.pid, "SIGSTOP"),
      thaw: () => process.kill(server.pid, "SIGCONT"),
    };
  };
  return {
    frozenMs: FROZEN_MS,
    start,
    async settle(journal) {
      const last = await start(journal, 0, true);
      await last.stop();
      if (caller.again.length > 0) journal.faults.push(`${caller.again.length} never answered`);
      await upstream.stop();
    },
    submitted: () => upstream.adds().length,
    async problems(ask) {
      const command = ["verify", "--database", address, "--data", freshFolder()];
      const binary = options.binaryOf?.(0) ?? BINARY;
      const { exitCode, stderr } = await runBinary(command, { binary });
      const submitted = await submissionProblems(upstream.adds(), ask);
      return exitCode === 0 ? submitted : [`verify: ${stderr}`, ...submitted];
    },
  };
}

/** Those of the last server send again what is left, and nothing new. */
export function startCallers(
  url: string,
  caller: Caller,
  journal: Journal,
  seed: number,
  isLast: boolean,
) {
  let isEnding = false;
  const connection = async () => {
    while (!isEnding) {
      const name = caller.again.shift() ?? (isLast ? null : `${seed}-${caller.next++}`);
      if (name === null) return;
      if (!journal.entries.has(name)) journal.sent(name);
      await send(url, caller, journal, name);
      await Bun.sleep(caller.pauseMs);
    }
  };
  const ended = Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return {
    ended,
    end() {
      if (!isLast) isEnding = true;
    },
  };
}

async function send(url: string, caller: Caller, journal: Journal, name: string): Promise<void> {
  const number = Number(name.slice(name.lastIndexOf("-") + 1));
  const isRepeated = number % 2 === 0;
  const isPassedOn = number % 8 >= 6;
  const { id } = SERVICES[isPassedOn ? 1 : 0]!;
  const body = {
    service: id,
    link: linkOf(name),
    quantity: 10,
    ...(isRepeated ? {} : { reference: name }),
  };
  const headers = {
    "x-api-key": caller.keys[number % caller.keys.length]!,
    "content-type": "application/json",
    ...(isRepeated ? { "idempotency-key": name } : {}),
  };
  let status = 0;
  let text = "";
  try {
    const response = await fetch(`${url}/api/v1/orders`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(RESPONSE_LIMIT_MS),
    });
    status = response.status;
    text = await response.text();
  } catch {
    status = 0;
  }
  if (status === 200) {
    const { order } = JSON.parse(text) as { order: { orderId: number } };
    journal.answered(name, "acknowledged", Date.now(), order.orderId, isPassedOn);
  } else if (status === 503) {
    journal.answered(name, "refused", Date.now());
  } else if (status === 500) {
    journal.answered(name, "unknown", Date.now());
  } else if (status !== 0) {
    journal.faults.push(`${name}: ${status} ${text}`);
  }
  if (status === 200 || !isRepeated) return;
  // It may have been done: until the answer nothing is known.
  journal.sent(name);
  caller.again.push(name);
}

/** Each order was sent to the provider at most once; what it accepted is an order, and known as accepted or unknown. */
async function submissionProblems(
  adds: readonly Record<string, string>[],
  ask: Ask,
): Promise<string[]> {
  const problems: string[] = [];
  const times = new Map<string, number>();
  for (const { link } of adds) times.set(link!, (times.get(link!) ?? 0) + 1);
  const rows = (await ask("SELECT link, placement FROM orders WHERE provider_id IS NOT NULL")) as {
    link: string;
    placement: string;
  }[];
  const placements = new Map(rows.map(({ link, placement }) => [link, placement]));
  for (const [link, count] of times) {
    const placement = placements.get(link);
    if (count > 1) problems.push(`${nameOf(link)}: submitted ${count} times`);
    if (placement === undefined) problems.push(`${nameOf(link)}: submitted, but not there`);
    else if (!/^(placed|unknown|sending)$/.test(placement)) {
      problems.push(`${nameOf(link)}: submitted, but ${placement}`);
    }
  }
  for (const [link, placement] of placements) {
    if (placement === "placed" && !times.has(link))
      problems.push(`${nameOf(link)}: never submitted`);
  }
  return problems;
}

/** Through the command line, as an operator does; returns the resellers' keys. */
async function fill(address: string, upstreamUrl: string): Promise<string[]> {
  const data = freshFolder();
  const admin = async (command: string, stdin?: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await runBinary(
      ["admin", ...command.split(" "), "--database", address, "--data", data, "--json"],
      stdin === undefined ? {} : { stdin },
    );
    if (exitCode !== 0) throw new Error(`admin ${command}: ${stderr}`);
    return stdout;
  };
  // A database is made ready by its first server.
  const arguments_ = ["--database", address, "--server", "first"];
  const first = await startServerProcess({ data, arguments: arguments_ });
  await first.stop();
  await admin(`provider create upstream --url ${upstreamUrl} --key-stdin --no-check`, PROVIDER_KEY);
  for (const { id, options } of SERVICES) {
    const terms = "--name Followers --price 0.01 --per 1 --min 1 --max 1000";
    await admin(["service create", `--id ${id}`, terms, ...options].join(" "));
  }
  const keys: string[] = [];
  for (let each = 0; each < RESELLERS; each += 1) {
    await admin(`user create reseller${each}`);
    await admin(`user credit reseller${each} 1000000 --yes`);
    const shown = await admin(`key create --user reseller${each} --type order`);
    keys.push((JSON.parse(shown) as { key: string }).key);
  }
  await makeServiceRole(address);
  return keys;
}

/** The servers run with the rights that deploy/postgres-role.sql gives. */
export async function makeServiceRole(address: string): Promise<void> {
  const options = { turnMs: 10_000, connectMs: 10_000, name: "role", settings: {} };
  const connection = await connect(parseAddress(address), options);
  // A test's cluster has the role.
  await connection.reserved.unsafe(`DO $$ BEGIN CREATE ROLE ${SERVICE_ROLE} LOGIN;
    EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
  await connection.reserved.unsafe(readFileSync(GRANTS, "utf8"));
  connection.close();
}
