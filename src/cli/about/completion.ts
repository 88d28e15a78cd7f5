// `completion SHELL`: prints the script that completes this program's commands, flags and values.

import { Argument, type Command } from "commander";
import { type CommonOptions, declare, withoutSettingsFile } from "../kernel/command.ts";
import { completionScript, type Shell, SHELLS } from "./completion-scripts.ts";
import { print } from "../output/output.ts";

export function declareCompletion(program: Command): void {
  withoutSettingsFile(
    declare(
      program,
      "completion",
      "print the script that completes commands and flags in a shell",
      "reseller completion bash > /etc/bash_completion.d/reseller",
    ),
  )
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: Shell, { json }: CommonOptions) => {
      const script = completionScript(shell, program);
      print(json, { shell, script }, () => script.trimEnd());
    });
}
