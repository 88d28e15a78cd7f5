// `bun run release [TARGET…]`: what people download, into dist/release. Needs xz and dpkg-deb; minisign for the
// signature of the sums, with the key in the file RELEASE_SIGNING_KEY_FILE.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { completionScript, SHELLS } from "../src/cli/about/completion-scripts.ts";
import { manPage } from "../src/cli/about/man-page.ts";
import { createProgram } from "../src/cli/kernel/program.ts";
import packageJson from "../package.json" with { type: "json" };
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
/** What install.sh gets from the environment of the release, by its placeholders in the script. */
const INSTALLER_VALUES = {
  /** Where it downloads from. */
  "@RELEASE_URL@": process.env["RELEASE_URL"],
  /** The public key of the signature, as minisign prints it. */
  "@RELEASE_KEY@": process.env["RELEASE_KEY"],
};

const names = Object.keys(TARGETS) as Target[];
const chosen = process.argv.length > 2 ? (process.argv.slice(2) as Target[]) : names;
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) throw new Error(`no target ${unknown.join(", ")}: ${names.join(", ")}`);

const date = Number(ofCommit("%ct"));
const maintainer = ofCommit("%cn <%ce>");
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const name of chosen) {
  const work = join(FOLDER, name);
  mkdirSync(work);
  const program = join(work, name.startsWith("windows") ? "reseller.exe" : "reseller");
  await compile(TARGETS[name], program);
  const architecture = DEB_ARCHITECTURES[name];
  if (architecture) await buildDeb(program, architecture, FOLDER, { date, maintainer });
  const file = join(FOLDER, `reseller-${name}${name.startsWith("windows") ? ".exe" : ""}`);
  copyFileSync(program, file);
  rmSync(work, { recursive: true });
  // Blocks of a fixed size: the bytes do not depend on the number of processors. The lowest level takes a third of the
  // time of the fourth and makes 6 % more bytes.
  run("xz", "--threads=2", "--block-size=24MiB", "-0", file);
}
writeFileSync(join(FOLDER, "reseller.cdx.json"), billOfMaterials(date));
writeFileSync(join(FOLDER, "reseller.1"), manPage(await createProgram(), date));
for (const shell of SHELLS) {
  writeFileSync(join(FOLDER, `reseller.${shell}`), completionScript(shell, await createProgram()));
}
let installer = readFileSync(join(ROOT, "deploy/install.sh"), "utf8");
for (const [placeholder, value] of Object.entries(INSTALLER_VALUES)) {
  if (value !== undefined) installer = installer.replace(placeholder, value);
}
writeFileSync(join(FOLDER, "install.sh"), installer, { mode: 0o755 });
const sums = join(FOLDER, "SHA256SUMS");
writeFileSync(sums, checksums());
// A key without a password, or minisign would ask for one.
const signingKey = process.env["RELEASE_SIGNING_KEY_FILE"];
if (signingKey) {
  run("minisign", "-S", "-s", signingKey, "-m", sums, "-t", `reseller ${packageJson.version}`);
}
console.log(
  `made: ${FOLDER}${signingKey ? "" : ", not signed: RELEASE_SIGNING_KEY_FILE names no key"}`,
);

function checksums(): string {
  return readdirSync(FOLDER)
    .toSorted()
    .map((name) => `${sha256(join(FOLDER, name))}  ${name}\n`)
    .join("");
}

function sha256(file: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
}

/** Returns a fact of the last commit, so that a build of the same commit tomorrow makes the same bytes. */
function ofCommit(format: string): string {
  const { success, stdout } = Bun.spawnSync(["git", "log", "-1", `--format=${format}`], {
    cwd: ROOT,
  });
  if (!success) throw new Error("a release is built from a git work tree");
  return stdout.toString().trim();
}

function run(...command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
}
