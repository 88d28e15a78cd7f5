// The service when nobody reads its output: log lines may be lost, counted and reported; no response is.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileShim, type Shim } from "../powercut/shim.ts";
import { BINARY, binary, postOrder, tryCall } from "../../support/binary.ts";
import { exchangeRaw } from "../../support/http/raw.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { runs } from "../../support/runs.ts";
import { until } from "../../support/until.ts";
import { freePort } from "../../support/ports.ts";

const LOG_FORMATS = ["json", "pretty"];
const CHILDREN: Bun.Subprocess[] = [];
let shim: Shim;

beforeAll(async () => {
  shim = await compileShim();
});
afterEach(() => {
  for (const child of CHILDREN.splice(0)) child.kill("SIGKILL");
});

/** Bash in `folder`, and what it has printed so far. */
function shell(folder: string, script: string, ...argv: string[]) {
  const child = Bun.spawn(["bash", "-c", script, "bash", ...argv], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  CHILDREN.push(child);
  let text = "";
  const read = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) text += part;
    return text;
  })();
  return { child, printed: () => text, all: () => read };
}

async function end({ child }: ReturnType<typeof shell>): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
}

/** A folder with a database that has a reseller, a service `s` and a key, and a FIFO `errors`. */
function prepare() {
  const folder = freshFolder();
  const database = freshDatabase(join(folder, "data"));
  database.user("anna", "100000");
  const { text: key } = database.key("anna", "full");
  database.service({ id: "s", price: "1", min: 1 });
  database.connection.sqlite.close();
  execFileSync("mkfifo", [join(folder, "errors")]);
  return { folder, key };
}

/** `serve` with the shell's `redirections`, once it answers. */
async function serveWith(folder: string, redirections: string, flags: string[] = [], fault = "") {
  const metrics = `127.0.0.1:${freePort()}`;
  const script = `exec env ${fault} "$@" ${redirections}`;
  const argv = ["serve", "--port", "0", "--rate-limit", "0", "--metrics-listen", metrics];
  const { child } = shell(folder, script, BINARY, ...argv, ...flags);
  const health = async (): Promise<string> => {
    expect(child.exitCode).toBeNull();
    const { code, stdout } = await binary(folder, "health", "--json");
    return code === 0 ? (JSON.parse(stdout) as { url: string }).url : health();
  };
  await until(() => child.exitCode !== null || existsSync(join(folder, "data", "serve.address")));
  const url = await health();
  const lost = async () => {
    const response = await fetch(`http://${metrics}/metrics`);
    return Number(/^reseller_log_lines_lost_total (\d+)$/m.exec(await response.text())![1]);
  };
  return {
    url,
    child,
    lost,
    /** Resolves with the number of lost lines once there are so many. */
    async lostAtLeast(least: number): Promise<number> {
      let lines = 0;
      await until(async () => (lines = await lost()) >= least);
      return lines;
    },
    stop(): Promise<number> {
      child.kill("SIGTERM");
      return child.exited;
    },
  };
}

/** More log lines than a pipe and the log's buffer hold. */
const FLOOD = 24_000;
const PIPELINED = 1000;

/** So many requests, and how many of them were answered. */
async function flood(url: string): Promise<number> {
  const request = (connection: string) =>
    `GET /api/v1/balance HTTP/1.1\r\nhost: x\r\nx-request-id: ${"x".repeat(128)}\r\n${connection}\r\n`;
  const bytes = request("").repeat(PIPELINED - 1) + request("connection: close\r\n");
  let answered = 0;
  for (let sent = 0; sent < FLOOD; sent += PIPELINED) {
    answered += (await exchangeRaw(url, bytes)).split("HTTP/1.1 401 ").length - 1;
  }
  return answered;
}

