// `config show` and `config check`: what `serve` would run with, where each value comes from, and whether it would.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import {
  type Config,
  conflictOf,
  serveOptions,
  showSettings,
  unknownVariables,
} from "../config/settings.ts";
import { formatEndpoint } from "../config/values.ts";
import { readTls, TlsError } from "../config/tls.ts";
import { CommandFailure, type CommonOptions, declare, declareGroup } from "./command.ts";
import { print, table } from "./output.ts";

/** A certificate that ends sooner is worth a word. */
const CERTIFICATE_DAYS = 14;
const DAY_MS = 24 * 3_600_000;

type State = "ok" | "warn" | "fail";

interface Finding {
  check: string;
  state: State;
  detail: string;
}

export function declareConfig(program: Command): void {
  const group = declareGroup(program, "config", "what `serve` runs with");
  const show = declare(
    group,
    "show",
    "print every setting with its value and where it comes from",
    "reseller config show --port 9000",
  );
  for (const option of serveOptions()) show.addOption(option);
  show.action((options: CommonOptions) => {
    print(options.json, showSettings(show), (rows) =>
      table(
        rows.map(({ name, value, origin }) => ({ setting: name, value, "comes from": origin })),
        "",
      ),
    );
  });

  const check = declare(
    group,
    "check",
    "find out whether `serve` could run with these settings",
    "reseller config check",
  );
  for (const option of serveOptions()) check.addOption(option);
  check.action((options: Config & CommonOptions) => {
    const findings = [
      checkVariables(),
      checkData(options.data),
      checkTls(options),
      checkAddresses(options),
      checkProxies(options),
    ];
    print(options.json, findings, (rows) =>
      table(
        rows.map((row) => ({ ...row })),
        "",
      ),
    );
    const failed = findings.filter(({ state }) => state === "fail");
    if (failed.length > 0) {
      throw new CommandFailure(
        `serve would not run as meant: ${failed.map(({ detail }) => detail).join("; ")}`,
      );
    }
  });
}

function finding(check: string, state: State, detail: string): Finding {
  return { check, state, detail };
}

function checkVariables(): Finding {
  const unknown = unknownVariables();
  if (unknown.length === 0) return finding("variables", "ok", "every RESELLER_ variable is known");
  return finding(
    "variables",
    "fail",
    `no setting is called ${unknown.join(", ")}: correct the name`,
  );
}

function checkData(data: string): Finding {
  const directory = resolve(data);
  const nearest = nearestExisting(directory);
  if (!statSync(nearest).isDirectory()) {
    return finding("data", "fail", `${nearest} is a file: name a folder with --data`);
  }
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch {
    return finding("data", "fail", `${nearest} is not writable for this user: change its owner`);
  }
  const made = nearest === directory ? "" : " (serve will make it)";
  return finding("data", "ok", `${directory}${made}`);
}

function nearestExisting(directory: string): string {
  return existsSync(directory) ? directory : nearestExisting(dirname(directory));
}

function checkTls(config: Config): Finding {
  const conflict = conflictOf(config);
  if (conflict) return finding("tls", "fail", conflict);
  const { tlsCert: cert, tlsKey: key } = config;
  if (cert === null || key === null) return finding("tls", "ok", "none: a proxy in front does it");
  try {
    const { validTo } = readTls({ cert, key });
    const days = Math.floor((validTo.getTime() - Date.now()) / DAY_MS);
    if (days < 0) return finding("tls", "fail", `${cert} has expired: renew it`);
    const state = days < CERTIFICATE_DAYS ? "warn" : "ok";
    return finding("tls", state, `${cert} is valid for ${days} days`);
  } catch (error) {
    if (!(error instanceof TlsError)) throw error;
    return finding("tls", "fail", error.message);
  }
}

function checkAddresses({ host, port, metricsListen }: Config): Finding {
  const api = formatEndpoint({ host, port });
  if (metricsListen === null) return finding("addresses", "ok", `${api}, no metrics`);
  const metrics = formatEndpoint(metricsListen);
  if (port !== 0 && port === metricsListen.port && host === metricsListen.host) {
    return finding("addresses", "fail", `the API and the metrics are both to listen on ${api}`);
  }
  return finding("addresses", "ok", `${api}, metrics on ${metrics}`);
}

function checkProxies({ trustedProxy }: Config): Finding {
  if (trustedProxy.length === 0) {
    return finding("proxies", "ok", "none is trusted: behind one every caller has its address");
  }
  const all = trustedProxy.some(([, prefix]) => prefix === 0);
  if (!all) return finding("proxies", "ok", `${trustedProxy.length} trusted`);
  return finding("proxies", "warn", "everyone is trusted: a caller can claim any address");
}
