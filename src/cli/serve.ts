// `serve`: the server, until a signal stops it.

import type { Command } from "commander";
import { type Config, freezeConfig, serveOptions } from "../config.ts";
import { databasePath } from "../db/open.ts";
import { ListenError, type Service, startService } from "../serve.ts";
import { asFailure, CommandFailure, type CommonOptions, declare } from "./command.ts";
import { print } from "./output.ts";

/** 128 + SIGINT, as shells count it. */
const SIGNAL_EXIT = 130;

export function declareServe(program: Command): void {
  const command = declare(
    program,
    "serve",
    "run the server; creates the data directory and the database",
    "reseller serve --data /var/lib/reseller --port 8080",
  );
  for (const option of serveOptions()) command.addOption(option);
  command.action(async (options: Config & CommonOptions) => {
    const { url } = await serve(options);
    const result = { url, database: databasePath(options.data) };
    print(options.json, result, () => `listening on ${url}`);
  });
}

/** Starts the server and lets SIGTERM and SIGINT stop it; a second one ends the process at once. SIGUSR1: a backup. */
export async function serve(options: Config): Promise<Service> {
  const service = await start(options);
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(SIGNAL_EXIT);
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGUSR1", () => service.backUpNow());
  return service;
}

async function start(options: Config): Promise<Service> {
  try {
    return await startService(freezeConfig(options), () => process.exit(1));
  } catch (error) {
    const path = databasePath(options.data);
    if (!(error instanceof ListenError)) throw asFailure(error, path);
    throw new CommandFailure(
      `cannot listen on ${options.host}:${options.port} (${error.message}): choose another --port or --host, or stop what holds it; the database is ${path}`,
    );
  }
}
