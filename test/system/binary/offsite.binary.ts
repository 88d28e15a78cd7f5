// Off-site backups of the compiled binary: the drill in which the disk is lost, and what an operator sees.

import { afterEach, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openForCommand } from "../../../src/storage/file/open.ts";
import { type ServerProcess, binaryWith, startServerProcess } from "../../support/binary.ts";
import { type S3, startS3 } from "../../support/peers/s3.ts";
import { randomFrom } from "../../support/random/seeded.ts";
import type { Body } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { prepareLoad, problemsOf, sendLoad } from "../../support/random/wishes.ts";
import { until } from "../../support/until.ts";

const ENDS: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ENDS.splice(0)) await end();
});

async function store(): Promise<S3> {
  const s3 = await startS3();
  ENDS.push(() => s3.stop());
  return s3;
}

async function serve(data: string, s3: S3, ...flags: string[]): Promise<ServerProcess> {
  const server = await startServerProcess({
    data,
    environment: s3.environment,
    arguments: ["--backup-every", "0", ...flags],
  });
  ENDS.push(() => server.kill());
  return server;
}

async function json(s3: S3, ...argv: string[]): Promise<Body> {
  const { code, stdout, stderr } = await binaryWith(
    s3.environment,
    freshFolder(),
    ...argv,
    "--json",
  );
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function load({ url }: ServerProcess, key: string, first: number, more: (sent: number) => boolean) {
  return sendLoad(url, key, { first, connections: 8, random: randomFrom(first), more });
}

test("the disk is lost under load: the newest copy has all up to its backup, and queued orders are unknown", async () => {
  const s3 = await store();
  const data = freshFolder();
  const database = freshDatabase(data);
  const key = prepareLoad(database);
  // Nobody listens there: what is ordered from it stays queued.
  const url = "http://127.0.0.1:9/api/v2";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  database.service({ id: "views", provider: { name: "acme", service: "1" } });
  database.connection.sqlite.close();
  const server = await serve(data, s3, "--place-wait", "0");
  const before = await load(server, key, 0, (sent) => sent < 400);
  const queued = await fetch(`${server.url}/api/v1/orders`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ service: "views", link: "queued", quantity: 10 }),
  });
  expect(queued.status).toBe(200);
  let copying = true;
  const during = load(server, key, 400, () => copying);
  process.kill(server.pid, "SIGUSR1");
  await until(() => server.log().includes("backup copied off-site"));
  copying = false;
  const answers = await during;
  expect(answers.filter(({ answer }) => answer?.status !== 200)).toEqual([]);
  await server.kill();
  rmSync(data, { recursive: true });

  const restored = await json(s3, "restore", s3.environment["RESELLER_BACKUP_TO"]!, "--data", data);
  expect(restored).toMatchObject({ ok: true, keptAside: null });
  expect(await problemsOf(data, before)).toEqual([]);
  const again = await serve(data, s3);
  expect(await again.stop()).toBe(0);
  const connection = openForCommand(data);
  const { state } = connection.sqlite
    .query("SELECT placement AS state FROM orders WHERE link = 'queued'")
    .get() as { state: string };
  connection.sqlite.close();
  expect(state).toBe("unknown");
});

test("the server log and commands report wrong keys with what to correct", async () => {
  const s3 = await store();
  s3.environment["RESELLER_S3_SECRET_KEY"] = "wrong";
  const data = freshFolder();
  const database = freshDatabase(data);
  const key = prepareLoad(database);
  database.connection.sqlite.close();
  const server = await serve(data, s3);
  process.kill(server.pid, "SIGUSR1");
  await until(() => server.log().includes("backup not copied off-site"));
  expect(server.log()).toContain("check RESELLER_S3_ACCESS_KEY, RESELLER_S3_SECRET_KEY");
  const answers = await load(server, key, 0, (sent) => sent < 50);
  expect(answers.filter(({ answer }) => answer?.status !== 200)).toEqual([]);
  expect(await server.stop()).toBe(0);
  const listed = await binaryWith(s3.environment, freshFolder(), "backup", "list");
  expect(listed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("RESELLER_S3_SECRET_KEY"),
  });
});

test("the age of the newest copy is a metric, and absent while the store fails, which the log says", async () => {
  const s3 = await store();
  const data = freshFolder();
  const database = freshDatabase(data);
  prepareLoad(database);
  database.connection.sqlite.close();
  s3.fail(() => "full");
  const server = await serve(data, s3, "--metrics-listen", "127.0.0.1:0");
  const metric = async () => {
    const [, url] = /"metrics":"(http[^"]+)"/.exec(server.log())!;
    const text = await (await fetch(url!)).text();
    return /^reseller_remote_backup_age_seconds (\S+)$/m.exec(text)?.[1];
  };
  await until(() => server.log().includes('"started"'));
  process.kill(server.pid, "SIGUSR1");
  await until(() => server.log().includes("backup not copied off-site"));
  await until(() => server.log().includes("QuotaExceeded: the bucket is full"));
  expect(await metric()).toBeUndefined();
  s3.fail(null);
  process.kill(server.pid, "SIGUSR1");
  await until(() => server.log().includes("backup copied off-site"));
  expect(Number(await metric())).toBeWithin(0, 120);
  expect(server.log()).not.toContain(s3.settings.secretKey);
  expect(await server.stop()).toBe(0);

  const checked = await json(s3, "backup", "check", "--data", data);
  expect(checked).toMatchObject({ ok: true, users: 1, problems: [] });
  const target = join(freshFolder(), "fetched.db");
  await json(s3, "backup", "fetch", target, "--data", data);
  expect(existsSync(target)).toBeTrue();
});
