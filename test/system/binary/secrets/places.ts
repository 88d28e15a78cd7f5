// Every place that shows or keeps something, with its text, after the scenario has used every secret.

import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Option } from "commander";
import { listCommands } from "../../../../src/cli/kernel/command-tree.ts";
import { createProgram } from "../../../../src/cli/kernel/program.ts";
import { ROUTES as PANEL_ROUTES } from "../../../../src/panel/server/routes.ts";
import { ROUTES as PORTAL_ROUTES } from "../../../../src/portal/server/routes.ts";
import { callApi } from "../../../support/http/api.ts";
import { until } from "../../../support/until.ts";
import type { Browser } from "./browser.ts";
import type { Play } from "./scenario.ts";

export interface Place {
  name: string;
  text: string;
}

/** Values of the parameters of paths and of the arguments of commands; several: each of them. */
function valuesOf({ ids }: Play, rows: (text: string) => string[]): Record<string, string[]> {
  return {
    user: ["alice"], username: ["alice"], name: ["acme"], provider: ["acme"], service: ["s", "p"], order: ["1", "2", "3"],
    method: ["card", "wallet", "bank"], webhook: [ids.webhook], payment: rows("SELECT id FROM payments"),
    mail: rows("SELECT id FROM mails"), month: [new Date().toISOString().slice(0, 7)],
  }; // prettier-ignore
}

/** Every page and every export, for every role and for visitors. */
export async function pages(world: Play): Promise<Place[]> {
  const { panel, portal, visitor, server, data } = world;
  const values = valuesOf(world, (text) => rowsOf(data, text));
  const found: Place[] = [];
  const visit = async (
    site: string,
    role: string,
    browser: Browser,
    routes: readonly { method: string; path: string }[],
  ) => {
    for (const { method, path } of routes) {
      if (method !== "GET") continue;
      for (const filled of fill(path, values)) {
        const { text, headers, status } = await browser.get(filled);
        found.push({ name: `${site}, ${role}, ${filled}: ${status}`, text: headers + text });
      }
    }
  };
  for (const [role, browser] of Object.entries(panel))
    await visit("panel", role, browser, PANEL_ROUTES);
  for (const [role, browser] of Object.entries(portal))
    await visit("portal", role, browser, PORTAL_ROUTES);
  await visit("portal", "visitor", visitor, PORTAL_ROUTES);
  for (const path of ["/docs", "/api/v1/openapi.json", "/livez", "/readyz", "/"]) {
    const response = await fetch(server.url + path);
    found.push({ name: `${path}: ${response.status}`, text: await response.text() });
  }
  const metrics = await fetch(`${world.metricsUrl}/metrics`);
  found.push({ name: `metrics: ${metrics.status}`, text: await metrics.text() });
  return found;
}

function fill(path: string, values: Record<string, string[]>): string[] {
  const [, name] = /:(\w+)/.exec(path) ?? [];
  if (name === undefined) return [path];
  return (values[name] ?? ["1"]).flatMap((value) => fill(path.replace(`:${name}`, value), values));
}

/** Forms in which people type secrets, wrongly: what comes back repeats none of them. */
export async function typed({ panel, portal, visitor, secrets }: Play): Promise<Place[]> {
  const found: Place[] = [];
  const sites: [string, Browser, readonly { method: string; path: string }[]][] = [
    ["panel", panel["owner"]!, PANEL_ROUTES],
    ["portal", portal["owner"]!, PORTAL_ROUTES],
    ["portal", visitor, PORTAL_ROUTES],
  ];
  for (const [site, browser, routes] of sites) {
    for (const { path } of routes.filter(
      (route) => route.method === "GET" && !route.path.includes(":"),
    )) {
      const { text } = await browser.get(path);
      for (const [, action, inner] of text.matchAll(
        /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g,
      )) {
        const hidden = [
          ...inner!.matchAll(
            /type="password"[^>]*name="([^"]+)"|name="([^"]+)"[^>]*type="password"/g,
          ),
        ].map(([, a, b]) => a ?? b!);
        if (hidden.length === 0) continue;
        const fields: Record<string, string> = {};
        for (const [index, name] of hidden.entries()) {
          fields[name] = `typed-${site}-${found.length}-${index}-zqx76`;
          secrets.push({
            name: `typed into ${name} of ${site}${path}`,
            text: fields[name],
            stored: "nowhere",
          });
        }
        const to = action!.replace(/^\/portal/, "");
        const reply = await browser.post(to, {
          name: "a-owner",
          email: "owner@alice.example",
          ...fields,
        });
        found.push({
          name: `form ${site}${to}: ${reply.status}`,
          text: reply.headers + reply.text,
        });
      }
    }
  }
  return found;
}

