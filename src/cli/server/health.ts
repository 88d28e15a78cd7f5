// `health`: asks the running server whether it is ready. Exit 0 if it is, 1 if not.

import { existsSync, readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import { errorCode } from "../../domain/values/error-table.ts";
import { addressPath } from "../../storage/file/open.ts";
import { CommandFailure, type CommonOptions, declare } from "../kernel/command.ts";
import { print } from "../output/output.ts";

const TIMEOUT_MS = 5000;

export function declareHealth(program: Command): void {
  declare(
    program,
    "health",
    "ask the running server whether it is ready",
    "reseller health --data /var/lib/reseller",
  )
    .option(
      "--url <url>",
      "ask this server (default: the one that uses the data directory)",
      httpUrl,
    )
    .action(async (options: CommonOptions & { url?: string }) => {
      const url = options.url ?? addressIn(options.data);
      await ask(url, options.url === undefined);
      print(options.json, { url, healthy: true }, () => `${url} is healthy`);
    });
}

/** Returns whether the server of this data directory answers, ready or not. */
export async function isServing(data: string): Promise<boolean> {
  const path = addressPath(data);
  if (!existsSync(path)) return false;
  try {
    const url = new URL("/livez", readFileSync(path, "utf8").trim());
    return (await getOwn(url)).ok;
  } catch {
    return false;
  }
}

/** Requests from the server of this data directory. Accepts any certificate, because nothing secret is sent. */
function getOwn(url: URL): Promise<Response> {
  return get(url, { tls: { rejectUnauthorized: false } });
}

function get(url: URL, options: BunFetchRequestInit = {}): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), ...options });
}

function addressIn(data: string): string {
  const path = addressPath(data);
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = errorCode(error);
    throw new CommandFailure(
      code === "ENOENT"
        ? `no server address found at ${path}: start \`reseller serve\`, or give --url`
        : `${path} cannot be read (${code}): run this as the service's user, or name the server with --url`,
    );
  }
}

interface ReadinessResponse {
  checks?: Record<string, { ok: boolean; detail?: string }>;
}

/** Throws CommandFailure unless the server is ready. `own`: whether it is the server of this data directory. */
async function ask(url: string, own: boolean): Promise<void> {
  let response: Response;
  try {
    response = await (own ? getOwn : get)(new URL("/readyz", url));
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    throw new CommandFailure(
      timedOut
        ? `${url} did not answer within ${TIMEOUT_MS / 1000} s: see the server's log`
        : `no response from ${url}: start \`reseller serve\`, or see in its log why it ended`,
    );
  }
  if (response.ok) return;
  const { checks = {} } = (await response.json().catch(() => ({}))) as ReadinessResponse;
  const failed = Object.entries(checks)
    .filter(([, { ok }]) => !ok)
    .map(([name, { detail }]) => `${name}: ${detail ?? "failed"}`);
  const why = failed.length > 0 ? failed.join("; ") : `HTTP ${response.status}`;
  throw new CommandFailure(`${url} is not healthy (${why}): see the server's log`);
}

function httpUrl(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? "")) {
    throw new InvalidArgumentError("must be a URL such as http://127.0.0.1:8080.");
  }
  return text;
}
