// `quickstart`: creates a demo reseller, a catalogue and a key in an empty data directory, then starts the server with panel and portal.
// With a data directory that is not empty it only starts the server.

import type { Command } from "commander";
import { serveOptions } from "../../config/flags.ts";
import { type Config, isPortalOn, isPortalNear } from "../../config/settings.ts";
import { INVITATION_TIME } from "../../domain/sign-ins/sign-ins.ts";
import { newToken } from "../../web/sessions/tokens.ts";
import { DEFAULT_PANEL } from "../administrators/administrators.ts";
import { type CommonOptions, declare, withoutSettingsFile } from "../kernel/command.ts";
import { type DatabaseName, databaseOf } from "../kernel/database-name.ts";
import { setUpLink } from "../members/links.ts";
import { print } from "../output/output.ts";
import { DEMO_EMAIL, DEMO_USER, memberStep, newDemoKey, seed, sharedSteps } from "./demo-world.ts";
import { SAMPLE_ORDERS } from "./sample-orders.ts";
import { panelLink, serve } from "./serve.ts";

/** The command that starts this program, printed for the user to copy: the binary's path, or bun with the source. */
const PROGRAM = Bun.main.startsWith("/$bunfs/")
  ? process.execPath
  : `npx -y bun@${Bun.version} src/main.ts`;

export function declareQuickstart(program: Command): void {
  const command = withoutSettingsFile(
    declare(
      program,
      "quickstart",
      "create a demo reseller with 100 USD, a catalogue and a key, and run the server",
      "reseller quickstart --data ./data",
    ),
  );
  for (const option of serveOptions()) command.addOption(option);
  command.action(async (options: Config & CommonOptions) => {
    // Listens first: the key is shown only once and must not be lost if the port is in use.
    const service = await serve(withPages(options, command), command);
    const { url } = service;
    try {
      const { key, portal } = await seedDemo(options);
      const panel = await panelLink(options, service);
      const database = databaseOf(options);
      print(options.json, { url, panel, portal, database: database.shown, key }, () => {
        const text = key ? introduction(url, database, key) : alreadySeededText(database);
        return `${text}${panelText(panel)}${portalText(portal)}\nDocumentation of the API:  ${url}/docs\n\nlistening on ${url}`;
      });
    } catch (error) {
      await service.stop();
      throw error;
    }
  });
}

/**
 * Turns on the panel, and the portal where it needs no TLS, unless they are configured. With --port 0 the panel uses a
 * free port, too.
 */
function withPages(options: Config & CommonOptions, command: Command): Config & CommonOptions {
  const isDefault = (name: string) => command.getOptionValueSource(name) === "default";
  const turnOn = (name: string, value: unknown) =>
    command.setOptionValueWithSource(name, value, "default of quickstart");
  const port = options.port === 0 ? 0 : DEFAULT_PANEL.port;
  if (isDefault("panelListen")) turnOn("panelListen", { ...DEFAULT_PANEL, port });
  const isUnset = isDefault("portal") && isDefault("portalListen");
  if (isUnset && isPortalNear(options)) turnOn("portal", true);
  return command.opts();
}

interface Demo {
  /** Text of the new key; null if the database is not empty. */
  key: string | null;
  /** Link to the portal for the demo reseller; null without a portal, or if the database is not empty. */
  portal: string | null;
}

/** Creates the demo data, unless there is data already. */
async function seedDemo(options: Config & CommonOptions): Promise<Demo> {
  const now = Date.now();
  const { text, input } = newDemoKey("quickstart");
  const { token, invitationHash } = newToken();
  const member = memberStep({ email: DEMO_EMAIL, role: "owner" }, invitationHash, now);
  if (!(await seed(options, [...sharedSteps(input, now), member])))
    return { key: null, portal: null };
  return { key: text, portal: isPortalOn(options) ? setUpLink(options, token) : null };
}

function introduction(url: string, database: DatabaseName, key: string): string {
  const call = (options: string, path: string) => `  curl -s ${options}${url}/api/v1${path}`;
  const auth = `-H 'x-api-key: ${key}' `;
  const json = `${auth}-H 'content-type: application/json' `;
  return `
${database.shown} has a demo reseller with 100 USD, six services, and
a month of orders of a second reseller, so that the panel has something to show.
The demo reseller's key, shown only once: ${key}

Paste into another terminal:

List services
${call(auth, "/services")}

Place an order; the idempotency-key makes a repeated command place it only once
${call(`${json}-H 'idempotency-key: order-1' `, `/orders -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}'`)}

Read it
${call(auth, `/orders/${SAMPLE_ORDERS + 1}`)}

Balance
${call(auth, "/balance")}

What the operator does: add credit, list orders
  ${PROGRAM} admin user credit ${DEMO_USER} 25.50 ${optionOf(database)}
  ${PROGRAM} admin order list ${optionOf(database)}

Ctrl-C stops the server; everything is kept.
`;
}

function panelText(panel: string | null): string {
  if (panel === null) return "";
  const isInvitation = panel.includes("#");
  return `
The operator's panel${isInvitation ? `, to be set up within ${INVITATION_TIME}` : ""}:
  ${panel}
`;
}

function portalText(portal: string | null): string {
  if (portal === null) return "";
  return `
The portal, in which the demo reseller signs in as ${DEMO_EMAIL}:
  ${portal}
`;
}

function alreadySeededText(database: DatabaseName): string {
  return `
${database.shown} already has data, so no demo data was added.
To create another key:  ${PROGRAM} admin key create --user ${DEMO_USER} --type order ${optionOf(database)}
`;
}

/** Returns the option that names the database, without the address after --database, which may hold a password. */
function optionOf({ address, data }: DatabaseName): string {
  return address === null ? `--data ${quoted(data)}` : "--database …";
}

/** Quotes text as one word for a shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
