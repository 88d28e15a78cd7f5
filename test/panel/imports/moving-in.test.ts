// Moving in from the panel: files that only this process can read, a dry run, and an import that is confirmed.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "bun:test";
import { users } from "../../../src/db/tables/users.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { openRaw } from "../../support/http/raw.ts";
import { OLD_PANEL_MAP, oldKeyOf, writeOldPanelDump } from "../../support/seeds/old-panel.ts";
import { until } from "../../support/until.ts";
import { hiddenFields, openPanel, shownNote, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
afterEach(() => panel.stop());

type Options = Parameters<typeof openPanel>[0];

async function open(options: Options = {}): Promise<void> {
  panel = await openPanel(options);
  const url = "http://127.0.0.1:9/";
  panel.run("createProvider", { name: "upstream", protocol: "smm-api", url, key: "k" });
}

function upload(files: Record<string, string | Uint8Array>) {
  const form = new FormData();
  for (const [field, content] of Object.entries(files)) {
    const end = field === "dump" ? "sql" : field === "map" ? "toml" : "csv";
    form.set(field, new File([content as BlobPart], `${field}.${end}`));
  }
  // A browser sends an empty file for each field that was left empty.
  form.set("services", form.get("services") ?? new File([], ""));
  return panel.postForm("/moving-in/files", form);
}

const text = async () => (await panel.get("/moving-in")).text;

async function ended(): Promise<string> {
  await until(async () => !(await text()).includes("is running</h2>"));
  return text();
}

async function dryRun(format: string, mapping = ""): Promise<string> {
  const reply = await panel.post("/moving-in/plan", { format, mapping });
  expect([reply.status, reply.headers.get("location")]).toEqual([303, "/moving-in"]);
  return ended();
}

/** Text of a page without its tags. */
const plain = (html: string) => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

/** The files of this process in the folder for uploads: each without a name, with its mode. */
function heldFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(join(panel.folder, "uploads")) ? [target] : [];
    } catch {
      return [];
    }
  });
}

const SIZE = { users: 30, services: 10, orders: 1100, openEvery: 10 };
const dumpText = () => readFileSync(writeOldPanelDump(freshFolder(), SIZE), "utf8");

test("an owner uploads a dump, sees what would happen, confirms the money, and it is imported once", async () => {
  await open();
  const before = dumpOf(panel, users);
  const uploaded = await upload({ dump: dumpText(), map: OLD_PANEL_MAP });
  expect([uploaded.status, shownNote(uploaded)]).toEqual([303, "good 1 file uploaded."]);
  const page = await text();
  expect(page).toContain("Dump with all tables");
  expect(page).toContain("3&quot; = &quot;upstream");
  const planned = plain(await dryRun("smartpanel", OLD_PANEL_MAP));
  expect(planned).toContain("Users 30 30 0 0");
  expect(planned).toContain("Orders 1100 1100 0 0");
  expect(planned).toContain("Past orders 990");
  expect(planned).toContain("Open orders at providers 110");
  expect(dumpOf(panel, users)).toBe(before);
  // Its balances are above the limit for a confirmation without a password.
  panel.clock.now += 20 * 60_000;
  const asked = await panel.post("/moving-in/start");
  expect(plain(asked.text)).toContain("Import 30 users, 10 services, 1100 orders, 30 keys?");
  expect(plain(asked.text)).toContain("balances of 30 users");
  expect(asked.text).toContain('type="password"');
  expect(panel.query("SELECT * FROM panel_import")).toEqual([]);
  const done = await panel.confirm("/moving-in/start", { proof: "correct horse battery" });
  expect(done.note).toBe("busy The import is running.");
  const report = plain(await ended());
  expect(report).toContain("What was imported");
  expect(report).toContain("Orders 1100 1100 0 0");
  expect(await verifyStore(panel)).toEqual([]);
  expect(panel.query("SELECT action, operator FROM audit WHERE action = 'panel.import'")).toEqual([
    { action: "panel.import", operator: "panel:tester" },
  ]);
  // Repeated, nothing is doubled.
  await upload({ dump: dumpText() });
  const again = plain(await dryRun("smartpanel", OLD_PANEL_MAP));
  expect(again).toContain("Users 30 0 30 0");
  expect(again).toContain("There is nothing new to import.");
  // No key is in the log or on a page.
  const key = oldKeyOf(1);
  expect(JSON.stringify(panel.logged) + again + report + planned).not.toContain(key);
});

