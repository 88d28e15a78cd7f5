// `health`: asks the running server whether it lives. Exit 0 if it does, 1 if not.

import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { addressPath } from "../db/open.ts";
import { CommandFailure, type CommonOptions, declare } from "./command.ts";
import { print } from "./output.ts";

const TIMEOUT_MILLISECONDS = 5000;

export function declareHealth(program: Command): void {
  declare(
    program,
    "health",
    "ask the running server whether it lives",
    "reseller health --data /var/lib/reseller",
  )
    .option("--url <url>", "ask this server (default: the one that holds the data directory)")
    .action(async (options: CommonOptions & { url?: string }) => {
      const url = options.url ?? addressIn(options.data);
      await ask(url);
      print(options.json, { url, healthy: true }, () => `${url} is healthy`);
    });
}

function addressIn(data: string): string {
  const path = addressPath(data);
  if (!existsSync(path)) {
    throw new CommandFailure(
      `no server left its address at ${path}: start \`reseller serve\`, or name one with --url`,
    );
  }
  return readFileSync(path, "utf8").trim();
}

async function ask(url: string): Promise<void> {
  const failure = (why: string) =>
    new CommandFailure(`${url} is not healthy (${why}): see the server's log`);
  let response: Response;
  try {
    response = await fetch(new URL("/livez", url), {
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
  } catch (error) {
    throw failure(error instanceof Error ? error.message : String(error));
  }
  if (!response.ok) throw failure(`HTTP ${response.status}`);
}
