// The command line as an operator meets it: failures that change nothing, and keys on standard input.

import { expect } from "bun:test";
import { bundledProgram } from "./bundles.ts";
import { optionsOf, type Shop } from "./worlds/shop.ts";

/** The command ends with that code and says why; the database stays as it was. */
export async function expectFailure(
  shop: Shop,
  argv: readonly string[],
  code: number,
  says: string,
): Promise<void> {
  const before = shop.dump();
  const ran = await shop.cli(...argv);
  expect([argv, ran.code, ran.stdout]).toEqual([argv, code, ""]);
  expect(ran.stderr).toContain(says);
  expect(shop.dump()).toBe(before);
}

/**
 * Runs a command on a terminal, in a process of its own. When it asks for confirmation, calls `meanwhile` and then
 * answers yes. Returns its exit code and everything that the terminal showed.
 */
export async function runConfirming(shop: Shop, argv: readonly string[], meanwhile: () => void) {
  const decoder = new TextDecoder();
  const closed = Promise.withResolvers<void>();
  let [shown, isAsked] = ["", false];
  const child = Bun.spawn([...(await bundledProgram()), ...argv, ...optionsOf(shop)], {
    terminal: {
      cols: 200,
      data(terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        if (isAsked || !shown.includes("[y/N]")) return;
        isAsked = true;
        meanwhile();
        terminal.write("y\r");
      },
      exit: () => closed.resolve(),
    },
  });
  const [code] = await Promise.all([child.exited, closed.promise]);
  return { code, shown };
}

/** In a process of its own. */
export async function runWithInput(input: string, shop: Shop, argv: readonly string[]) {
  const child = Bun.spawn([...(await bundledProgram()), ...argv, ...optionsOf(shop)], {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, stdout, stderr };
}
