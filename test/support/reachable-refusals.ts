// Finds the refusals that forms of a site can reach, by reading the source: from its own functions and the operations of
// the commands that it submits, through every function that these name. It finds some that no form can reach, and
// misses none.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SRC = new URL("../../src/", import.meta.url).pathname;

/** The top-level declarations of a file by name, and where its imports come from. */
interface Source {
  bodies: Map<string, string>;
  imports: Map<string, { file: string; name: string }>;
}

const sources = new Map<string, Source>();

function sourceOf(file: string): Source {
  let found = sources.get(file);
  if (!found) sources.set(file, (found = read(file)));
  return found;
}

const DECLARED = /^(?:export )?(?:abstract )?(?:async )?(?:function|const|class) (\w+)/;

function read(file: string): Source {
  const text = readFileSync(file, "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "");
  const imports: Source["imports"] = new Map();
  for (const [, list, from] of text.matchAll(/^import \{([^}]*)\} from "(\.[^"]*)"/gm)) {
    for (const each of list!.split(",").map((name) => name.trim())) {
      const [name, as = name] = each.split(" as ");
      if (each !== "" && !each.startsWith("type ")) {
        imports.set(as!, { file: join(dirname(file), from!), name: name! });
      }
    }
  }
  const bodies = new Map<string, string>();
  const parts = text.split(/^(?=(?:export )?(?:abstract )?(?:async )?(?:function|const|class) )/m);
  for (const part of parts) {
    const name = DECLARED.exec(part)?.[1];
    if (name !== undefined) bodies.set(name, part);
  }
  return { bodies, imports };
}

const filesBelow = (folder: string) =>
  readdirSync(SRC + folder, { recursive: true })
    .map(String)
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => join(SRC, folder, name));

/** Returns the codes of refusals, each with the names that lead to it. `folders`: those of the site. */
export function reachableRefusals(folders: readonly string[]): Map<string, string[]> {
  const commands = new Map<string, [file: string, name: string]>();
  for (const file of filesBelow("operations").filter((each) => each.endsWith("/commands.ts"))) {
    const text = readFileSync(file, "utf8");
    for (const [, name, run] of text.matchAll(/^ {2}(\w+): command\(\s*(\w+)/gm)) {
      commands.set(name!, [file, run!]);
    }
  }
  const codes = new Map<string, string[]>();
  const seen = new Set<string>();
  const queue: [file: string, name: string, path: string[]][] = folders
    .flatMap(filesBelow)
    .flatMap((file) => [...sourceOf(file).bodies.keys()].map((name) => [file, name, []] as never));
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [file, name, path] = next;
    const { bodies, imports } = sourceOf(file);
    const imported = imports.get(name);
    if (imported) {
      queue.push([imported.file, imported.name, path]);
      continue;
    }
    const body = bodies.get(name);
    if (body === undefined || seen.has(`${file} ${name}`)) continue;
    seen.add(`${file} ${name}`);
    const way = [...path, name];
    for (const [, code] of body.matchAll(/(?:refusal|new Refusal)\(\s*"(\w+)"/g)) {
      if (!codes.has(code!)) codes.set(code!, way);
    }
    for (const [, command] of body.matchAll(/\bsubmit\(\s*"(\w+)"/g)) {
      const target = commands.get(command!);
      if (!target) throw new Error(`the command ${command} is in no commands.ts`);
      queue.push([...target, way]);
    }
    for (const each of new Set(body.match(/\b[A-Za-z]\w*\b/g))) {
      if (each !== name && (imports.has(each) || bodies.has(each))) queue.push([file, each, way]);
    }
  }
  return codes;
}
