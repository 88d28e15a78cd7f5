// `admin portal registrations`, `approve` and `decline`: visitors who asked for an account.

import type { Command } from "commander";
import { settingOption } from "../../config/flags.ts";
import { listRegistrations } from "../../db/members/registrations.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { keyId as registrationId, username } from "../kernel/values.ts";
import { isoTime, print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import { LINK_OPTION, type LinkOptions, newLink, printLinkOrSent, setUpLink } from "./links.ts";

export function declareRegistrations(group: Command): void {
  declare(
    group,
    "registrations",
    "list visitors who asked for an account and wait for you",
    "reseller admin portal registrations",
  ).action(async (options: CommonOptions) => {
    const rows = await withDatabase(options, ({ store }) => store.read(listRegistrations));
    const shown = rows.map(({ createdAt, ...row }) => ({ ...row, createdAt: isoTime(createdAt) }));
    print(options.json, shown, (listed) => table(listed, "nobody waits"));
  });

  declare(
    group,
    "approve",
    "create a reseller for a visitor, and send or print the link for its first owner",
    "reseller admin portal approve jkl2m4n6o8p0q2r4s6t8u0v2",
  )
    .argument("<id>", "the registration", registrationId)
    .option("--username <username>", "the reseller's username; default: the address", username)
    .option(...LINK_OPTION)
    .addOption(settingOption("portal-url"))
    .action(async (id: string, options: LinkOptions & { username?: string }) => {
      const approved = await withDatabase(options, async (session) => {
        const { token, invitationHash } = await newLink(session, options);
        const asked = { id, username: options.username ?? null, invitationHash };
        const made = await session.execute("approveRegistration", asked);
        return { ...made, link: token === null ? null : setUpLink(options, token) };
      });
      printLinkOrSent(
        options,
        approved,
        `Reseller ${approved.username}: give ${approved.email} this link`,
      );
    });

  declare(
    group,
    "decline",
    "decline a visitor",
    "reseller admin portal decline jkl2m4n6o8p0q2r4s6t8u0v2",
  )
    .argument("<id>", "the registration", registrationId)
    .action(async (id: string, options: CommonOptions) => {
      await withDatabase(options, ({ execute }) => execute("declineRegistration", { id }));
      print(options.json, { id, declined: true }, fields);
    });
}