const linesOf = (text: string): Body[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe.each(LOG_FORMATS)("with a log in %s, when", (format) => {
  const FLAGS = ["--log-format", format];

  test("the reader of standard error ends, every order is answered and a stop exits 0", async () => {
    const { folder, key } = prepare();
    const reader = shell(folder, "exec cat errors");
    const server = await serveWith(folder, "2> errors", FLAGS);
    expect(await postOrder(server.url, key, "before")).toBe(200);
    await end(reader);
    for (let count = 0; count < 10; count++) {
      expect(await postOrder(server.url, key, `after-${count}`)).toBe(200);
    }
    await server.lostAtLeast(10);
    expect(await postOrder(server.url, key, "last")).toBe(200);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect((await callApi(server.url, "GET", "/orders", key)).body.orders).toHaveLength(12);
    expect(await server.stop()).toBe(0);
  });

  test("a returning reader gets the number of lost lines", async () => {
    const { folder, key } = prepare();
    const first = shell(folder, "exec cat errors");
    const server = await serveWith(folder, "2> errors", FLAGS);
    await until(() => first.printed().includes("started"));
    await end(first);
    for (let count = 0; count < 5; count++) await postOrder(server.url, key, `lost-${count}`);
    await server.lostAtLeast(5);
    const second = shell(folder, "exec cat errors");
    // Lines are lost until the reader has opened the pipe.
    for (let count = 0; !second.printed().includes("log lines were lost"); count++) {
      await postOrder(server.url, key, `read-${count}`);
    }
    const lost = await server.lostAtLeast(5);
    expect(await server.stop()).toBe(0);
    const text = await second.all();
    const told = /"?lost"?:\s*(\d+)/.exec(text)![1];
    expect([text.split("\n")[0], Number(told)]).toEqual([
      expect.stringContaining("log lines were lost"),
      lost,
    ]);
    expect(text).toContain("stopped");
    if (format === "json") expect(linesOf(text)[0]).toMatchObject({ level: "warn", lost });
  });

  test("nobody reads the full pipe, responses are unaffected, lines above the buffer are lost, and a stop exits 0", async () => {
    const { folder, key } = prepare();
    shell(folder, "exec sleep 1000 < errors");
    const server = await serveWith(folder, "2> errors", FLAGS);
    let lost = 0;
    // Pretty lines are short: it takes several floods to fill the buffer.
    while (lost === 0) {
      expect(await flood(server.url)).toBe(FLOOD);
      lost = await server.lost();
    }
    expect(await flood(server.url)).toBe(FLOOD);
    expect(await postOrder(server.url, key, "one")).toBe(200);
    // All of the second flood: nothing more is kept.
    expect(await server.lostAtLeast(lost + FLOOD)).toBeLessThanOrEqual(lost + FLOOD + 10);
    expect(await server.stop()).toBe(0);
  });

  test.each(["2>&-", "2> /dev/full", "2< /dev/null"])(
    "standard error takes nothing (%s), orders are answered and a stop exits 0",
    async (redirection) => {
      const { folder, key } = prepare();
      const server = await serveWith(folder, redirection, FLAGS);
      expect(await postOrder(server.url, key, "one")).toBe(200);
      // A closed one is /dev/null to Bun, which loses nothing that anyone could know of.
      if (redirection !== "2>&-") await server.lostAtLeast(2);
      expect(await postOrder(server.url, key, "two")).toBe(200);
      expect(await server.stop()).toBe(0);
    },
  );
});
/** Both formats fill the pipe by the same code. */
describe.each(runs(["json"], LOG_FORMATS))("with a log in %s, when", (format) => {
  const FLAGS = ["--log-format", format];

  test.each(["exec sleep 1000 < errors", ": < errors"])(
    "the disk fails and nobody reads why (%s), the server exits 1",
    async (reader) => {
      const { folder, key } = prepare();
      const gate = join(folder, "gate");
      const variables = shim.environment(join(folder, "data"), { fault: "EIO:1:1000000000", gate });
      const fault = Object.entries(variables).map((entry) => `'${entry.join("=")}'`);
      shell(folder, reader);
      const server = await serveWith(folder, "2> errors", FLAGS, fault.join(" "));
      await flood(server.url);
      writeFileSync(gate, "");
      const order = { service: "s", link: "x", quantity: 1 };
      const answer = await tryCall(server.url, "POST", "/orders", key, order);
      expect(answer?.status).not.toBe(200);
      expect(await server.child.exited).toBe(1);
    },
  );
});

test("lines that wait for a reader are written together once it reads", async () => {
  const { folder } = prepare();
  const idle = shell(folder, "exec sleep 1000 < errors");
  const server = await serveWith(folder, "2> errors");
  expect(await flood(server.url)).toBe(FLOOD);
  const lost = await server.lostAtLeast(1);
  const reader = shell(folder, "exec cat errors");
  await until(() => reader.printed().includes(`"lost":${lost}`));
  expect(await server.stop()).toBe(0);
  await end(idle);
  const lines = linesOf(await reader.all());
  expect(lines.filter((line) => "lost" in line)).toMatchObject([{ level: "warn", lost }]);
  expect(lines.at(-1)).toMatchObject({ msg: "stopped" });
  expect(lines.filter(({ msg }) => msg === "request").length).toBeGreaterThanOrEqual(FLOOD - lost);
});

describe("serve goes on, says so in its log, and stops with exit 0 when standard output", () => {
  const LOST = "the address could not be written to standard output: the service continues";
  test.each([
    ["has a reader that is gone", "> >(true)", LOST],
    ["is a full disk", "> /dev/full", LOST],
    ["is closed", ">&-", "started"],
    ["is a full pipe that nobody reads", "> errors", "started"],
  ])("%s", async (_, redirection, told) => {
    const { folder, key } = prepare();
    shell(folder, "exec 3<> errors; head -c 65536 /dev/zero >&3; exec sleep 1000 <&3");
    const server = await serveWith(folder, `2> log ${redirection}`);
    expect(await postOrder(server.url, key, "one")).toBe(200);
    expect(await server.stop()).toBe(0);
    const messages = linesOf(readFileSync(join(folder, "log"), "utf8")).map(({ msg }) => msg);
    expect(messages).toContain(told);
    expect(messages.at(-1)).toBe("stopped");
  });
});
