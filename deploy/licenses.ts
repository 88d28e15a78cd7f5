// A macro: runs while the binary is built, and puts the licences of what is in it into it. The packages are those
// whose files the bundler reads, so that none can be forgotten; one without a licence text ends the build.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTRY_POINTS } from "./entry-points.ts";

export interface License {
  name: string;
  version: string;
  /** SPDX. */
  license: string;
  text: string;
}

const ROOT = join(import.meta.dir, "..");
/** Imports this file: read too, the build would never end. It imports nothing that others do not. */
const IMPORTER = "*/license-texts.ts";
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;
const BUN_LICENSES = join(ROOT, "node_modules/bun-types/docs/project/license.mdx");

/** JSON of License[], the runtime's first. */
export function licensesJson(): string {
  const found = bundledPackages().map((folder) => readLicense(folder));
  // A version can be installed several times, below the packages that need it.
  const named = new Map(found.map((entry) => [`${entry.name} ${entry.version}`, entry]));
  const packages = [...named.keys()].sort().map((name) => named.get(name)!);
  for (const entry of packages) entry.text ||= standardText(entry, packages);
  return JSON.stringify([licenseOfBun(), ...packages]);
}

/** Folders of the packages in the binary. */
function bundledPackages(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "reseller-licenses-"));
  const metafile = join(folder, "meta.json");
  const flags = ["--target=bun", `--external=${IMPORTER}`, `--metafile=${metafile}`];
  const { success, stderr } = Bun.spawnSync(
    [process.execPath, "build", ...ENTRY_POINTS, ...flags, `--outdir=${folder}`],
    { cwd: ROOT },
  );
  if (!success) throw new Error(`the packages cannot be listed: ${stderr.toString()}`);
  const { inputs } = JSON.parse(readFileSync(metafile, "utf8")) as { inputs: object };
  rmSync(folder, { recursive: true });
  const folders = Object.keys(inputs).flatMap((file) => PACKAGE.exec(file)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

function readLicense(folder: string): License {
  const path = join(ROOT, folder);
  const manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as License;
  const texts = readdirSync(path)
    .filter((file) => LICENSE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(path, file), "utf8").trim());
  const { name, version, license } = manifest;
  return { name, version, license, text: texts.join("\n\n") };
}

/** Of a package that comes without one: that of another under the same licence, where it names no holder of rights. */
function standardText({ name, license }: License, packages: readonly License[]): string {
  const other = packages.find((entry) => entry.license === license && entry.text !== "");
  if (license !== "Apache-2.0" || !other) throw new Error(`${name} comes without a licence text`);
  return `${name} comes without a copy of its licence, ${license}; this is the one that ${other.name} comes with.\n\n${other.text}`;
}

/** Bun's own statement of its licence and of those of the libraries it is linked to. */
function licenseOfBun(): License {
  const text = readFileSync(BUN_LICENSES, "utf8").replace(/^---\n.*?\n---\n/s, "");
  return { name: "bun", version: Bun.version, license: "MIT", text: text.trim() };
}
