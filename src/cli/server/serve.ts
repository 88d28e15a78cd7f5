// `serve`: runs the server until a signal stops it.

import type { Command } from "commander";
import { freezeConfig, serveOptions, showSettings, unknownVariables } from "../../config/flags.ts";
import { type Config, findConflict } from "../../config/settings.ts";
import { missingForRemote } from "../../config/remote-values.ts";
import { WRITER_THREAD } from "../../config/source-files.ts";
import { refusedWithPostgres } from "../../config/sqlite-settings.ts";
import { requireRecipient } from "../../offsite/encryption.ts";
import { parseAddress } from "../../db/postgres/connection/address.ts";
import { listAdministrators } from "../../db/administrators/administrators.ts";
import { maskKeys } from "../../domain/users/keys.ts";
import { logConsole } from "../../monitoring/log.ts";
import { TlsError } from "../../config/tls.ts";
import { ListenError } from "../../server/listeners.ts";
import { PortalFileError } from "../../server/portal-files.ts";
import type { Service } from "../../server/serve.ts";
import type { Demo } from "../../web/server/demo.ts";
import { handleSignals } from "../../server/signals.ts";
import { startThreadAhead } from "../../writer/thread-ahead.ts";
import {
  asFailure,
  CommandFailure,
  type CommonOptions,
  declare,
  stackOf,
  withDatabase,
} from "../kernel/command.ts";
import { databaseOf } from "../kernel/database-name.ts";
import { invite } from "../administrators/administrators.ts";
import { handleOutputFailure, print } from "../output/output.ts";

export function declareServe(program: Command): void {
  const command = declare(
    program,
    "serve",
    "run the server; creates the data directory and the database",
    "reseller serve --data /var/lib/reseller --port 8080",
  );
  for (const option of serveOptions()) command.addOption(option);
  command.action(async (options: Config & CommonOptions) => {
    const service = await serve(options, command);
    const { url } = service;
    // The link is printed only on a terminal, because a log must not keep it.
    const panel = process.stdout.isTTY ? await panelLink(options, service) : service.panelUrl;
    const result = { url, panel, database: databaseOf(options).shown };
    print(options.json, result, () =>
      panel === null ? `listening on ${url}` : `the panel is at ${panel}\nlistening on ${url}`,
    );
  });
}

/** The name of the first administrator, unless one was invited before. */
const FIRST_ADMINISTRATOR = "owner";

/**
 * Returns the panel's address, or, while nobody can sign in yet, a link that creates the first administrator. Null
 * without a panel.
 */
export async function panelLink(
  options: CommonOptions,
  { panelUrl }: Service,
): Promise<string | null> {
  if (panelUrl === null) return null;
  return withDatabase(options, async (session) => {
    const administrators = await session.store.read(listAdministrators);
    if (administrators.some(({ passwordHash }) => passwordHash !== null)) return panelUrl;
    const name = administrators[0]?.name ?? FIRST_ADMINISTRATOR;
    const { link } = await invite(session, panelUrl, name, "owner");
    return link;
  });
}

/** Starts the server, which runs until a signal or a fatal error ends the process. */
export async function serve(options: Config, command: Command): Promise<Service> {
  refuseConflict(options, command);
  return attended(await start(options, command), command);
}

/** Refuses settings that contradict each other, as wrong usage. */
export function refuseConflict(options: Config, command: Command): void {
  const conflict =
    findConflict(options) ?? refusedWithPostgres(options) ?? missingForRemote(options);
  if (conflict) command.error(`error: ${conflict}.`);
}

/** Stops the server at a signal, and ends the process after an error that nothing handles. */
export function attended(service: Service, command: Command): Service {
  const { log, url } = service;
  logConsole(log);
  for (const variable of unknownVariables(command)) {
    log.warn(variable, "unknown RESELLER_ variable: it has no effect");
  }
  if (showsPassword(command)) {
    log.warn(
      { variable: "RESELLER_DATABASE" },
      "everyone on this machine can read the password in --database: set the variable instead",
    );
  }
  const fail = (error: unknown, message: string) => {
    log.error({ error: maskKeys(stackOf(error)) }, message);
    void log.close().then(() => process.exit(1));
  };
  process.on("uncaughtException", (error) => fail(error, "uncaught exception: stopping"));
  process.on("unhandledRejection", (error) => fail(error, "unhandled rejection: stopping"));
  handleOutputFailure((code) =>
    log.warn(
      { url, code },
      "the address could not be written to standard output: the service continues",
    ),
  );
  handleSignals(service, (error) => fail(error, "stopping failed"));
  return service;
}

/** Returns whether the command line holds the password of the database. */
function showsPassword(command: Command): boolean {
  if (command.getOptionValueSource("database") !== "cli") return false;
  return parseAddress(command.opts<{ database: string }>().database).password !== "";
}

/** Starts the server. Throws CommandFailure. */
export async function start(
  options: Config,
  command: Command,
  demo: Demo | null = null,
): Promise<Service> {
  return orFailure(options, async () => {
    if (options.backupRecipient !== null) await requireRecipient(options.backupRecipient);
    const config = freezeConfig(options);
    const thread = config.database === null ? startThreadAhead(WRITER_THREAD) : null;
    // Imported after the start of the thread: this loads most files of the program while the thread loads its own.
    const { startService } = await import("../../server/serve.ts");
    return startService(config, () => process.exit(1), showSettings(command), { thread, demo });
  });
}

/** Throws what prevents a start as CommandFailure, with a sentence for the operator. */
export async function orFailure<T>(options: Config, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const database = databaseOf(options);
    if (error instanceof TlsError || error instanceof PortalFileError) {
      throw new CommandFailure(error.message);
    }
    if (!(error instanceof ListenError)) throw asFailure(error, database);
    throw new CommandFailure(
      `cannot listen on ${error.address} (${error.message}): choose another --port, --host, --panel-listen or --portal-listen, or stop the program that uses it; the database is ${database.shown}`,
    );
  }
}
