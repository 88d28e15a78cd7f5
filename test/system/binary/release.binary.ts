// What a release holds besides the program: the installer, the package, the manual page, the completion, the bill of
// materials. The package's installation and removal: test/system/release/deb.sh.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { buildDeb } from "../../../deploy/deb/build.ts";
import { billOfMaterials } from "../../../deploy/sbom.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { binary } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { LINTIAN } from "../../support/lintian.ts";

const INSTALL = new URL("../../../deploy/install.sh", import.meta.url).pathname;
const RELEASE = { date: 1_795_000_000, maintainer: "reseller test <test@example.com>" };

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(
  command: string[],
  environment: Record<string, string> = {},
): Promise<CommandResult> {
  const child = Bun.spawn(command, {
    env: { PATH: process.env["PATH"], ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** A small program in the place of the real one. */
function program(folder: string, script: string): string {
  const file = join(folder, "program");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("install.sh", () => {
  let release: string;
  let server: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    release = freshFolder();
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const file = join(release, new URL(request.url).pathname);
        return existsSync(file) ? new Response(Bun.file(file)) : new Response("", { status: 404 });
      },
    });
  });
  afterAll(() => server.stop(true));

  async function publish(script: string): Promise<void> {
    rmSync(release, { recursive: true });
    mkdirSync(release);
    const name = `reseller-linux-${process.arch}`;
    await run(["xz", "-z", program(release, script)]);
    await run(["mv", join(release, "program.xz"), join(release, `${name}.xz`)]);
    const { stdout } = await run(["sh", "-c", `cd ${release} && sha256sum *.xz`]);
    writeFileSync(join(release, "SHA256SUMS"), stdout);
  }

  async function install(
    folder: string,
    environment: Record<string, string> = {},
  ): Promise<CommandResult> {
    return run(["sh", INSTALL, folder], { ...atRelease(), ...environment });
  }

  const atRelease = () => ({ RELEASE_URL: `http://127.0.0.1:${server.port}` });

  /** A folder with links to the tools of this machine but those named, for PATH. */
  function toolsWithout(...missing: string[]): string {
    const folder = freshFolder();
    for (const from of ["/usr/sbin", "/usr/bin", "/bin"]) {
      for (const name of readdirSync(from)) {
        const link = join(folder, name);
        if (!missing.includes(name) && !existsSync(link)) symlinkSync(join(from, name), link);
      }
    }
    return folder;
  }

  /** Signs the sums with a new key. Returns the public key. */
  async function sign(): Promise<string> {
    const keys = freshFolder();
    const [secret, open] = [join(keys, "secret"), join(keys, "public")];
    await run(["minisign", "-G", "-W", "-s", secret, "-p", open]);
    await run(["minisign", "-S", "-s", secret, "-m", join(release, "SHA256SUMS")]);
    return readFileSync(open, "utf8").trim().split("\n").at(-1)!;
  }

  test("installs the program for this machine, in the place of the one before", async () => {
    await publish("echo reseller 1");
    const folder = freshFolder();
    writeFileSync(join(folder, "reseller"), "old");
    expect(await install(folder)).toMatchObject({ code: 0 });
    expect((await run([join(folder, "reseller")])).stdout).toBe("reseller 1\n");
    expect(readdirSync(folder)).toEqual(["reseller"]);
  });

  test.each([
    [
      "whose sum differs",
      (sums: string) => sums.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
    ],
    ["that is not listed", () => `${"0".repeat(64)}  other.xz\n`],
    ["without sums", () => null],
  ])("installs nothing of a release %s", async (_, change) => {
    await publish("echo reseller 1");
    const sums = change(readFileSync(join(release, "SHA256SUMS"), "utf8"));
    if (sums === null) rmSync(join(release, "SHA256SUMS"));
    else writeFileSync(join(release, "SHA256SUMS"), sums);
    const folder = freshFolder();
    expect((await install(folder)).code).not.toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("installs a release that is signed with the key of the script", async () => {
    await publish("echo reseller 1");
    const folder = freshFolder();
    expect(await install(folder, { RELEASE_KEY: await sign() })).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["reseller"]);
  });

  test.each([
    ["signed with another key", async () => void (await sign())],
    [
      "whose sums were changed after they were signed",
      async () => {
        const sums = join(release, "SHA256SUMS");
        writeFileSync(sums, `${readFileSync(sums, "utf8")}\n`);
      },
    ],
    ["without a signature", async () => rmSync(join(release, "SHA256SUMS.minisig"))],
  ])("with a key, installs nothing of a release %s", async (_, damage) => {
    await publish("echo reseller 1");
    const key = await sign();
    await damage();
    const folder = freshFolder();
    expect((await install(folder, { RELEASE_KEY: key })).code).not.toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("installs for all users whatever the umask, into a folder that is named from where it is run", async () => {
    await publish("echo reseller 1");
    const folder = freshFolder();
    mkdirSync(join(folder, "my programs"));
    for (const named of ["my programs", "."]) {
      const at = join(folder, named);
      const script = `umask 077; cd "$0"; sh ${INSTALL} "$1"`;
      expect(await run(["sh", "-c", script, folder, named], atRelease())).toMatchObject({
        code: 0,
      });
      expect(statSync(join(at, "reseller")).mode & 0o777).toBe(0o755);
      expect(readdirSync(at).filter((name) => name.startsWith("."))).toEqual([]);
    }
  });

  test("works without a home, with wget instead of curl, and where programs may not be run from the temporary folder", async () => {
    await publish("case $0 in $TMPDIR/*) exit 126 ;; esac; echo reseller 1");
    const folder = freshFolder();
    const environment = { PATH: toolsWithout("curl"), TMPDIR: freshFolder() };
    expect(await install(folder, environment)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["reseller"]);
  });

  test.each([
    [
      "without curl and wget",
      () => ({ PATH: toolsWithout("curl", "wget") }),
      "apt-get install curl",
    ],
    ["without xz", () => ({ PATH: toolsWithout("xz") }), "apt-get install xz-utils"],
    ["that names no release", () => ({ RELEASE_URL: "" }), "names no release"],
    ["into a folder that is missing", () => ({ INTO: "/nowhere" }), "no folder /nowhere"],
  ])("%s it says what to do, and changes nothing", async (_, environment, said) => {
    await publish("echo reseller 1");
    const folder = freshFolder();
    const { INTO = folder, ...rest } = environment() as Record<string, string>;
    const { code, stderr } = await install(INTO, rest);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("refuses an older release than the installed one, and leaves nothing of it", async () => {
    await publish("echo 0.9.0");
    const folder = freshFolder();
    expect(await install(folder)).toMatchObject({ code: 0 });
    await publish("echo 0.10.0");
    expect(await install(folder)).toMatchObject({ code: 0 });
    await publish("echo 0.9.0");
    const { code, stderr } = await install(folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("newer than this release")]);
    expect((await run([join(folder, "reseller")])).stdout).toBe("0.10.0\n");
    expect(readdirSync(folder)).toEqual(["reseller"]);
  });

  test("leaves nothing when the download is cut off, the disk is full or it is interrupted", async () => {
    const folder = freshFolder();
    const temporary = freshFolder();
    const environment = { TMPDIR: temporary };
    // The sums are of the whole file.
    await publish("echo reseller 1");
    const file = join(release, `reseller-linux-${process.arch}.xz`);
    writeFileSync(file, readFileSync(file).subarray(0, 40));
    expect((await install(folder, environment)).code).not.toBe(0);
    // A limit for the size of a file stands for a full disk.
    await publish(`echo reseller 1\n# ${"x".repeat(200_000)}`);
    const limited = `ulimit -f 100; exec sh ${INSTALL} ${folder}`;
    const full = await run(["sh", "-c", limited], { ...atRelease(), ...environment });
    expect(full.code).not.toBe(0);
    // The new program is asked for its version while it has its temporary name.
    await publish("kill -TERM $PPID; sleep 0.2; echo reseller 1");
    expect((await install(folder, environment)).code).toBe(130);
    expect([readdirSync(folder), readdirSync(temporary)]).toEqual([[], []]);
  });

  test("two at once leave one whole program", async () => {
    await publish(`# ${"x".repeat(500_000)}\necho reseller 1`);
    const folder = freshFolder();
    const codes = await Promise.all(
      Array.from({ length: 4 }, async () => (await install(folder)).code),
    );
    expect(codes).toEqual([0, 0, 0, 0]);
    expect((await run([join(folder, "reseller")])).stdout).toBe("reseller 1\n");
    expect(readdirSync(folder)).toEqual(["reseller"]);
  });

  test("keeps the installed program if the new one does not run on this machine", async () => {
    await publish("exit 127");
    const folder = freshFolder();
    writeFileSync(join(folder, "reseller"), "old");
    expect((await install(folder)).code).not.toBe(0);
    expect(readFileSync(join(folder, "reseller"), "utf8")).toBe("old");
  });
});

test.each([
  ["a running service with an older version", ["upgrade", "0.10.0", "0.9.0"], 0, 1],
  ["a stopped service with an older version", ["upgrade", "0.10.0", "0.9.0"], 3, 0],
  ["a running service with a newer version", ["upgrade", "0.9.0", "0.10.0"], 0, 0],
  ["nothing, at a first installation", ["install"], 0, 0],
])(
  "the package that replaces %s is refused only if that could not start",
  async (_, argv, state, code) => {
    const folder = freshFolder();
    writeFileSync(join(folder, "systemctl"), `#!/bin/sh\nexit ${state}\n`, { mode: 0o755 });
    const script = new URL("../../../deploy/deb/preinst", import.meta.url).pathname;
    const PATH = `${folder}:${process.env["PATH"]}`;
    expect(await run(["sh", script, ...argv], { PATH })).toMatchObject({ code });
  },
);

test("the Debian package has the expected files, writable only by root, and is reproducible byte for byte", async () => {
  const [one, other] = await Promise.all(
    [freshFolder(), freshFolder()].map((folder) =>
      buildDeb(program(folder, "echo reseller 1"), "amd64", folder, RELEASE),
    ),
  );
  expect(readFileSync(one!).equals(readFileSync(other!))).toBeTrue();
  const { stdout } = await run(["dpkg-deb", "--contents", one!]);
  const entries = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/));
  const files = entries.filter(([mode]) => mode!.startsWith("-"));
  expect(Object.fromEntries(files.map(([mode, , , , , name]) => [name, mode]))).toEqual({
    "./usr/bin/reseller": "-rwxr-xr-x",
    "./usr/lib/systemd/system/reseller.service": "-rw-r--r--",
    "./usr/lib/reseller/data": "-rw-r--r--",
    "./usr/share/reseller/postgres-role.sql": "-rw-r--r--",
    "./usr/share/bash-completion/completions/reseller": "-rw-r--r--",
    "./usr/share/doc/reseller/changelog.gz": "-rw-r--r--",
    "./usr/share/doc/reseller/copyright": "-rw-r--r--",
    "./usr/share/doc/reseller/CHANGELOG.md.gz": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/Caddyfile": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/alerts.yml": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/catalogue.example.csv": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/fail2ban/filter.conf": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/fail2ban/jail.conf": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/grafana-dashboard.json": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/litestream.yml": "-rw-r--r--",
    "./usr/share/doc/reseller/examples/reseller-demo.service": "-rw-r--r--",
    "./usr/share/lintian/overrides/reseller": "-rw-r--r--",
    "./usr/share/reseller/reseller.env": "-rw-r--r--",
    "./usr/share/fish/vendor_completions.d/reseller.fish": "-rw-r--r--",
    "./usr/share/man/man1/reseller.1.gz": "-rw-r--r--",
    "./usr/share/zsh/vendor-completions/_reseller": "-rw-r--r--",
  });
  for (const [mode, owner] of entries) {
    expect(owner).toBe("root/root");
    expect(mode).toMatch(/^(-rw|drwxr-xr-x)/);
  }
  const { stdout: unit } = await run([
    "sh",
    "-c",
    `dpkg-deb --fsys-tarfile ${one} | tar -xO ./usr/lib/systemd/system/reseller.service`,
  ]);
  expect(unit).toContain("ExecStart=/usr/bin/reseller serve");
  expect(unit).not.toContain("/usr/local");
});

// With a small program, because lintian takes 20 s for the real one: test/system/release/install.ts does that.
test("lintian finds nothing in the Debian package", async () => {
  const folder = freshFolder();
  const file = await buildDeb("/bin/true", "amd64", folder, RELEASE);
  const { stdout } = await run([...LINTIAN, file]);
  // The overrides for the real program are not needed for this one.
  const findings = stdout
    .split("\n")
    .filter((line) => !/ unused-override | unused overrides?$/.test(line));
  expect(findings).toEqual([""]);
});

test("the manual page names every setting, and man has nothing to say against it", async () => {
  const folder = freshFolder();
  const file = join(folder, "reseller.1");
  writeFileSync(file, (await binary(folder, "man")).stdout);
  const { code, stderr, stdout } = await run(["man", "--warnings", "-l", file], {
    MANPAGER: "cat",
    LC_ALL: "C.UTF-8",
  });
  expect([code, stderr]).toEqual([0, ""]);
  for (const text of ["--backup-to <S3-URL>", "reseller admin user credit", "EXIT STATUS"]) {
    expect(stdout).toContain(text);
  }
});

test("what a release is made from is named by its content: the actions of its workflows, the base of its image", () => {
  const text = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const workflows = ["release", "site"]
    .map((name) => text(`.github/workflows/${name}.yml`))
    .join("");
  const actions = [...workflows.matchAll(/uses: (.*)/g)];
  expect(actions.length).toBeGreaterThan(0);
  for (const [, action] of actions) expect(action).toMatch(/^[^@]+@[0-9a-f]{40} # v\d/);
  const bases = [...text("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, base]) => base!);
  expect(bases.at(-1)).toBe("scratch");
  for (const base of bases.slice(0, -1)) expect(base).toMatch(/^debian:\S+@sha256:[0-9a-f]{64}$/);
});

test("the bill of materials lists every dependency with its version and licence", () => {
  const { components } = JSON.parse(billOfMaterials(RELEASE.date)) as {
    components: { name: string; version: string; licenses: { license: { id: string } }[] }[];
  };
  const found = new Map(components.map((component) => [component.name, component]));
  for (const [name, version] of Object.entries(packageJson.dependencies)) {
    expect([name, found.get(name)?.version]).toEqual([name, version]);
    expect(found.get(name)!.licenses[0]!.license.id).not.toBe("");
  }
  expect(found.get("bun")?.version).toBe(Bun.version);
});
