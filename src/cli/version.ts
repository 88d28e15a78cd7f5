// `version`

import type { Command } from "commander";
import { versions } from "../server/versions.ts";
import { type CommonOptions, declare } from "./command.ts";
import { print } from "./output.ts";
import { fields } from "./text-table.ts";

export function declareVersion(program: Command): void {
  declare(program, "version", "print versions", "reseller version --json").action(
    ({ json }: CommonOptions) => {
      print(json, versions(), fields);
    },
  );
}
