// `panel …`: manages the administrators of the operator's panel. The panel itself cannot create the first one.

import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { Argument, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import { type Endpoint, formatEndpoint } from "../../config/values.ts";
import type { Administrator } from "../../db/tables/administrators.ts";
import {
  findAdministrator,
  listAdministrators,
  PANEL_SIGN_INS,
} from "../../db/administrators/administrators.ts";
import type { Awaitable } from "../../db/port/port.ts";
import {
  ADMINISTRATOR_NAME_FORM,
  isPassword,
  PASSWORD_FORM,
  type Role,
  ROLES,
} from "../../domain/administrators/administrators.ts";
import { INVITATION_MS, INVITATION_TIME, isSessionLive } from "../../domain/sign-ins/sign-ins.ts";
import { setUpLink } from "../../panel/server/invitations.ts";
import { newToken } from "../../web/sessions/tokens.ts";
import { panelAddressPath } from "../../storage/file/open.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { addWindow, inWindow, type WindowOptions } from "../output/list-pages.ts";
import { isoTime, print, printError } from "../output/output.ts";
import { readSecretFromStdin } from "../kernel/stdin.ts";
import { fields, table } from "../output/text-table.ts";
import { administratorName } from "../kernel/values.ts";

/** The panel's default address. */
export const DEFAULT_PANEL: Endpoint = { host: "127.0.0.1", port: 8081 };

type InviteOptions = CommonOptions & { role: Role; panelUrl: string | null };

export function declarePanel(program: Command): void {
  const group = declareGroup(program, "panel", "manage the administrators of the operator's panel");

  declare(
    group,
    "invite",
    `print a link that lets one person become an administrator; it works once, for ${INVITATION_TIME}`,
    "reseller panel invite alice --role owner",
  )
    .argument("<name>", ADMINISTRATOR_NAME_FORM, administratorName)
    .addOption(
      new Option("--role <role>", "what the administrator may do").choices(ROLES).default("owner"),
    )
    .addOption(settingOption("panel-url"))
    .action(async (name: string, options: InviteOptions) => {
      const { role } = options;
      const known = options.panelUrl ?? runningPanel(options);
      const base = known ?? `http://${formatEndpoint(DEFAULT_PANEL)}`;
      const invited = await withDatabase(options, (session) => invite(session, base, name, role));
      print(options.json, invited, ({ link }) =>
        [
          `Open this link within ${INVITATION_TIME} to choose the password of ${name}. It works once:`,
          "",
          link,
        ].join("\n"),
      );
      if (options.json || known !== null) return;
      printError(
        "note: no panel runs here. The link leads nowhere until a server runs with --panel-listen",
      );
    });

  declare(
    group,
    "password",
    "set an administrator's password, read from stdin, and end their sessions",
    "reseller panel password alice --stdin < password.txt",
  )
    .argument("<name>", "the administrator", administratorName)
    .addOption(
      new Option("--stdin", "read the password from stdin, up to its end").makeOptionMandatory(),
    )
    .action(async (name: string, options: CommonOptions, command: Command) => {
      const password = (await readSecretFromStdin())?.replace(/\r?\n$/, "") ?? "";
      if (!isPassword(password)) {
        command.error(`error: stdin must hold the password: ${PASSWORD_FORM}.`);
      }
      // Hashed before the transaction, because hashing is slow by design.
      const passwordHash = await Bun.password.hash(password);
      const changed = await withDatabase(options, (session) =>
        afterChange(session, name, () =>
          session.execute("setPassword", { site: "panel", person: name, passwordHash }),
        ),
      );
      print(options.json, changed, fields);
    });

  declare(
    group,
    "role",
    "give an administrator another role and end their sessions",
    "reseller panel role alice operator",
  )
    .argument("<name>", "the administrator", administratorName)
    .addArgument(new Argument("<role>", "what the administrator may do").choices(ROLES))
    .action(async (name: string, role: Role, options: CommonOptions) => {
      const changed = await withDatabase(options, (session) =>
        afterChange(session, name, () => session.execute("setAdministratorRole", { name, role })),
      );
      print(options.json, changed, fields);
    });

  declareChange(
    group,
    "remove-second-factor",
    "remove the second factor of someone who lost it, and end their sessions",
    ({ execute }, name) => execute("removeSecondFactor", { site: "panel", person: name }),
  );
  declareChange(
    group,
    "disable",
    "disable an administrator and end their sessions",
    (session, name) => session.execute("setAdministratorActive", { name, active: false }),
  );
  declareChange(group, "enable", "enable a disabled administrator again", (session, name) =>
    session.execute("setAdministratorActive", { name, active: true }),
  );

  declare(group, "revoke", "end all sessions of an administrator", "reseller panel revoke alice")
    .argument("<name>", "the administrator", administratorName)
    .action(async (name: string, options: CommonOptions) => {
      const ended = await withDatabase(options, ({ execute }) =>
        execute("revokeSessions", { site: "panel", person: name, session: null }),
      );
      print(options.json, { name, ended }, () => `sessions ended: ${ended}`);
    });

  addWindow(declare(group, "list", "list administrators", "reseller panel list")).action(
    async (options: CommonOptions & WindowOptions) => {
      const rows = await withDatabase(options, ({ store, now }) =>
        store.read((reader) => {
          const live = PANEL_SIGN_INS.listSessions(reader).filter((session) =>
            isSessionLive("panel", session, now()),
          );
          const created = inWindow(options, listAdministrators(reader), (each) => each.createdAt);
          return created.map((each) => ({
            ...administratorJson(each),
            sessions: live.filter(({ person }) => person === each.name).length,
          }));
        }),
      );
      print(options.json, rows, (listed) =>
        table(
          listed.map(({ secondFactor, signedInAt, ...row }) => ({
            ...row,
            "second factor": secondFactor,
            "last sign-in": signedInAt,
          })),
          "no administrators yet: invite one with `reseller panel invite`",
        ),
      );
    },
  );
}

/** Invites an administrator and returns the link, which is never shown again: only its token's hash is stored. */
export async function invite({ execute, now }: Session, base: string, name: string, role: Role) {
  const { token, invitationHash } = newToken();
  await execute("inviteAdministrator", { name, role, invitationHash });
  const until = new Date(now() + INVITATION_MS).toISOString();
  return { name, role, link: setUpLink(base, token), until };
}

function declareChange(
  group: Command,
  verb: string,
  description: string,
  change: (session: Session, name: string) => Awaitable<unknown>,
): void {
  declare(group, verb, description, `reseller panel ${verb} alice`)
    .argument("<name>", "the administrator", administratorName)
    .action(async (name: string, options: CommonOptions) => {
      const changed = await withDatabase(options, (session) =>
        afterChange(session, name, () => change(session, name)),
      );
      print(options.json, changed, fields);
    });
}

/** Makes a change and returns the administrator after it. */
async function afterChange({ store }: Session, name: string, change: () => Awaitable<unknown>) {
  await change();
  return store.read((reader) => administratorJson(findAdministrator(reader, name)!));
}

/** Returns the panel's address of the server that runs on the data directory, or null if there is none. */
function runningPanel({ data }: CommonOptions): string | null {
  const path = panelAddressPath(data);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

function administratorJson(administrator: Administrator) {
  const { name, role, active, passwordHash, totpSecret, signedInAt } = administrator;
  return {
    name,
    role,
    active,
    invited: passwordHash === null,
    secondFactor: totpSecret !== null,
    signedInAt: isoTime(signedInAt),
  };
}
