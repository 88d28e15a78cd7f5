// `admin portal …`: the members of resellers, who use the portal, and what the portal of each reseller allows.

import { Argument, type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import {
  findMember,
  findMemberByEmail,
  listInvitedByEmail,
  listMembers,
} from "../../db/members/members.ts";
import type { Member } from "../../db/tables/members.ts";
import { type Language, LANGUAGES } from "../../domain/members/languages.ts";
import { MEMBER_ROLES, type MemberRole } from "../../domain/members/members.ts";
import { KEY_TYPES, type KeyType } from "../../domain/users/keys.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { email, userDisplayName, username } from "../kernel/values.ts";
import {
  addPaging,
  addWindow,
  inWindow,
  type PageOptions,
  printMore,
  readPages,
  type WindowOptions,
} from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import { LINK_OPTION, type LinkOptions, newLink, printLinkOrSent, setUpLink } from "./links.ts";
import { declareNotices } from "./notices.ts";
import { declareRegistrations } from "./registrations.ts";

const { invitationMs, resetMs } = lifetimesOf("portal");
const INVITATION_TIME = `${invitationMs / HOUR_MS} hours`;
const RESET_TIME = `${resetMs / HOUR_MS} hours`;

/** Members are found by their address in lower case. */
const memberEmail = (text: string) => email(text).toLowerCase();

interface InviteOptions extends LinkOptions {
  email: string;
  name?: string;
  role: MemberRole;
  language: Language;
}

export function declarePortal(admin: Command): void {
  const group = declareGroup(admin, "portal", "members of resellers, who use the portal");
  declareInvite(group);
  declareList(group);
  declareReset(group);
  declareRole(group);
  declareEmail(group);
  declareChange(group, "disable", "end a member's sessions and refuse its sign-in", (session, id) =>
    session.execute("setMemberActive", { id, active: false }),
  );
  declareChange(group, "enable", "let a disabled member sign in again", (session, id) =>
    session.execute("setMemberActive", { id, active: true }),
  );
  declareChange(
    group,
    "remove-second-factor",
    "remove the second factor of a member who lost it, and end its sessions",
    ({ execute }, person) => execute("removeSecondFactor", { site: "portal", person }),
  );
  declareSwitch(
    group,
    "off",
    "turn the portal off for a reseller: none of its members can sign in",
  );
  declareSwitch(group, "on", "turn the portal on again for a reseller");
  declareKeys(group);
  declareRegistrations(group);
  declareNotices(group);
}

function declareInvite(group: Command): void {
  declare(
    group,
    "invite",
    `send or print a link that lets one person become a member of a reseller; it works once, for ${INVITATION_TIME}`,
    "reseller admin portal invite alice --email ann@alice.example",
  )
    .argument("<username>", "the reseller", username)
    .requiredOption("--email <address>", "the member's e-mail address", memberEmail)
    .option("--name <name>", "the member's name; default: the address", userDisplayName)
    .addOption(
      new Option("--role <role>", "what the member may do").choices(MEMBER_ROLES).default("owner"),
    )
    .addOption(
      new Option("--language <language>", "language of the pages").choices(LANGUAGES).default("en"),
    )
    .option(...LINK_OPTION)
    .addOption(settingOption("portal-url"))
    .action(async (user: string, options: InviteOptions) => {
      const { role, language, name = null } = options;
      const invited = await withDatabase(options, async (session) => {
        const { token, invitationHash } = await newLink(session, options);
        const invitation = { email: options.email, name, role, language, invitationHash };
        await session.execute("inviteMember", { username: user, ...invitation });
        const link = token === null ? null : setUpLink(options, token);
        const until = link && isoTime(session.now() + invitationMs);
        return { email: options.email, role, link, until };
      });
      printLinkOrSent(
        options,
        invited,
        `Give ${options.email} this link within ${INVITATION_TIME}`,
      );
    });
}

function declareReset(group: Command): void {
  declare(
    group,
    "reset-password",
    `send or print a link by which a member chooses a new password; it works once, for ${RESET_TIME}`,
    "reseller admin portal reset-password ann@alice.example",
  )
    .argument("<email>", "the member", memberEmail)
    .option(...LINK_OPTION)
    .addOption(settingOption("portal-url"))
    .action(async (address: string, options: LinkOptions) => {
      const reset = await withDatabase(options, async (session) => {
        const { token, invitationHash } = await newLink(session, options);
        const { id } = await memberOf(session, address);
        await session.execute("resetMember", { id, invitationHash });
        const link = token === null ? null : setUpLink(options, token);
        return { email: address, link, until: link && isoTime(session.now() + resetMs) };
      });
      printLinkOrSent(options, reset, `Give ${address} this link within ${RESET_TIME}`);
    });
}

interface ListOptions extends CommonOptions, PageOptions, WindowOptions {
  user?: string;
  cursor?: string;
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list members of resellers",
    "reseller admin portal list --user alice",
  ).option("--user <username>", "only this reseller's members", username);
  addWindow(command);
  addPaging(command, { what: "id", parse: String }).action(async (options: ListOptions) => {
    const rows = await withDatabase(options, ({ store }) =>
      readPages(options, options.cursor ?? "", async (after, most) => {
        const found = await store.read((reader) => listMembers(reader, after, most));
        const next = found.length < most ? null : found.at(-1)!.id;
        const wanted = options.user?.toLowerCase();
        const shown = inWindow(options, found, ({ createdAt }) => createdAt).filter(
          (each) => wanted === undefined || each.username.toLowerCase() === wanted,
        );
        return { rows: shown, next };
      }),
    );
    print(
      options.json,
      rows.map((row) => ({ user: row.username, portal: row.portalActive, ...memberJson(row) })),
      (listed) =>
        table(
          listed.map(({ user, email: address, name, role, active, ...row }) => ({
            user,
            email: address,
            name,
            role,
            active,
            invited: row.invited,
            "second factor": row.secondFactor,
            "last sign-in": row.signedInAt,
          })),
          "no members yet: invite one with `reseller admin portal invite`",
        ),
    );
    printMore(options, rows, () => rows.at(-1)!.id);
  });
}

