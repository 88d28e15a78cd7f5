// The table of docs/specification/storage.md#database-states: every kind of database that there is, on either engine, against
// everything that opens one. What is refused is refused with one sentence by all, exit 1, and not changed.

import { Database } from "bun:sqlite";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/postgres/schema/migrate.ts";
import { claimDataDirectory, databasePath } from "../../../src/storage/file/open.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { nextBinary } from "../../support/databases/next-version.ts";
import { spawnServe } from "../../support/process.ts";
import { runBinary, startServerProcess } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { pairsOf } from "../../support/runs.ts";
import {
  freshPostgresDatabase,
  freshSqliteDatabase,
} from "../../support/databases/test-database.ts";

const MARK = "CREATE TABLE unfinished_move (marked bigint)";
const NEWER = "INSERT INTO migrations VALUES (999, '0999_future', 'x', 1)";
const OTHERS = ["CREATE TABLE songs (title text)", "CREATE VIEW albums AS SELECT title FROM songs"];
const ANOTHER = "belongs to another program (it has albums, songs): use ";
const UNFINISHED = "is the target of an unfinished move: repeat the move, or ";
const EMPTY = /is empty: (choose its folder|run `reseller serve`)/;

interface Kind {
  /** What is made: nothing, a database without tables, or one of this version. */
  made: "nothing" | "no tables" | "all";
  /** The next version is run on it, for which it is old. */
  runs?: "next version";
  /** Statements after that. */
  after?: readonly string[];
  /** What commands say; null: they run. */
  refused: string | RegExp | null;
  /** `serve` says the same unless it starts. */
  starts?: true;
  /** `move` to it: runs, or says something else. */
  takesMove?: true;
  doctor?: "warns";
}

const damaged = (how: string, statement: string): Kind => ({
  made: "all",
  after: [statement],
  refused: `has a damaged migrations table (${how}): restore a backup`,
});

const KINDS: Record<string, Kind> = {
  "without tables": {
    made: "no tables",
    refused: EMPTY,
    starts: true,
    takesMove: true,
    doctor: "warns",
  },
  "of another program": { made: "no tables", after: OTHERS, refused: ANOTHER },
  "of another program that has a table of migrations, too": {
    made: "no tables",
    after: [...OTHERS, "CREATE TABLE migrations (id integer, migration text)"],
    refused: ANOTHER,
  },
  "that a move marked before it made the tables": {
    made: "no tables",
    after: [MARK],
    refused: UNFINISHED,
    takesMove: true,
  },
  "that a move did not fill": { made: "all", after: [MARK], refused: UNFINISHED, takesMove: true },
  "of an older version": {
    made: "all",
    runs: "next version",
    refused: "was written by an older version: run this version's `reseller serve` o",
    starts: true,
    doctor: "warns",
  },
  "of a newer version": {
    made: "all",
    after: [NEWER],
    refused: "was written by a newer version (schema 999; this binary supports ",
  },
  "of another build": {
    made: "all",
    after: ["UPDATE migrations SET hash = 'x' WHERE version = 1"],
    refused: "was created by another build of schema 1 (0001_initial differs)",
  },
  "of a version before the first release": {
    made: "all",
    after: [
      "DELETE FROM migrations WHERE version > 1",
      "UPDATE migrations SET name = '0001_service', hash = 'x'",
      "INSERT INTO migrations VALUES (2, '0002_providers', 'x', 1), (30, '0030_older_secrets', 'x', 1)",
      "ALTER TABLE orders RENAME COLUMN next_poll_at TO checked_next",
    ],
    refused:
      "was created by a version before 0.9.0, which was never released and cannot be upgraded",
  },
  "that lost all rows of its migrations": damaged("it is empty", "DELETE FROM migrations"),
  "whose migrations lost a column": damaged(
    "it has other columns",
    "ALTER TABLE migrations RENAME COLUMN hash TO digest",
  ),
  "that lost its table of migrations": {
    made: "all",
    after: ["DROP TABLE migrations"],
    refused: "has lost its migrations table: restore a backup",
  },
  right: { made: "all", refused: null, starts: true, takesMove: true },
};

