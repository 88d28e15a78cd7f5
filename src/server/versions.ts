// The versions of this program, of Bun and of SQLite.

import packageJson from "../../package.json" with { type: "json" };
import { sqliteVersion } from "../storage/file/open.ts";

/** Defined by the build; not defined when run from source. */
declare const RESELLER_COMMIT: string | undefined;

export function versions(): { version: string; commit: string; bun: string; sqlite: string } {
  const commit = typeof RESELLER_COMMIT === "string" ? RESELLER_COMMIT : "source";
  return { version: packageJson.version, commit, bun: Bun.version, sqlite: sqliteVersion() };
}
