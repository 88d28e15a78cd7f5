// `demo`: the data of quickstart, with a provider that delivers and people who can sign in, in a temporary folder.
// With --public it can be hosted for anybody: it connects to no other server and begins anew each hour.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { settingDefaults, settingOption } from "../../config/flags.ts";
import { type Config, type Flag, PORTAL_PREFIX } from "../../config/settings.ts";
import { duration, size } from "../../config/values.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { formatSize } from "../../domain/values/units.ts";
import { formatSecret, WEBHOOK_SECRET_BYTES } from "../../domain/webhooks/webhooks.ts";
import { HOUR_MS, SECOND_MS } from "../../domain/values/spans.ts";
import type { UnsignedInput } from "../../operations/batch/commands.ts";
import { answerCalls } from "../../providers/call.ts";
import { createDemoProvider, DEMO_PROVIDER_URL } from "../../providers/demo-provider.ts";
import type { Service } from "../../server/serve.ts";
import { databasePath } from "../../storage/file/open.ts";
import type {
  Demo,
  DemoPaymentMethod,
  DemoSignIn,
  DemoSite,
  FormFilter,
} from "../../web/server/demo.ts";
import { random } from "../../web/server/random.ts";
import { DEFAULT_PANEL } from "../administrators/administrators.ts";
import { CommandFailure } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { isOpenForm, PANEL_FORMS, PORTAL_FORMS } from "./demo-forms.ts";
import {
  CATALOGUE_IDS,
  DEMO_EMAIL,
  DEMO_USER,
  type DemoPeople,
  newDemoKey,
  paymentSteps,
  peopleSteps,
  providerSteps,
  seed,
  sharedSteps,
  topUp,
} from "./demo-world.ts";
import { attended, orFailure, refuseConflict, start } from "./serve.ts";

/** The settings that the demo has, besides --data. */
const FLAGS = [
  "host", "port", "tls-cert", "tls-key", "trusted-proxy", "brand", "contact", "accent",
  "panel-listen", "panel-url", "panel-insecure", "portal-url", "log-level", "log-format",
] as const satisfies readonly Flag[]; // prettier-ignore

/** Settings that make the demo lively: orders are polled often, and no backup is made. */
const LIVELY = { portal: true, pollInterval: 2 * SECOND_MS, backupEvery: 0 } as const;
/** The most costly page, reports, then takes about 0.1 s of processor time. */
const RESET_ABOVE_BYTES = 64 * 1024 * 1024;
const RESET_LEAST_MS = 10 * SECOND_MS;
/** The password of the sign-ins that everybody may use. */
const PUBLIC_PASSWORD = "everybody-may-try";
const PASSWORD_BYTES = 12;

type People = Pick<DemoPeople, "administrators" | "members">;
/** Enough for all visitors between two resets. */
const PUBLIC_BALANCE_USD = 1_000_000;
const OWNERS: People = {
  administrators: [{ name: "owner", role: "owner" }],
  members: [{ email: DEMO_EMAIL, role: "owner" }],
};
/** Without an owner, who could lock the others out. */
const VISITORS: People = {
  administrators: [
    { name: "operator", role: "operator" },
    { name: "support", role: "support" },
  ],
  members: [
    { email: "buyer@shop.example", role: "buyer" },
    { email: "developer@shop.example", role: "developer" },
    { email: "viewer@shop.example", role: "viewer" },
  ],
};

interface DemoOptions {
  /** Absent: a temporary folder. */
  data?: string;
  public?: true;
  resetEvery: number;
  resetAbove: number;
  json?: true;
}
type GivenOptions = DemoOptions & Pick<Config, "port" | "panelListen">;

/** Makes a folder that a demo has filled known, and holds its sign-ins. */
const MARKER = "demo.json";

/** The secrets of a demo, which it keeps when it starts again on the same data. */
interface Kept {
  password: string;
  key: string;
  payments: DemoPaymentMethod;
}

