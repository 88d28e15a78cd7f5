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