/** A database of a kind. */
interface Place {
  /** The flags that name it. */
  flags: string[];
  /** As `move` takes it. */
  name: string;
  /** Its schema. */
  dump(): Promise<string>;
}

async function sqlitePlace({ made, after = [], starts }: Kind): Promise<Place> {
  const folder = freshFolder();
  const path = databasePath(folder);
  if (made === "no tables") writeFileSync(path, "");
  if (made === "all") claimDataDirectory(folder, 1).release();
  if (after.length > 0) {
    const file = new Database(path, { readwrite: true, create: true });
    for (const statement of after) file.run(statement);
    file.run("PRAGMA wal_checkpoint(TRUNCATE)");
    file.close(true);
  }
  // One of ours may get its journal mode before its version is looked at, and rows where it is right.
  const dump = async () => {
    if (!existsSync(path)) return "";
    return starts && made !== "no tables" ? schemaOf(path) : readFileSync(path).toString("hex");
  };
  return { flags: ["--data", folder], name: folder, dump };
}

function schemaOf(path: string): string {
  const file = new Database(path, { readonly: true });
  const schema = JSON.stringify(file.query("SELECT name, sql FROM sqlite_schema").all());
  file.close();
  return schema;
}

let databases = 0;
async function postgresPlace({ made, after = [] }: Kind): Promise<Place> {
  const server = await cluster();
  const name = `state_${process.pid}_${databases++}`;
  if (made !== "nothing") await server.query("postgres", `CREATE DATABASE ${name}`);
  if (made === "all") await migrate(server.address(name), 1);
  for (const statement of after) await server.query(name, statement);
  const url = `postgres://postgres@127.0.0.1:${server.port}/${name}`;
  const tables =
    "SELECT string_agg(relname || ' ' || relkind::text, ',' ORDER BY relname) AS all FROM pg_class WHERE relnamespace = 'public'::regnamespace";
  const dump = async () =>
    made === "nothing" ? "" : JSON.stringify(await server.query(name, tables));
  return { flags: ["--database", url], name: url, dump };
}

const ENGINES = { sqlite: sqlitePlace, postgres: postgresPlace };
const COMMANDS = {
  sqlite: ["admin user list", "admin user create zoe", "panel list", "verify", "backup FILE"],
  postgres: ["admin user list", "admin user create zoe", "panel list", "verify", "restored --yes"],
};

/** Somewhere to move from, and to. */
let rows: Record<keyof typeof ENGINES, string>;
beforeAll(() => {
  const [file, served] = [freshSqliteDatabase(), freshPostgresDatabase()];
  for (const each of [file, served]) openShop({ database: each }).order(10);
  rows = { sqlite: file.folder, postgres: served.location.database! };
});
/** The next version, as an executable. */
const binary = nextBinary();
const runNext = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await runBinary(argv, { binary: await binary });
  return { code: exitCode, stdout, stderr, told: stderr };
};

/** Starts a server on a database and stops it: it is of that version then. */
async function serveOnce(engine: keyof typeof ENGINES, place: Place, program?: string) {
  const [data, flags] = engine === "sqlite" ? [place.name, []] : [freshFolder(), place.flags];
  const server = program
    ? await startServerProcess({ data, binary: program, arguments: flags })
    : await spawnServe(data, ...flags);
  await server.stop();
}

/** A database of the next version to move from. */
async function nextRows(engine: keyof typeof ENGINES): Promise<string> {
  const place = await ENGINES[engine]({ made: "all", refused: null });
  await serveOnce(engine, place, await binary);
  return place.name;
}

const other = (engine: keyof typeof ENGINES) => (engine === "sqlite" ? "postgres" : "sqlite");

