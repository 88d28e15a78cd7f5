// Checks for `config check` whether `serve` could listen on its addresses: listens on each and stops at once.

import type { Config } from "../../config/settings.ts";
import { type Endpoint, formatEndpoint } from "../../config/values.ts";
import { listenErrorAt } from "../../server/listeners.ts";
import type { SettingCheck } from "./setting-check.ts";
import { isServing } from "./health.ts";

export async function checkAddresses(config: Config): Promise<SettingCheck> {
  const listeners = configuredListeners(config);
  const twice = listeners.find(({ endpoint }, index) =>
    listeners.slice(0, index).some((other) => isSame(other.endpoint, endpoint)),
  );
  if (twice) {
    const shown = formatEndpoint(twice.endpoint);
    return failed(`two listeners use ${shown}: choose another port for ${twice.flag}`);
  }
  const errors = listeners.flatMap((listener) => {
    const error = listenErrorAt(listener.endpoint);
    return error === null ? [] : [{ ...listener, error }];
  });
  const shown = listeners
    .map(({ what, endpoint }) => `${what}${formatEndpoint(endpoint)}`)
    .join(", ");
  const [first] = errors;
  if (!first) return { check: "addresses", state: "ok", detail: shown };
  if (errors.every(({ error }) => error === "EADDRINUSE") && (await isServing(config.data))) {
    return { check: "addresses", state: "ok", detail: `${shown}: in use by the running server` };
  }
  const address = formatEndpoint(first.endpoint);
  return failed(
    `cannot listen on ${address} (${first.error}): choose another address for ${first.flag}, or stop the program that uses it`,
  );
}

function configuredListeners({ host, port, panelListen, portalListen, metricsListen }: Config) {
  const all: { what: string; flag: string; endpoint: Endpoint | null }[] = [
    { what: "", flag: "--host or --port", endpoint: { host, port } },
    { what: "panel on ", flag: "--panel-listen", endpoint: panelListen },
    { what: "portal on ", flag: "--portal-listen", endpoint: portalListen },
    { what: "metrics on ", flag: "--metrics-listen", endpoint: metricsListen },
  ];
  return all.flatMap(({ endpoint, ...listener }) => (endpoint ? [{ ...listener, endpoint }] : []));
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.port !== 0 && one.port === other.port && one.host === other.host;
}

function failed(detail: string): SettingCheck {
  return { check: "addresses", state: "fail", detail };
}
