// `serve`: the server, until a signal stops it.

import type { Command } from "commander";
import { type Config, freezeConfig, serveOptions } from "../config.ts";
import { OpenError } from "../db/open-error.ts";
import { databasePath } from "../db/open.ts";
import { type Service, startService } from "../serve.ts";
import { CommandFailure, declare } from "./command.ts";

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
  command.action(async (options: Config) => {
    const { url } = await serve(options);
    process.stdout.write(`listening on ${url}\n`);
  });
}

/** Starts the server and lets SIGTERM and SIGINT stop it; a second signal ends the process at once. */
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
  return service;
}

async function start(options: Config): Promise<Service> {
  try {
    return await startService(freezeConfig(options), () => process.exit(1));
  } catch (error) {
    if (error instanceof OpenError) throw new CommandFailure(error.message);
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE" || code === "EACCES" || code === "EADDRNOTAVAIL") {
      throw new CommandFailure(
        `cannot listen on ${options.host}:${options.port} (${code}): choose another --port or --host, or stop what holds it; the database is ${databasePath(options.data)}`,
      );
    }
    throw error;
  }
}