describe.each(Object.keys(ENGINES) as (keyof typeof ENGINES)[])("on %s a database", (engine) => {
  const cases = Object.entries(KINDS);
  /** What each kind refuses: one command, at night each; what is below opens every kind. */
  const refusedBy = (name: string): string[] =>
    pairsOf(Object.keys(KINDS), COMMANDS[engine]).flatMap(([kind, command]) =>
      kind === name ? [command] : [],
    );
  test.each(cases)("%s gets the answer of the table from everything", async (name, kind) => {
    const place = await ENGINES[engine](kind);
    const before = await place.dump();
    const { refused } = kind;
    const isNext = kind.runs === "next version";
    const run = isNext ? runNext : reseller;
    const expectRefused = async (what: string, argv: string[], says: string | RegExp) => {
      const { code, told } = await run(...argv);
      expect([what, code, told]).toEqual([
        what,
        1,
        says instanceof RegExp ? expect.stringMatching(says) : expect.stringContaining(says),
      ]);
      expect([what, told.trimEnd().split("\n").length]).toEqual([what, 1]);
      expect([what, await place.dump()]).toEqual([what, before]);
    };
    const tried = kind.refused === null ? COMMANDS[engine] : refusedBy(name);
    for (const command of tried) {
      const argv = command.replace("FILE", join(freshFolder(), "copy.db")).split(" ");
      if (refused !== null) await expectRefused(command, [...argv, ...place.flags], refused);
      else expect([command, (await run(...argv, ...place.flags)).code]).toEqual([command, 0]);
    }
    if (refused !== null) {
      const to = engine === "sqlite" ? freshPostgresDatabase() : freshSqliteDatabase();
      const target = to.location.database ?? to.folder;
      await expectRefused("move --from", ["move", "--from", place.name, "--to", target], refused);
      to.close();
    }
    if (engine === "sqlite" && typeof refused === "string" && !isNext) {
      const restore = ["restore", databasePath(place.name), "--data", freshFolder(), "--yes"];
      await expectRefused("restore", restore, refused);
    }
    const { code, stdout } = await run("doctor", ...place.flags);
    const warns = kind.doctor === "warns" || refused === null;
    expect(["doctor", code]).toEqual(["doctor", warns ? 0 : 1]);
    if (typeof refused === "string" && !warns) expect(stdout).toContain(refused.trimEnd());

    if (!kind.starts) {
      const serve = ["serve", "--port", "0", ...place.flags];
      if (engine === "postgres") serve.push("--data", freshFolder());
      await expectRefused("serve", serve, refused!);
    }
    const source = isNext ? await nextRows(other(engine)) : rows[other(engine)];
    const toIt = ["move", "--from", source, "--to", place.name];
    if (kind.takesMove && refused !== null) {
      expect((await run(...toIt)).stderr).toBe("");
      expect((await run("verify", ...place.flags)).code).toBe(0);
    } else if (refused !== null) await expectRefused("move --to", toIt, refused);
    else await expectRefused("move --to", toIt, "is not empty (accounts: ");
    if (kind.starts && !kind.takesMove) {
      await serveOnce(engine, place, isNext ? await binary : undefined);
      expect((await run("verify", ...place.flags)).code).toBe(0);
    }
  });
});

test("only serve and move create a missing database, and only as a file", async () => {
  const missing: Kind = { made: "nothing", refused: "" };
  const [file, served] = [await sqlitePlace(missing), await postgresPlace(missing)];
  for (const command of ["admin user list", "verify", "panel list"]) {
    const ran = [file, served].map(({ flags }) => reseller(...command.split(" "), ...flags));
    const [onFile, onServer] = await Promise.all(ran);
    expect([onFile!.code, onFile!.told]).toEqual([1, expect.stringContaining("no database at")]); // prettier-ignore
    expect([onServer!.code, onServer!.told]).toEqual([1, expect.stringContaining("does not exist: create the database")]); // prettier-ignore
  }
  expect((await reseller("doctor", ...file.flags)).code).toBe(0);
  expect((await reseller("doctor", ...served.flags)).stdout).toContain("does not exist");
  for (const argv of [
    ["serve", "--data", freshFolder(), ...served.flags],
    ["move", "--from", rows.sqlite, "--to", served.name],
  ]) {
    const { code, told } = await reseller(...argv);
    expect([code, told]).toEqual([1, expect.stringContaining("does not exist: create the database")]); // prettier-ignore
  }
  expect((await reseller("move", "--from", rows.postgres, "--to", file.name)).stderr).toBe("");
});

test("tables of other programs beside ours in a PostgreSQL schema are left alone", async () => {
  const place = await postgresPlace({ made: "all", after: OTHERS, refused: null });
  for (const command of ["admin user create zoe", "verify", "doctor"]) {
    expect((await reseller(...command.split(" "), ...place.flags)).code).toBe(0);
  }
});