test("the files have no name, are readable only by this process, and are gone after import, removal and stop", async () => {
  await open();
  const csv = { users: "id,username,balance\n1,ann,1\n" };
  const folder = join(panel.folder, "uploads");
  const held = async () => {
    expect(readdirSync(folder)).toEqual([]);
    return heldFiles().map((path) => path.endsWith(" (deleted)"));
  };
  await upload(csv);
  expect(await held()).toEqual([true]);
  await upload(csv);
  expect(await held()).toEqual([true]);
  await panel.post("/moving-in/discard");
  expect(await held()).toEqual([]);
  await upload(csv);
  await dryRun("csv");
  await panel.confirm("/moving-in/start", {});
  expect(await ended()).toContain("What was imported");
  expect(await held()).toEqual([]);
  await upload(csv);
  await panel.stop();
  expect(heldFiles()).toEqual([]);
  await open();
});

test("refused rows are listed with what to do, and nothing starts unless they are left out", async () => {
  await open();
  await upload({ users: "id,username,balance\n1,ann,1\n2,bob,-3\n" });
  const page = plain(await dryRun("csv"));
  expect(page).toContain("users.csv, line 3, user 2");
  expect(page).toContain("the user owes 3 USD");
  expect(page).toContain("Leave out 1 refused row, and import the others");
  const refused = await panel.post("/moving-in/start");
  expect([refused.status, plain(refused.text)]).toEqual([
    422,
    expect.stringContaining("Some rows are refused: correct or map them, or leave them out"),
  ]);
  await panel.confirm("/moving-in/start", { skip: "yes" });
  expect(plain(await ended())).toContain("Users 2 1 0 1");
  expect(panel.balance("ann")).toBe(1_000_000);
});

test("what changed since the dry run is shown instead of imported", async () => {
  await open();
  await upload({ users: "id,username,balance\n1,ann,1\n2,bob,2\n" });
  await dryRun("csv");
  panel.user("bob");
  await panel.confirm("/moving-in/start", {});
  const page = plain(await ended());
  expect(page).toContain("Something changed since the dry run, so nothing was imported");
  expect(page).toContain("a user that was not imported has this username");
  expect(panel.query("SELECT * FROM imported_users")).toEqual([]);
});

test("a confirmation that is sent twice, or for an earlier dry run, starts nothing", async () => {
  await open();
  await upload({ users: "id,username,balance\n1,ann,1\n" });
  await dryRun("csv");
  const asked = await panel.post("/moving-in/start");
  const hidden = Object.fromEntries(
    [...asked.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!.replaceAll("&amp;", "&")],
    ),
  );
  await upload({ users: "id,username,balance\n1,ann,900\n" });
  expect((await panel.post("/moving-in/start", hidden)).status).toBe(422);
  await dryRun("csv");
  expect((await panel.post("/moving-in/start", hidden)).status).toBe(422);
  expect(panel.query("SELECT * FROM panel_import")).toEqual([]);
  await upload({ users: "id,username,balance\n1,ann,1\n" });
  await dryRun("csv");
  const both = await Promise.all([1, 2].map(() => panel.post("/moving-in/start", hidden)));
  const started = both.filter((reply) => shownNote(reply) === "busy The import is running.");
  expect(started.length).toBe(1);
  await ended();
  expect(panel.balance("ann")).toBe(1_000_000);
});

test("a confirmation imports only the rows that were shown, whatever has the same counts and sums", async () => {
  await open();
  await upload({ users: "id,username,balance\n1,ann,1\n2,bob,90\n" });
  await dryRun("csv");
  const confirmation = hiddenFields((await panel.post("/moving-in/start")).text);
  await upload({ users: "id,username,balance\n1,ann,90\n2,bob,1\n" });
  await dryRun("csv");
  expect((await panel.post("/moving-in/start", confirmation)).status).toBe(422);
  expect(panel.query("SELECT * FROM imported_users")).toEqual([]);
});

