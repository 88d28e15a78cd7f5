// `version`

import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { sqliteVersion } from "../storage/open.ts";
import { type CommonOptions, declare } from "./command.ts";
import { print } from "./output.ts";
import { fields } from "./text-table.ts";

/** Defined by the build; not defined when run from source. */
declare const RESELLER_COMMIT: string | undefined;

export function declareVersion(program: Command): void {
  declare(program, "version", "print versions", "reseller version --json").action(
    ({ json }: CommonOptions) => {
      const commit = typeof RESELLER_COMMIT === "string" ? RESELLER_COMMIT : "source";
      const { version } = packageJson;
      print(json, { version, commit, bun: Bun.version, sqlite: sqliteVersion() }, fields);
    },
  );
}