export function declareDemo(program: Command): void {
  const command = program
    .command("demo")
    .description("try it: a month of data, the panel, the portal and a provider that delivers")
    .option(
      "--data <DIR>",
      "folder to keep the demo in; without it, a temporary one that is removed at the end",
    );
  for (const flag of FLAGS) command.addOption(settingOption(flag));
  command
    .option("--public", "for hosting: fixed sign-ins, limits, no calls to other servers, resets")
    .addOption(
      new Option("--reset-every <duration>", "with --public: time between two resets")
        .default(HOUR_MS, "1h")
        .argParser((given) => duration(RESET_LEAST_MS).parse(given)),
    )
    .addOption(
      new Option("--reset-above <size>", "with --public: size of the data that resets it earlier")
        .default(RESET_ABOVE_BYTES, formatSize(RESET_ABOVE_BYTES))
        .argParser((given) => size.parse(given)),
    )
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", "\nExample:\n  reseller demo")
    .action((options: GivenOptions) => run(options, command));
}

async function run(options: GivenOptions, command: Command): Promise<void> {
  const { data: kept } = options;
  const data = folderFor(kept);
  if (kept !== undefined) refuseOthers(data);
  const panelPort = options.port === 0 ? 0 : DEFAULT_PANEL.port;
  const panelListen = options.panelListen ?? { ...DEFAULT_PANEL, port: panelPort };
  const config: Config = { ...settingDefaults(), ...options, ...LIVELY, data, panelListen };
  const remove = () => {
    if (kept === undefined) rmSync(data, { recursive: true, force: true });
  };
  try {
    refuseConflict(config, command);
    const { service, demo } = await (options.public ? startPublic : startOwn)(
      config,
      options,
      command,
    );
    const stop = async () => {
      await service.stop();
      remove();
    };
    report(attended({ ...service, stop }, command), demo, config.portalUrl, options.json);
  } catch (error) {
    remove();
    throw error;
  }
}

/** Returns the folder that was named, or a new temporary one. */
function folderFor(kept: string | undefined): string {
  const folder = kept ?? tmpdir();
  try {
    if (kept === undefined) return mkdtempSync(join(folder, "reseller-demo-"));
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    return kept;
  } catch (error) {
    const why = errorCode(error) || String(error);
    throw new CommandFailure(`${folder} cannot be used (${why}): choose a folder with --data`);
  }
}

interface Started {
  service: Service;
  demo: Demo;
}

/** Refuses a folder with a database that no demo has made: its sign-ins and orders would be real ones. */
function refuseOthers(data: string): void {
  if (!existsSync(databasePath(data)) || existsSync(join(data, MARKER))) return;
  throw new CommandFailure(`${data} has a database that is not a demo's: choose another --data`);
}

async function startOwn(config: Config, _: DemoOptions, command: Command): Promise<Started> {
  const marker = join(config.data, MARKER);
  const isNew = !existsSync(marker);
  const { text, input } = newDemoKey("demo");
  const made: Kept = { password: random(PASSWORD_BYTES), key: text, payments: newMethod() };
  const secrets = isNew ? made : (JSON.parse(readFileSync(marker, "utf8")) as Kept);
  answerCalls(DEMO_PROVIDER_URL, createDemoProvider(), false);
  const demo = demoOf(OWNERS, { ...secrets, resets: () => null, isPublic: false });
  // Listens first: an address in use must leave no folder without its data.
  const service = await start(config, command, demo);
  try {
    if (isNew) {
      await fill(config, service.url, OWNERS, made, input);
      writeFileSync(marker, JSON.stringify(made), { mode: 0o600 });
    }
  } catch (error) {
    await service.stop();
    throw error;
  }
  return { service, demo };
}

