// `licenses`: prints the notices of the packages in the binary, and of the runtime.

import type { Command } from "commander";
import { type CommonOptions, declare, withoutSettingsFile } from "../kernel/command.ts";
import { print } from "../output/output.ts";

const RULE = "=".repeat(72);

export function declareLicenses(program: Command): void {
  withoutSettingsFile(
    declare(
      program,
      "licenses",
      "print the licences of the software that this program contains",
      "reseller licenses | less",
    ),
  ).action(async ({ json }: CommonOptions) => {
    const { LICENSES } = await import("./license-texts.ts");
    print(json, LICENSES, (licenses) =>
      licenses
        .map(({ name, version, license, text }) =>
          [RULE, `${name} ${version} (${license})`, RULE, "", text, ""].join("\n"),
        )
        .join("\n"),
    );
  });
}
