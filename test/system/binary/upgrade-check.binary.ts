// `upgrade --check`: what it says of releases that minisign signed, and of everything that it did not sign.

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import packageJson from "../../../package.json" with { type: "json" };
import { binary, serving, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

const [MAJOR, MINOR, PATCH] = packageJson.version.split(".").map(Number) as [
  number,
  number,
  number,
];
const SUMS = `${"0".repeat(64)}  reseller-linux-x64.xz\n`;

let folder: string;
let keys: string;
let key: string;
let server: ReturnType<typeof Bun.serve>;
/** Paths that were asked for. */
const asked: string[] = [];
let other: () => Response | Promise<Response> = () => new Response("", { status: 404 });

function minisign(...argv: string[]): void {
  const { success, stderr } = Bun.spawnSync(["minisign", ...argv]);
  if (!success) throw new Error(stderr.toString());
}

/** Returns the public key of a new pair, whose secret key is beside it. */
function newKey(name: string): string {
  minisign("-G", "-W", "-f", "-s", join(keys, name), "-p", join(keys, `${name}.pub`));
  return readFileSync(join(keys, `${name}.pub`), "utf8")
    .trim()
    .split("\n")
    .at(-1)!;
}

/** Publishes a release as `bun run release` does. */
function publish(version: string, { comment = `reseller ${version}`, more = [] as string[] } = {}) {
  writeFileSync(join(folder, "SHA256SUMS"), SUMS);
  minisign(
    "-S",
    "-s",
    join(keys, "release"),
    "-m",
    join(folder, "SHA256SUMS"),
    "-t",
    comment,
    ...more,
  );
}

const url = () => `http://127.0.0.1:${server.port}`;
const check = (...more: string[]) =>
  binary(
    freshFolder(),
    "upgrade",
    "--check",
    "--release-url",
    url(),
    "--release-key",
    key,
    ...more,
  );

beforeAll(() => {
  keys = freshFolder();
  key = newKey("release");
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const file = Bun.file(join(folder, pathname));
      return file.size > 0 ? new Response(file) : other();
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  folder = freshFolder();
  other = () => new Response("", { status: 404 });
});

describe.each([
  ["", []],
  ["of minisign's older form", ["-l"]],
] as const)("a release with a signature %s", (_, more) => {
  test.each([
    [`${MAJOR}.${MINOR}.${PATCH}`, false],
    [`${MAJOR}.${MINOR}.${PATCH + 1}`, true],
    [`${MAJOR}.${MINOR + 10}.0`, true],
    [`${MAJOR + 1}.0.0`, true],
    // An older one, as from a mirror that stands still, is no upgrade.
    ["0.0.1", false],
  ])("%s: newer is %p", async (version, isNewer) => {
    publish(version, { more: [...more] });
    const { code, stdout } = await check("--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      isNewer ? 3 : 0,
      { current: packageJson.version, newest: version, isNewer, url: url() },
    ]);
    const text = await check();
    expect(text.stdout).toContain(
      isNewer
        ? `reseller ${version} is available`
        : version === packageJson.version
          ? "is the newest release"
          : `is newer than ${version}`,
    );
  });
});

const SIGNATURE = "SHA256SUMS.minisig";
const changed = (name: string, change: (text: string) => string) => () =>
  writeFileSync(join(folder, name), change(readFileSync(join(folder, name), "utf8")));
const line = (index: number, change: (text: string) => string) =>
  changed(SIGNATURE, (text) =>
    text
      .split("\n")
      .map((each, at) => (at === index ? change(each) : each))
      .join("\n"),
  );
/** Changes one character of base64 in the middle. */
const bent = (text: string) => text.slice(0, 40) + (text[40] === "A" ? "B" : "A") + text.slice(41);

test.each<[string, () => void]>([
  ["with other sums", changed("SHA256SUMS", (text) => text.replace("0", "1"))],
  ["with a line more", changed("SHA256SUMS", (text) => `${text}${SUMS}`)],
  ["with another signature", line(1, bent)],
  ["with another version in its comment", line(2, (text) => text.replace(/\d+$/, "99"))],
  ["with another signature of its comment", line(3, bent)],
  ["without its last line", line(3, () => "")],
  ["with a signature that is none", changed(SIGNATURE, () => "<html>")],
  ["that another key signed", () => {
    newKey("stranger");
    minisign("-S", "-s", join(keys, "stranger"), "-m", join(folder, "SHA256SUMS"), "-t", "reseller 99.0.0");
  }],
  ["that is endless", () => writeFileSync(join(folder, "SHA256SUMS"), "0".repeat(10_000_000))],
])("a release %s is not announced: exit 1", async (_, damage) => {
  publish(`${MAJOR + 1}.0.0`);
  expect((await check()).code).toBe(3);
  damage();
  const { code, stdout, stderr } = await check();
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("is not signed by the key")]);
}); // prettier-ignore

test("a signature that names no version is refused", async () => {
  publish("9.9.9", { comment: "another program 9.9.9" });
  expect(await check()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("names no version"),
  });
});

test("offline, or without a release there, it says that nothing is known: exit 1", async () => {
  expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining("HTTP 404") });
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const nobody = `http://127.0.0.1:${closed.port}`;
  await closed.stop(true);
  const argv = ["upgrade", "--check", "--release-url", nobody, "--release-key", key];
  const { code, stderr } = await binary(freshFolder(), ...argv);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("not known whether there is a newer"),
  ]);
});

test("a build without an address of releases says so, and `upgrade` alone is wrong usage", async () => {
  const none = await binary(freshFolder(), "upgrade", "--check");
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("--release-url") });
  expect((await binary(freshFolder(), "upgrade")).code).toBe(2);
});

test("a server with an address of releases never asks it", async () => {
  publish(`${MAJOR + 1}.0.0`);
  const home = freshFolder();
  mkdirSync(join(home, "data"));
  const file = join(home, "settings.env");
  writeFileSync(
    file,
    `RELEASE_URL=${url()}\nRESELLER_RELEASE_URL=${url()}\nRESELLER_RELEASE_KEY=${key}\n`,
  );
  chmodSync(file, 0o600);
  asked.length = 0;
  const running = await serving(home, "serve", "--env-file", file, "--panel-listen", "127.0.0.1:0");
  for (const command of [["version"], ["doctor", "--data", "data"], ["config", "check"]]) {
    await binary(home, ...command, "--env-file", file);
  }
  await stop(running);
  expect(asked).toEqual([]);
  expect((await binary(home, "upgrade", "--check", "--env-file", file)).code).toBe(3);
  expect(asked.length).toBe(2);
  rmSync(home, { recursive: true });
});
