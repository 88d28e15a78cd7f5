// The links by which members choose a password, as the command line prints them.

import { existsSync, readFileSync } from "node:fs";
import { PORTAL_PREFIX } from "../../config/settings.ts";
import { portalAddressPath } from "../../storage/file/open.ts";
import { linkWithToken } from "../../web/server/tokens.ts";
import type { CommonOptions } from "../kernel/command.ts";
import { print } from "../output/output.ts";

export interface LinkOptions extends CommonOptions {
  portalUrl: string | null;
}

export function printLink(options: CommonOptions, result: { link: string }, text: string): void {
  print(options.json, result, ({ link }) => [`${text}. It works once:`, "", link].join("\n"));
}

/** Returns the link by which a member chooses a password. */
export function setUpLink(
  { data, portalUrl }: LinkOptions & { data: string },
  token: string,
): string {
  const path = portalAddressPath(data);
  const running = existsSync(path) ? readFileSync(path, "utf8").trim() : null;
  const base =
    portalUrl === null ? (running ?? DEFAULT_PORTAL) : `${portalUrl}${prefixOf(running)}`;
  return linkWithToken(`${base}/set-up`, token);
}

const DEFAULT_PORTAL = `http://127.0.0.1:8080${PORTAL_PREFIX}`;

/** The portal is below a prefix unless the running server has a listener of its own for it. */
function prefixOf(running: string | null): string {
  return running === null || running.endsWith(PORTAL_PREFIX) ? PORTAL_PREFIX : "";
}