async function startPublic(
  config: Config,
  { resetEvery: every, resetAbove: sizeLimitBytes }: DemoOptions,
): Promise<Started> {
  const { text: key, input } = newDemoKey("demo");
  const secrets: Kept = { password: PUBLIC_PASSWORD, key, payments: newMethod() };
  const { startPublicDemo } = await import("../../server/public-demo.ts");
  const of = (resetsAt: () => number): Demo => {
    const resets = () => `${new Date(resetsAt()).toISOString().slice(11, 16)} UTC`;
    return demoOf(VISITORS, { ...secrets, resets, isPublic: true });
  };
  const service = await orFailure(config, () =>
    // All visitors use one key, so requests are limited by visitor.
    startPublicDemo(
      { ...config, rateLimit: 0 },
      {
        every,
        sizeLimitBytes,
        demoOf: of,
        fill: (world, url) => fill(world, url, VISITORS, secrets, input, PUBLIC_BALANCE_USD),
        topUp: (world) => topUp(world, PUBLIC_BALANCE_USD),
        end: () => process.exit(1),
      },
    ),
  );
  return { service, demo: of(() => 0) };
}

/** Returns a payment method with a secret of its own. */
function newMethod(): DemoPaymentMethod {
  return { id: "demo-card", secret: formatSecret(randomBytes(WEBHOOK_SECRET_BYTES)) };
}

async function fill(
  config: Config,
  url: string,
  people: People,
  { password, payments }: Kept,
  key: UnsignedInput<"createKey">,
  balanceUsd?: number,
): Promise<void> {
  const now = Date.now();
  const passwordHash = await Bun.password.hash(password);
  await seed(config, sharedSteps(key, now, { balanceUsd, hasMonth: true }), [
    ...providerSteps(now),
    ...paymentSteps(payments, `${config.portalUrl ?? url}${PORTAL_PREFIX}`, now),
    ...peopleSteps({ ...people, passwordHash }, now),
  ]);
}

function demoOf(
  { administrators, members }: People,
  {
    password,
    key,
    payments,
    resets,
    isPublic,
  }: Kept & Pick<DemoSite, "resets"> & { isPublic: boolean },
): Demo {
  const panel = administrators.map(({ name, role }) => ({ name, password, role }));
  const portal = members.map(({ email: name, role }) => ({ name, password, role }));
  const shared = { user: DEMO_USER, services: CATALOGUE_IDS };
  const filterOf = (forms: readonly string[]): FormFilter | null => {
    const open = new Set(forms);
    return isPublic ? (path, params) => isOpenForm(open, path, params, shared) : null;
  };
  return {
    panel: { signIns: panel, key: null, payments: null, resets, isOpen: filterOf(PANEL_FORMS) },
    portal: { signIns: portal, key, payments, resets, isOpen: filterOf(PORTAL_FORMS) },
  };
}

function report(
  { url: address, panelUrl: panel }: Service,
  demo: Demo,
  portalUrl: string | null,
  json: true | undefined,
): void {
  const url = portalUrl ?? address;
  const portal = `${url}${PORTAL_PREFIX}`;
  const { key } = demo.portal;
  const signIns = { panel: demo.panel.signIns, portal: demo.portal.signIns };
  print(json, { url, panel, portal, key, signIns }, () =>
    [
      "",
      "A demo of reseller: a month of data, and a provider that delivers new orders within two minutes.",
      "",
      `Panel of the operator:   ${panel}`,
      ...signIns.panel.map(signInLine),
      `Portal of a reseller:    ${portal}`,
      ...signIns.portal.map(signInLine),
      `Documentation of the API: ${url}/docs`,
      "",
      "Place an order, in another terminal:",
      `  curl -s -H 'x-api-key: ${key}' -H 'content-type: application/json' -H 'idempotency-key: order-1' ${url}/api/v1/orders -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}'`,
      "",
      `listening on ${address}`,
    ].join("\n"),
  );
}

function signInLine({ name, password }: DemoSignIn): string {
  return `  sign in as ${name} with ${password}`;
}
