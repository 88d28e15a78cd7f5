// The licences that the binary prints are those of the packages in it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import packageJson from "../../../package.json" with { type: "json" };
import { binary, binaryJson } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const PACKAGE = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, unknown>;
}

function manifestOf(name: string): Manifest | null {
  try {
    return JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
  } catch {
    return null;
  }
}

/** Versions of a package: at the top, and below the packages that need another version. */
function installedVersions(name: string): string[] {
  const files = new Bun.Glob(`**/node_modules/${name}/package.json`).scanSync({ cwd: ROOT });
  return [...files].map((file) => {
    const { version }: Manifest = JSON.parse(readFileSync(join(ROOT, file), "utf8"));
    return version;
  });
}

/** Every installed package that what runs may ask for, from the dependencies in package.json on. */
function closure(names: Iterable<string>, found = new Set<string>()): Set<string> {
  for (const name of names) {
    const manifest = manifestOf(name);
    if (!manifest || found.has(name)) continue;
    found.add(name);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    closure(
      Object.keys({
        ...dependencies,
        ...optionalDependencies,
        ...peerDependencies,
        ...peerDependenciesMeta,
      }),
      found,
    );
  }
  return found;
}

/** Packages whose files the source maps of the build name. */
function packagesInSourceMaps(): string[] {
  const folder = join(ROOT, "dist/reseller.maps");
  const files = readdirSync(folder).flatMap(
    (file) => JSON.parse(readFileSync(join(folder, file), "utf8")).sources as string[],
  );
  return [...new Set(files.flatMap((file) => PACKAGE.exec(file)?.[1] ?? []))];
}

test("every package in the binary is named once, with its version, its licence and the text of it", async () => {
  const licenses: Record<"name" | "version" | "license" | "text", string>[] = await binaryJson(
    freshFolder(),
    "licenses",
  );
  const [runtime, ...packages] = licenses;
  expect(runtime).toMatchObject({ name: "bun", version: "1.4.5", license: "MIT" });
  expect(runtime!.text).toContain("statically links JavaScriptCore");
  const names = packages.map(({ name }) => name);
  const versions = packages.map(({ name, version }) => `${name} ${version}`);
  expect(versions).toEqual([...new Set(versions)].sort());
  const inMaps = packagesInSourceMaps();
  expect(inMaps.length).toBeGreaterThan(30);
  expect(inMaps.filter((name) => !names.includes(name))).toEqual([]);
  const direct = Object.keys(packageJson.dependencies);
  expect(direct.filter((name) => !names.includes(name))).toEqual([]);
  const all = closure(direct);
  expect(names.filter((name) => !all.has(name))).toEqual([]);
  for (const { name, version, license, text } of packages) {
    expect([name, installedVersions(name)]).toEqual([name, expect.arrayContaining([version])]);
    expect([name, license]).toEqual([
      name,
      expect.stringMatching(/^(MIT|MIT-0|ISC|Apache-2\.0|BSD-.*)$/),
    ]);
    expect([name, text]).toEqual([name, expect.stringMatching(/copyright|Apache License/i)]);
  }
});

test("the text output has the same packages", async () => {
  const { code, stdout } = await binary(freshFolder(), "licenses");
  expect(code).toBe(0);
  expect(stdout).toContain(`elysia ${packageJson.dependencies.elysia} (MIT)`);
  expect(stdout).toContain("WITHOUT WARRANTY OF ANY KIND");
});
