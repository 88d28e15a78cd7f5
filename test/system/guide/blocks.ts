// The commands of docs/postgres.md, as they stand there. ```sh db1 db2 names the machines that a block is for.

import { readFileSync } from "node:fs";

const DOCUMENT = new URL("../../../docs/postgres.md", import.meta.url);
/** For what the test's machines do not have: kernel modules, say. */
const UNTRIED = "untried";

export interface Block {
  /** The heading that it stands under. */
  section: string;
  machines: readonly string[];
  script: string;
}

/** All that are run, in the document's order. */
export function readBlocks(known: readonly string[]): Block[] {
  const blocks: Block[] = [];
  const text = readFileSync(DOCUMENT, "utf8");
  for (const part of text.split(/^#{2,3} /m).slice(1)) {
    const section = part.slice(0, part.indexOf("\n"));
    for (const [, names, script] of part.matchAll(/^```sh\b(.*)\n([^]*?)^```$/gm)) {
      const machines = names!.trim().split(" ");
      if (machines[0] === UNTRIED) continue;
      const unknown = machines.filter((name) => !known.includes(name));
      if (unknown.length > 0) throw new Error(`${section}: a block for "${unknown.join(" ")}"`);
      blocks.push({ section, machines, script: script! });
    }
  }
  return blocks;
}
