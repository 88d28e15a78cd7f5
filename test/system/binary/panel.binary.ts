// The panel of the binary: over TLS, behind a proxy, set up and used with nothing but curl's means; backups from it.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { BINARY, binary, binaryJson, type Serving, serving, stop } from "../../support/binary.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const PASSWORD = "several easy words";
const ON = ["--panel-listen", "127.0.0.1:0"];

/** Where `serve` and the file say that the panel is. */
async function smmClientOf(folder: string): Promise<string> {
  const file = join(folder, "data/panel.address");
  await until(() => existsSync(file));
  return readFileSync(file, "utf8");
}

interface Asked {
  status: number;
  headers: Headers;
  text: string;
}

/** As a browser does: own pages, and the cookies that it was given. */
function browserOf(url: string) {
  const jar = new Map<string, string>();
  const ask = async (path: string, fields?: Record<string, string>): Promise<Asked> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url + path, {
      redirect: "manual",
      headers: { cookie, "sec-fetch-site": "same-origin" },
      ...(fields ? { method: "POST", body: new URLSearchParams(fields) } : {}),
      tls: { rejectUnauthorized: false },
    });
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(";")[0]!.split("=") as [string, string];
      if (set.includes("Max-Age=0")) jar.delete(name);
      else jar.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { jar, ask };
}

async function invited(folder: string, name = "alice"): Promise<string> {
  const { link } = await binaryJson(folder, "panel", "invite", name);
  return link;
}

test("the panel speaks TLS when the API does, with its own cookies and HSTS, and its link uses TLS", async () => {
  const folder = freshFolder();
  const files = makeCertificate(folder, "first");
  const server = await serving(
    folder,
    "serve",
    "--tls-cert",
    files.cert,
    "--tls-key",
    files.key,
    ...ON,
  );
  const url = await smmClientOf(folder);
  expect(url).toStartWith("https://127.0.0.1:");
  const link = await invited(folder);
  expect(link).toStartWith(`${url}/setup#`);
  const { ask, jar } = browserOf(url);
  const made = await ask("/setup", { token: link.split("#")[1]!, password: PASSWORD });
  expect([made.status, made.headers.get("location")]).toEqual([303, "/"]);
  expect(jar.has("__Host-reseller")).toBe(true);
  const page = await ask("/");
  expect(page.status).toBe(200);
  expect(page.headers.get("strict-transport-security")).toBe("max-age=31536000");
  expect(page.text).toContain("alice");
  await stop(server);
  expect(existsSync(join(folder, "data/panel.address"))).toBe(false);
  expect(server.stdout() + server.stderr()).not.toContain(link.split("#")[1]!);
  expect(server.stdout() + server.stderr()).not.toContain(PASSWORD);
});

test("plain HTTP outside this machine is refused at the start, but behind a proxy or where it is asked for", async () => {
  const folder = freshFolder();
  const beyond = ["--port", "0", "--panel-listen", "0.0.0.0:0"];
  const { code, stderr } = await binary(folder, "serve", ...beyond);
  expect([code, stderr]).toEqual([2, expect.stringContaining("plain HTTP outside this machine")]);
  for (const flags of [
    ["--panel-url", "https://panel.example"],
    ["--panel-insecure", "on"],
  ]) {
    const server = await serving(folder, "serve", "--panel-listen", "0.0.0.0:0", ...flags);
    await smmClientOf(folder);
    await stop(server);
  }
});

test("a password set at the terminal ends the sessions, and no other administrator's secret is printed", async () => {
  const folder = freshFolder();
  const server = await serving(folder, "serve", ...ON);
  const url = await smmClientOf(folder);
  const { ask } = browserOf(url);
  const link = await invited(folder);
  await ask("/setup", { token: link.split("#")[1]!, password: PASSWORD });
  expect((await ask("/account")).status).toBe(200);
  const next = "another long password";
  const child = Bun.spawn([BINARY, "panel", "password", "alice", "--stdin", "--data", "data"], {
    cwd: folder,
    stdin: new TextEncoder().encode(`${next}\n`),
    stdout: "pipe",
    stderr: "pipe",
  });
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(printed).not.toContain(next);
  expect((await ask("/account")).headers.get("location")).toBe("/sign-in?next=%2Faccount");
  expect((await ask("/sign-in", { name: "alice", password: PASSWORD })).status).toBe(422);
  expect((await ask("/sign-in", { name: "alice", password: next })).status).toBe(303);
  expect(server.stderr()).toContain("panel: sign-in failed");
  await stop(server);
});

test("a backup is made and verified in the panel, and its page shows the settings without secrets", async () => {
  const folder = freshFolder();
  const server: Serving = await serving(folder, "serve", ...ON);
  const { ask } = browserOf(await smmClientOf(folder));
  const link = await invited(folder);
  await ask("/setup", { token: link.split("#")[1]!, password: PASSWORD });
  expect((await ask("/system/backups", {})).status).toBe(303);
  const nameOf = (text: string) => /<code>(reseller-[^<]+\.db)<\/code>/.exec(text)?.[1];
  const shown = async (): Promise<string> => (await ask("/system")).text;
  const untilShown = async (isRight: (text: string) => boolean): Promise<void> => {
    while (!isRight(await shown()));
  };
  await untilShown((text) => nameOf(text) !== undefined && !text.includes("one is being made"));
  const backup = nameOf(await shown())!;
  expect((await ask("/system/backups/verify", { backup })).status).toBe(303);
  await untilShown((text) => text.includes("adds up"));
  const other = await ask("/system/backups/verify", { backup: "../../etc/passwd" });
  expect(other.status).toBe(422);
  const page = await shown();
  expect(page).toContain("<code>panel-listen</code>");
  expect(page).toContain("flag");
  await stop(server);
  expect((await binary(folder, "verify", "--file", `data/backups/${backup}`)).code).toBe(0);
});