/** Errors of the API and of notices, for requests with secrets in every part. */
export async function errors({ server, keys, secrets }: Play): Promise<Place[]> {
  const found: Place[] = [];
  const ask = async (
    method: "GET" | "POST",
    path: string,
    key: string | null,
    body?: object | string,
  ) => {
    const { status, body: reply } = await callApi(server.url, method, path, key, body);
    found.push({ name: `${method} ${path.slice(0, 20)}: ${status}`, text: JSON.stringify(reply) });
  };
  for (const key of keys) {
    await ask("POST", "/orders", key, { service: key, link: 5 });
    await ask("POST", "/orders", key, `{"x":"${key}`);
    await ask("POST", "/recharge", key, { username: key, amount: "zqx" });
    for (const path of ["/balance", `/orders/${key}`, `/user?username=${key}`, `/${key}`, "/%zz"])
      await ask("GET", path, key);
    const v2 = await fetch(`${server.url}/api/v2`, {
      method: "POST",
      body: new URLSearchParams({ key, action: key }),
    });
    found.push({ name: `/api/v2: ${v2.status}`, text: await v2.text() });
  }
  for (const { text, name } of secrets) {
    await ask("GET", "/balance", text);
    const notice = await fetch(`${server.url}/payments/callback/wallet`, {
      method: "POST",
      body: text,
      headers: { authorization: `Bearer ${encodeURIComponent(text)}` },
    });
    found.push({ name: `notice with ${name}: ${notice.status}`, text: await notice.text() });
  }
  return found;
}

/** Commands that show something, and the arguments of those that need some. */
const SHOWS =
  /(^| )(list|show|export|deliveries|registrations|report|file|check|doctor|verify|health|balance|version|settings)$/;
const ARGUMENTS: Record<string, (world: Play) => string> = {
  "admin user show": () => "alice",
  "admin mail show": () => "1",
  "admin service show": () => "p",
  "admin provider show": () => "acme",
  "admin provider balance": () => "acme",
  "admin order show": () => "1",
  "admin webhook show": ({ ids }) => ids.webhook,
  "admin webhook deliveries": ({ ids }) => ids.webhook,
  "admin invoice show": () => "1",
  "admin payment show": ({ data }) => rowsOf(data, "SELECT id FROM payments")[0]!,
  "admin payment file": ({ data }) => rowsOf(data, "SELECT id FROM payments")[0]!,
  "admin payment method show": () => "card",
  health: ({ server }) => `--url ${server.url}`,
};

/** What every command that shows something prints, as text and as JSON. */
export async function commands(world: Play): Promise<Place[]> {
  const found: Place[] = [];
  for (const { words, command } of listCommands(await createProgram())) {
    if (command.commands.length > 0 || !SHOWS.test(words)) continue;
    const needs = command.registeredArguments.some(({ required }) => required);
    if (needs && !ARGUMENTS[words]) throw new Error(`add arguments of \`${words}\` to ARGUMENTS`);
    const argument = ARGUMENTS[words]?.(world) ?? "";
    for (const flags of command.options.some(({ long }) => long === "--json")
      ? ["", "--json"]
      : [""]) {
      const line = [words, argument, flags].filter((each) => each !== "").join(" ");
      const { exitCode, stdout, stderr } = await world.cli(line);
      found.push({ name: `${line}: exit ${exitCode}`, text: stdout + stderr });
    }
  }
  return found;
}

/** Each flag that takes a secret from standard input or a file, given the secret itself: refused, and not repeated. */
export async function wrongUsage(
  world: Play,
  text: string,
): Promise<(Place & { exitCode: number })[]> {
  const found: (Place & { exitCode: number })[] = [];
  const takes = ({ long }: Option) =>
    /^--\w.*-(stdin|file)$/.test(long ?? "") && long !== "--env-file";
  for (const { words, command } of listCommands(await createProgram())) {
    for (const { long } of command.options.filter(takes)) {
      const flag = long!.replace(/-(stdin|file)$/, "");
      for (const argv of [[`${words} ${flag}=${text}`], [`${words} ${flag} ${text}`]].flat()) {
        const { exitCode, stdout, stderr } = await world.cli(argv);
        found.push({ name: argv.replace(text, "SECRET"), text: stdout + stderr, exitCode });
      }
    }
  }
  return found;
}

/** The command lines of the server and of every process that it starts, while it makes and copies a backup. */
export async function backUp({ server, s3 }: Play): Promise<Place[]> {
  const lines = new Set<string>();
  process.kill(server.pid, "SIGUSR1");
  await until(() => {
    for (const pid of [server.pid, ...childrenOf(server.pid)]) lines.add(commandLine(pid));
    return server.log().includes("backup copied off-site");
  });
  const copies = filesIn(s3.directory).map((path) => ({
    name: `off-site ${path}`,
    text: `${path} ${readFileSync(path, "latin1")}`,
  }));
  return [{ name: "command lines", text: [...lines].join("\n") }, ...copies];
}

function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return children === ""
      ? []
      : children
          .split(" ")
          .map(Number)
          .flatMap((each) => [each, ...childrenOf(each)]);
  } catch {
    return [];
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Every table, the files of the database and its backups, and all other files of the data folder. */
export function stored({ data }: Play): { tables: Place[]; files: Place[]; others: Place[] } {
  const sqlite = new Database(join(data, "reseller.db"), { readonly: true });
  const names = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  const tables = names.map(({ name }) => ({
    name,
    text: JSON.stringify(sqlite.query(`SELECT * FROM ${name}`).safeIntegers(false).all()),
  }));
  sqlite.close();
  const all = filesIn(data).map((path) => ({ name: path, text: readFileSync(path, "latin1") }));
  const isDatabase = ({ name }: Place) => /\.db(-wal|-shm)?$/.test(name);
  return { tables, files: all.filter(isDatabase), others: all.filter((each) => !isDatabase(each)) };
}

function rowsOf(data: string, text: string): string[] {
  const sqlite = new Database(join(data, "reseller.db"), { readonly: true });
  const rows = sqlite.query(text).values().flat().map(String);
  sqlite.close();
  return rows;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