function declareRole(group: Command): void {
  declare(
    group,
    "role",
    "give a member another role and end its sessions",
    "reseller admin portal role ann@alice.example buyer",
  )
    .argument("<email>", "the member", memberEmail)
    .addArgument(new Argument("<role>", "what the member may do").choices(MEMBER_ROLES))
    .action(async (address: string, role: MemberRole, options: CommonOptions) => {
      await change(options, address, (session, id) =>
        session.execute("setMemberRole", { id, role }),
      );
    });
}

function declareEmail(group: Command): void {
  declare(
    group,
    "set-email",
    "change the address with which a member signs in; an e-mail tells the old address",
    "reseller admin portal set-email ann@alice.example ann@new.example",
  )
    .argument("<email>", "the member", memberEmail)
    .argument("<new>", "the new address", memberEmail)
    .action(async (address: string, to: string, options: CommonOptions) => {
      await change(options, address, (session, id) =>
        session.execute("setMemberEmail", { id, email: to }),
      );
    });
}

function declareChange(
  group: Command,
  verb: string,
  description: string,
  run: (session: Session, id: string) => unknown,
): void {
  declare(group, verb, description, `reseller admin portal ${verb} ann@alice.example`)
    .argument("<email>", "the member", memberEmail)
    .action((address: string, options: CommonOptions) => change(options, address, run));
}

/** Makes a change and prints the member after it. */
async function change(
  options: CommonOptions,
  address: string,
  run: (session: Session, id: string) => unknown,
): Promise<void> {
  const changed = await withDatabase(options, async (session) => {
    const { id } = await memberOf(session, address);
    await run(session, id);
    return session.store.read((reader) => memberJson(findMember(reader, id)!));
  });
  print(options.json, changed, fields);
}

/** Finds who signs in with the address, or else who is invited by it. */
async function memberOf({ store }: Session, address: string): Promise<Member> {
  const { holder, invited } = await store.read((reader) => ({
    holder: findMemberByEmail(reader, address),
    invited: listInvitedByEmail(reader, address, 2),
  }));
  if (!holder && invited.length > 1) throw refusal("member_email_ambiguous");
  const found = holder ?? invited[0];
  if (!found) throw refusal("member_not_found");
  return found;
}

function declareSwitch(group: Command, verb: "on" | "off", description: string): void {
  declare(group, verb, description, `reseller admin portal ${verb} alice`)
    .argument("<username>", "the reseller", username)
    .action(async (user: string, options: CommonOptions) => {
      const active = verb === "on";
      await withDatabase(options, ({ execute }) =>
        execute("setPortal", { username: user, changes: { active } }),
      );
      print(options.json, { user, portal: active }, fields);
    });
}

function declareKeys(group: Command): void {
  declare(
    group,
    "keys",
    "choose which API keys the members of a reseller may create: order keys, or more powerful ones",
    "reseller admin portal keys alice order",
  )
    .argument("<username>", "the reseller", username)
    .addArgument(new Argument("<type>", "the most powerful type").choices(KEY_TYPES))
    .action(async (user: string, keys: KeyType, options: CommonOptions) => {
      await withDatabase(options, ({ execute }) =>
        execute("setPortal", { username: user, changes: { keys } }),
      );
      print(options.json, { user, keys }, fields);
    });
}

function memberJson(member: Member) {
  const { id, email: address, name, role, active, passwordHash, totpSecret, signedInAt } = member;
  return {
    id,
    email: address,
    name,
    role,
    active,
    invited: passwordHash === null,
    secondFactor: totpSecret !== null,
    signedInAt: isoTime(signedInAt),
  };
}