test("a refused row that was left out stays out, even if it could be imported meanwhile", async () => {
  let isRenamed = false;
  await open({
    onCommand(name) {
      if (name !== "importUsers" || isRenamed) return;
      isRenamed = true;
      panel.run("updateUser", { username: "bob", changes: { username: "robert" } });
    },
  });
  panel.user("bob");
  await upload({ users: "id,username,balance\n1,ann,1\n2,bob,5000\n" });
  expect(plain(await dryRun("csv"))).toContain("Opening balances, USD 1.00");
  await panel.confirm("/moving-in/start", { skip: "yes" });
  expect(plain(await ended())).toContain("Opening balances, USD 1.00");
  expect(isRenamed).toBe(true);
  expect(panel.query("SELECT source FROM imported_users")).toEqual([{ source: "1" }]);
  expect(await verifyStore(panel)).toEqual([]);
});

test("while an import of another server or a command runs, none begins, and the page says so", async () => {
  await open();
  panel.run("beginImport", { run: "other", isAlone: false, orders: 0, services: 0 });
  await upload({ users: "id,username,balance\n1,ann,1\n" });
  expect(await dryRun("csv")).toContain("An import is running by a command or at another server");
  await panel.confirm("/moving-in/start", {});
  expect(plain(await ended())).toContain("Another import is running");
  expect(panel.query("SELECT * FROM imported_users")).toEqual([]);
});

test("a role of PostgreSQL that lacks the right to keep numbers is named with what to do", async () => {
  await open({
    onCommand(name) {
      if (name !== "beginImport") return;
      throw new Error("PostgresError: permission denied for function reserve_numbers");
    },
  });
  await upload({ users: "id,username,balance\n1,ann,1\n" });
  await dryRun("csv");
  await panel.confirm("/moving-in/start", {});
  expect(await ended()).toContain("apply postgres-role.sql again");
});

test("a stop in the middle leaves whole batches, and the same import completes it", async () => {
  let writes = 0;
  await open({
    onCommand: (name) => {
      if (name === "importOrders" && ++writes === 3) void panel.post("/moving-in/discard");
    },
  });
  const run = async () => {
    await upload({ dump: dumpText() });
    await dryRun("smartpanel", OLD_PANEL_MAP);
    await panel.confirm("/moving-in/start", { proof: "correct horse battery" });
    return plain(await ended());
  };
  const stopped = await run();
  expect(stopped).toContain("It was stopped. Start the same import again");
  const count = () => panel.query<{ n: number }>("SELECT count(*) AS n FROM past_orders")[0]!.n;
  expect(Number(count())).toBeGreaterThan(0);
  expect(Number(count())).toBeLessThan(990);
  expect((await panel.get("/imported")).text).toContain("The import did not run to its end");
  expect(await run()).toContain("What was imported");
  expect(Number(count())).toBe(990);
  expect(await verifyStore(panel)).toEqual([]);
});

describe("a file that cannot be read is refused with why, and nothing is changed:", () => {
  const NUL = "id,username\n1,a\0b\n";
  const wide = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join();
  const CASES: [string, Record<string, string | Uint8Array>, string, string][] = [
    ["a ZIP archive", { users: Buffer.from("PK\u0003\u0004\u0014\0") }, "csv", "users.csv is a ZIP archive: unpack it first"],
    ["UTF-16", { users: Buffer.from("\uFEFFid,username\n1,ann\n", "utf16le") }, "csv", "users.csv is not UTF-8 after line 1"],
    ["NUL", { users: NUL }, "csv", "username must be"],
    ["1,000 columns", { users: `${wide(1000)}\n1\n` }, "csv", "users.csv has 1000 columns"],
    ["100,000 columns", { users: `${wide(100_000)}\n1\n` }, "csv", "users.csv"],
    ["a header without an end", { users: "x".repeat(3_000_000) }, "csv", "users.csv"],
    ["100,000 columns of a dump", { dump: `INSERT INTO general_users (${wide(100_000)}) VALUES (1);\n` }, "smartpanel", "columns"],
    ["a dump that was cut off", { dump: dumpText().slice(0, -2000) }, "smartpanel", "the file ends inside a statement"],
    ["a dump of other tables, with DROP and DELETE", { dump: "DROP TABLE users; DELETE FROM orders; INSERT INTO `x` VALUES (1);\n" }, "smartpanel", "has no rows of the table general_users"],
    ["a mapping for other tables", { users: "a,b\n1,2\n" }, "csv", "users.csv has no column id for users"],
    ["nothing but a header", { users: "id,username\n" }, "csv", "The files have no rows"],
  ]; // prettier-ignore
  test.each(CASES)("%s", async (_, files, format, says) => {
    await open();
    const before = dumpOf(panel, users);
    expect((await upload(files)).status).toBe(303);
    expect(plain(await dryRun(format))).toContain(says);
    expect(dumpOf(panel, users)).toBe(before);
  });

  test("a mapping that is no TOML, and an unknown format, are errors of their fields", async () => {
    await open();
    expect((await panel.post("/moving-in/plan", { format: "csv", mapping: "" })).status).toBe(422);
    await upload({ users: "id,username\n1,ann\n" });
    const wrong = await panel.post("/moving-in/plan", { format: "csv", mapping: "= 3" });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("is not TOML")]);
    expect((await panel.post("/moving-in/plan", { format: "x", mapping: "" })).status).toBe(422);
    expect((await panel.post("/moving-in/start")).text).toContain("Make a dry run first");
  });
});

