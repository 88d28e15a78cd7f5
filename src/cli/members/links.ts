// The links by which members choose a password, as the command line prints them.

import { existsSync, readFileSync } from "node:fs";
import { PORTAL_PREFIX } from "../../config/settings.ts";
import { portalAddressPath } from "../../storage/file/open.ts";
import { isMailOn } from "../../db/mails/mails.ts";
import { linkWithToken, newToken } from "../../web/sessions/tokens.ts";
import type { CommonOptions, Session } from "../kernel/command.ts";
import { print, printError } from "../output/output.ts";

export interface LinkOptions extends CommonOptions {
  portalUrl: string | null;
  link?: boolean;
}

/** The option to print a link where it would be sent by e-mail. */
export const LINK_OPTION = ["--link", "print the link, even if servers send e-mails"] as const;

/** Returns a new token with its hash; nulls where the link is sent by e-mail. */
export async function newLink(
  { store }: Pick<Session, "store">,
  { link = false }: Pick<LinkOptions, "link">,
): Promise<{ token: string; invitationHash: string } | { token: null; invitationHash: null }> {
  const isSent = !link && (await store.read(isMailOn));
  return isSent ? { token: null, invitationHash: null } : newToken();
}

/** Prints a link, or that it is sent. `result.link`: null if it is sent by e-mail. */
export function printLinkOrSent(
  options: LinkOptions,
  result: { email: string; link: string | null },
  text: string,
): void {
  if (result.link !== null) return printLink(options, { ...result, link: result.link }, text);
  print(options.json, result, ({ email }) => `${email} gets an e-mail with the link`);
}

function printLink(options: LinkOptions, result: { link: string }, text: string): void {
  print(options.json, result, ({ link }) => [`${text}. It works once:`, "", link].join("\n"));
  if (options.json || options.portalUrl !== null || runningPortal(options) !== null) return;
  printError("note: no portal runs here. The link leads nowhere until a server runs with --portal");
}

/** Returns the link by which a member chooses a password. */
export function setUpLink(
  { data, portalUrl }: LinkOptions & { data: string },
  token: string,
): string {
  const running = runningPortal({ data });
  const base =
    portalUrl === null ? (running ?? DEFAULT_PORTAL) : `${portalUrl}${prefixOf(running)}`;
  return linkWithToken(`${base}/set-up`, token);
}

/** Returns the address of the portal that the running server of this data directory has, or null. */
function runningPortal({ data }: { data: string }): string | null {
  const path = portalAddressPath(data);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

const DEFAULT_PORTAL = `http://127.0.0.1:8080${PORTAL_PREFIX}`;

/** The portal is below a prefix unless the running server has a listener of its own for it. */
function prefixOf(running: string | null): string {
  return running === null || running.endsWith(PORTAL_PREFIX) ? PORTAL_PREFIX : "";
}
