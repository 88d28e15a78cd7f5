// `version`: prints the version.

import type { Command } from "commander";
import { versions } from "../../server/versions.ts";
import { type CommonOptions, declare, withoutSettingsFile } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { fields } from "../output/text-table.ts";

export function declareVersion(program: Command): void {
  withoutSettingsFile(
    declare(program, "version", "print versions", "reseller version --json"),
  ).action(({ json }: CommonOptions) => {
    print(json, versions(), fields);
  });
}