describe("an upload that is not taken is refused, and leaves nothing:", () => {
  const LIMIT = 8 * 1024 * 1024;

  test("above the limit, by its length and in chunks", async () => {
    await open();
    const long = { users: new Uint8Array(LIMIT + 1) };
    const declared = await upload(long);
    expect([declared.status, declared.text]).toEqual([
      422,
      expect.stringContaining("The files are larger than 8MiB together"),
    ]);
    const form = new FormData();
    form.set("users", new File([long.users], "u.csv"));
    const whole = new Response(form);
    const type = whole.headers.get("content-type")!;
    const cookie = panel.session("tester");
    const headers = { cookie, origin: panel.url, "content-type": type };
    const body = whole.body!;
    const chunked = await panel.ask("/moving-in/files", { method: "POST", body, headers });
    expect([chunked.status, heldFiles()]).toEqual([422, []]);
  });

  test("a claim of 4 GB, before its body is read", async () => {
    await open();
    const connection = await openRaw(panel.url);
    const { host } = new URL(panel.url);
    const fields = [
      `host: ${host}`,
      `origin: ${panel.url}`,
      `cookie: ${panel.session("tester")}`,
      "content-type: multipart/form-data; boundary=b",
      `content-length: ${4 * 1024 ** 3}`,
    ];
    connection.send(`POST /moving-in/files HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n--b\r\n`);
    expect(await connection.rest()).toMatch(/^HTTP\/1.1 422 [^]*larger than 8MiB together/);
    connection.close();
  });

  test("on a disk without space", async () => {
    await open({ upload: { diskFloor: 1000, freeBytes: () => 1100 } });
    const reply = await upload({ users: "id,username\n1,ann\n" });
    expect([reply.status, reply.text]).toEqual([
      422,
      expect.stringContaining("too little free space"),
    ]);
  });

  test.each([
    ["no file", {}, "Choose a file"],
    ["an empty file", { users: "" }, "The file for users is empty"],
    ["a mapping of a megabyte", { map: "#".repeat(1_000_000) }, "The mapping file is too large"],
    ["a file of another field", { other: "x" }, "The form has an unknown file"],
  ])("%s", async (_, files, says) => {
    await open();
    const reply = await upload(files);
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining(says)]);
    expect(heldFiles()).toEqual([]);
  });

  test("what is no form, and a form that breaks off", async () => {
    await open();
    const cookie = panel.session("tester");
    const send = (body: string, type: string) =>
      panel.ask("/moving-in/files", {
        method: "POST",
        body,
        headers: { cookie, origin: panel.url, "content-type": type },
      });
    expect((await send("a=b", "application/x-www-form-urlencoded")).status).toBe(422);
    expect((await send("{}", "application/json")).status).toBe(415);
    expect((await send("x", "multipart/form-data")).status).toBe(415);
    const cut =
      '--b\r\ncontent-disposition: form-data; name="users"; filename="u.csv"\r\n\r\nid,us';
    expect((await send(cut, "multipart/form-data; boundary=b")).status).toBe(415);
    expect(heldFiles()).toEqual([]);
  });
});
