// `bun run release [TARGET…]`: what people download, into dist/release. Needs xz and dpkg-deb.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { completionScript, SHELLS } from "../src/cli/about/completion-scripts.ts";
import { manPage } from "../src/cli/about/man-page.ts";
import { createProgram } from "../src/cli/kernel/program.ts";
import { compile, ROOT } from "./compile.ts";
import { buildDeb } from "./deb/build.ts";
import { billOfMaterials } from "./sbom.ts";

/** By the name of the file. */
const TARGETS = {
  "linux-x64": "bun-linux-x64-baseline",
  "linux-arm64": "bun-linux-arm64",
  "linux-x64-musl": "bun-linux-x64-baseline-musl",
  "linux-arm64-musl": "bun-linux-arm64-musl",
  "macos-arm64": "bun-darwin-arm64",
  "windows-x64": "bun-windows-x64-baseline",
} as const satisfies Record<string, Bun.Build.CompileTarget>;
type Target = keyof typeof TARGETS;

const DEB_ARCHITECTURES: Partial<Record<Target, "amd64" | "arm64">> = {
  "linux-x64": "amd64",
  "linux-arm64": "arm64",
};
const FOLDER = join(ROOT, "dist/release");
/** Where install.sh downloads from; set by the workflow. */
const ADDRESS = "@RELEASE_URL@";

const names = Object.keys(TARGETS) as Target[];
const chosen = process.argv.length > 2 ? (process.argv.slice(2) as Target[]) : names;
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`no target ${unknown.join(", ")}: ${names.join(", ")}`);

const date = commitTime();
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const name of chosen) {
  const work = join(FOLDER, name);
  mkdirSync(work);
  const program = join(work, name.startsWith("windows") ? "reseller.exe" : "reseller");
  await compile(TARGETS[name], program);
  const architecture = DEB_ARCHITECTURES[name];
  if (architecture) await buildDeb(program, architecture, FOLDER, date);
  const file = join(FOLDER, `reseller-${name}${name.startsWith("windows") ? ".exe" : ""}`);
  copyFileSync(program, file);
  rmSync(work, { recursive: true });
  // Blocks of a fixed size: the bytes do not depend on the number of processors.
  run("xz", "--threads=2", "--block-size=24MiB", "-4", file);
}
writeFileSync(join(FOLDER, "reseller.cdx.json"), billOfMaterials(date));
writeFileSync(join(FOLDER, "reseller.1"), manPage(await createProgram(), date));
for (const shell of SHELLS) {
  writeFileSync(join(FOLDER, `reseller.${shell}`), completionScript(shell, await createProgram()));
}
const url = process.env["RELEASE_URL"] ?? ADDRESS;
const script = readFileSync(join(ROOT, "deploy/install.sh"), "utf8").replaceAll(ADDRESS, url);
writeFileSync(join(FOLDER, "install.sh"), script, { mode: 0o755 });
writeFileSync(join(FOLDER, "SHA256SUMS"), checksums());

function checksums(): string {
  return readdirSync(FOLDER)
    .toSorted()
    .map((name) => `${sha256(join(FOLDER, name))}  ${name}\n`)
    .join("");
}

function sha256(file: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
}

/** Of the last commit, so that a build of it tomorrow makes the same bytes. */
function commitTime(): number {
  const { success, stdout } = Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: ROOT });
  if (!success) throw new Error("a release is built from a git work tree");
  return Number(stdout.toString());
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
}
