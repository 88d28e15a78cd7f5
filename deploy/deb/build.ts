// Makes a Debian package of a compiled program, with dpkg-deb. Equal input makes equal bytes.

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import packageJson from "../../package.json" with { type: "json" };
import { completionScript, type Shell } from "../../src/cli/about/completion-scripts.ts";
import { manPage } from "../../src/cli/about/man-page.ts";
import { createProgram } from "../../src/cli/kernel/program.ts";
import { ROOT } from "../compile.ts";
import { type License, licensesJson } from "../licenses.ts";

const SCRIPTS = ["postinst", "prerm", "postrm"];
/** Where each shell of Debian looks for them. */
const COMPLETIONS: Record<Shell, string> = {
  bash: "usr/share/bash-completion/completions/reseller",
  zsh: "usr/share/zsh/vendor-completions/_reseller",
  fish: "usr/share/fish/vendor_completions.d/reseller.fish",
};

/** `date`: in seconds since 1970. Returns the path of the package. */
export async function buildDeb(
  program: string,
  architecture: "amd64" | "arm64",
  folder: string,
  date: number,
): Promise<string> {
  const staging = mkdtempSync(join(tmpdir(), "reseller-deb-"));
  const add = (path: string, content: string | Uint8Array, mode = 0o644) => {
    const file = join(staging, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeFileSync(file, content);
    chmodSync(file, mode);
  };
  try {
    // mkdtemp closes the folder to others, and the package would close / too.
    chmodSync(staging, 0o755);
    mkdirSync(join(staging, "usr/bin"), { recursive: true, mode: 0o755 });
    cpSync(program, join(staging, "usr/bin/reseller"));
    chmodSync(join(staging, "usr/bin/reseller"), 0o755);
    add("usr/lib/systemd/system/reseller.service", unit());
    for (const [shell, path] of Object.entries(COMPLETIONS)) {
      add(path, completionScript(shell as Shell, await createProgram()));
    }
    add("usr/lib/reseller/data", "/var/lib/reseller\n");
    add(
      "usr/share/reseller/postgres-role.sql",
      readFileSync(join(ROOT, "deploy/postgres-role.sql"), "utf8"),
    );
    add("usr/share/man/man1/reseller.1.gz", gzip(manPage(await createProgram(), date)));
    add("usr/share/doc/reseller/copyright", copyright());
    add(
      "usr/share/doc/reseller/changelog.gz",
      gzip(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8")),
    );
    add("usr/share/doc/reseller/litestream.yml", readFileSync(join(ROOT, "deploy/litestream.yml")));
    for (const name of SCRIPTS) {
      add(`DEBIAN/${name}`, readFileSync(join(import.meta.dir, name)), 0o755);
    }
    add("DEBIAN/control", control(architecture, statSync(program).size));
    const target = join(folder, `reseller_${packageJson.version}_${architecture}.deb`);
    const { success, stderr } = Bun.spawnSync(
      ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", "-z4", staging, target],
      { env: { PATH: process.env["PATH"], SOURCE_DATE_EPOCH: String(date) } },
    );
    if (!success) throw new Error(`dpkg-deb failed: ${stderr.toString()}`);
    return target;
  } finally {
    rmSync(staging, { recursive: true });
  }
}

function control(architecture: string, bytes: number): string {
  return `Package: reseller
Version: ${packageJson.version}
Architecture: ${architecture}
Maintainer: reseller maintainers <root@localhost>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.17), passwd
Section: net
Priority: optional
Description: ${packageJson.description}
 A JSON API for orders of catalogue services, charged to prepaid balances, and
 a command line for its operator. One program with one SQLite file.
`;
}

/** The unit as shipped, with the package's place of the program. */
function unit(): string {
  return readFileSync(join(ROOT, "deploy/reseller.service"), "utf8")
    .replace("# /etc/systemd/system/reseller.service: see deploy/README.md.\n", "")
    .replace("/usr/local/bin/reseller", "/usr/bin/reseller");
}

function copyright(): string {
  const others = (JSON.parse(licensesJson()) as License[])
    .map(({ name, version, license }) => `${name} ${version}: ${license}`)
    .join("\n");
  return `${readFileSync(join(ROOT, "LICENSE"), "utf8")}
The program contains the following; \`reseller licenses\` prints their licences.

${others}
`;
}

function gzip(text: string): Uint8Array {
  // The best compression, as Debian asks; the header holds no time.
  return gzipSync(text, { level: 9 });
}
