// A quickstart of the source as a process of its own: the server, its data and the link of its first administrator.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";

const MAIN = new URL("../../../src/main.ts", import.meta.url).pathname;
const PASSWORD = "correct horse battery";

export interface Quickstart {
  /** The address of the API, and below it of the panel. */
  url: string;
  panelUrl: string;
  data: string;
  /** The key of the demo reseller. */
  key: string;
  /** Leads the page from the link of the set-up to Today. */
  signUp: (page: Page) => Promise<void>;
  /** A command on its database; what it prints with --json. Throws when it fails. */
  command: (argv: readonly string[], stdin?: string) => Promise<unknown>;
  stop: () => Promise<void>;
}

export async function startQuickstart(...settings: string[]): Promise<Quickstart> {
  const data = mkdtempSync(join(tmpdir(), "reseller-quickstart-"));
  const server = Bun.spawn(
    ["bun", MAIN, "quickstart", "--data", data, "--port", "0", ...settings],
    {
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  const stop = async () => {
    server.kill();
    await server.exited;
    rmSync(data, { recursive: true });
  };
  try {
    const printed = await untilListening(server.stdout);
    const found = (pattern: RegExp) => {
      const [, text] = pattern.exec(printed) ?? [];
      if (text === undefined) throw new Error(`the quickstart printed no ${pattern}: ${printed}`);
      return text;
    };
    const link = found(/(http:\S+\/setup#\S+)/);
    return {
      url: found(/listening on (\S+)/),
      panelUrl: new URL(link).origin,
      data,
      key: found(/(rk_\w+)/),
      signUp: (page) => signUp(page, link),
      command: (argv, stdin) => command([...argv, "--data", data, "--json"], stdin),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilListening(stream: ReadableStream<Uint8Array>): Promise<string> {
  let printed = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    printed += decoder.decode(chunk, { stream: true });
    if (/listening on \S+\n/.test(printed)) return printed;
  }
  throw new Error(`the quickstart does not listen: ${printed}`);
}

/** With JavaScript the token is taken from the link. */
async function signUp(page: Page, link: string): Promise<void> {
  await page.goto(link);
  const token = page.getByLabel("Token");
  if (await token.isVisible()) await token.fill(link.split("#")[1]!);
  await page.getByLabel("Choose a password").fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Today" }).waitFor();
}

async function command(argv: readonly string[], stdin = ""): Promise<unknown> {
  const child = Bun.spawn(["bun", MAIN, ...argv], {
    stdin: Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, problem] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")}: ${problem}`);
  return JSON.parse(text);
}
