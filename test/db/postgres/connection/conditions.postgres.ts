// What a server and `doctor` find out about the database before they rely on it.

import { describe, expect, test } from "bun:test";
import { describeAddress, parseAddress } from "../../../../src/db/postgres/connection/address.ts";
import { readConditions } from "../../../../src/db/postgres/connection/conditions.ts";
import { clockDifference, weaknesses } from "../../../../src/db/postgres/schema/weaknesses.ts";
import { connect } from "../../../../src/db/postgres/connection/connection.ts";
import { databaseOpenErrorOf } from "../../../../src/db/postgres/connection/open-error.ts";
import { cluster } from "../../../support/databases/postgres.ts";

async function addressOf(database: string) {
  return (await cluster()).address(database);
}

describe("a setting that weakens durability", () => {
  test("is reported: fsync, synchronous_commit, no synchronous standby", async () => {
    const address = await addressOf("postgres");
    const found = weaknesses(address, await readConditions(address, Date.now));
    expect(found.map((text) => text.split(" ")[0])).toEqual([
      "fsync",
      "synchronous_commit",
      "synchronous_standby_names",
    ]);
  });

  test("is read from the role and the database, not from the session", async () => {
    const server = await cluster();
    const database = await server.createDatabase();
    const read = () => readConditions(server.address(database), Date.now);
    await server.query("postgres", `ALTER DATABASE ${database} SET synchronous_commit = local`);
    expect((await read()).synchronousCommit).toBe("local");
    await server.query(
      "postgres",
      `ALTER DATABASE ${database} SET synchronous_commit = remote_apply`,
    );
    expect((await read()).synchronousCommit).toBe("remote_apply");
  });

  test("is not reported when the database has none", async () => {
    const conditions = {
      version: "17.2",
      clockAheadMs: 0,
      synchronousCommit: "on",
      synchronousStandbys: "FIRST 1 (standby)",
      standbysConnected: 1,
      fsync: true,
      isEncrypted: true,
    };
    const elsewhere = parseAddress("postgres://db.example/shop?sslmode=verify-full");
    for (const address of [await addressOf("postgres"), elsewhere]) {
      expect(weaknesses(address, conditions)).toEqual([]);
    }
    const socket = parseAddress("postgres://%2Fvar%2Frun%2Fpostgresql/shop");
    expect(weaknesses(socket, { ...conditions, isEncrypted: false })).toEqual([]);
    const other = parseAddress("postgres://db.example/shop");
    expect(weaknesses(other, { ...conditions, isEncrypted: false })).toHaveLength(1);
  });
});

test("a database behind a Unix socket is reached", async () => {
  const { folder, port } = await cluster();
  const socket = parseAddress(`postgres://postgres@${encodeURIComponent(folder)}:${port}/postgres`);
  const connection = await connect(socket, {
    turnMs: 5000,
    connectMs: 5000,
    name: "test",
    settings: {},
  });
  const [rows] = await connection.turn([
    { text: "SELECT inet_client_addr() IS NULL AS local", values: [] },
  ]);
  expect(rows![0]).toEqual({ local: true });
  connection.close();
});

describe("the clock of this machine", () => {
  test.each([
    [0, null],
    [2000, null],
    [2001, expect.stringContaining("2 s ahead of")],
    [-600_000, expect.stringContaining("600 s behind")],
  ])("%i ms ahead of the database's is judged", async (clockAheadMs, judgement) => {
    const conditions = await readConditions(await addressOf("postgres"), Date.now);
    expect(clockDifference({ ...conditions, clockAheadMs })).toEqual(judgement);
  });

  test.each([
    ["ahead", 600_000],
    ["behind", -600_000],
  ])(
    "is reported %s of the database's by at least the difference that the round trip proves",
    async (_, off) => {
      const address = await addressOf("postgres");
      const started = performance.now();
      const { clockAheadMs } = await readConditions(address, () => Date.now() + off);
      const took = performance.now() - started;
      expect(Math.sign(clockAheadMs)).toBe(Math.sign(off));
      expect(Math.abs(clockAheadMs)).toBeLessThanOrEqual(Math.abs(off) + 1);
      expect(Math.abs(clockAheadMs)).toBeGreaterThanOrEqual(Math.abs(off) - took - 1);
    },
  );

  test("agrees with that of the same machine", async () => {
    const { clockAheadMs } = await readConditions(await addressOf("postgres"), Date.now);
    expect(Math.abs(clockAheadMs)).toBeLessThanOrEqual(1);
  });
});

describe("a database that cannot be opened is reported in one sentence without the password", () => {
  const attempt = async (url: string) => {
    const address = parseAddress(url);
    const error = await readConditions(address, Date.now).catch((thrown: unknown) => thrown);
    const message = databaseOpenErrorOf(error, describeAddress(address))!.message;
    expect(message).not.toContain("s3cret");
    expect(message).not.toContain("anna");
    return message;
  };

  test.each([
    ["a port where nothing listens", () => "127.0.0.1:1/shop", "cannot be reached"],
    [
      "a user that is not known",
      (port: number) => `127.0.0.1:${port}/postgres`,
      "rejects the user",
    ],
  ])("%s", async (_, rest, why) => {
    const { port } = await cluster();
    expect(await attempt(`postgres://anna:s3cret@${rest(port)}`)).toContain(why);
  });

  test("a database that does not exist", async () => {
    const { port } = await cluster();
    const message = await attempt(`postgres://postgres:s3cret@127.0.0.1:${port}/nowhere`);
    expect(message).toContain("/nowhere does not exist");
  });

  test("an invalid address", () => {
    const read = () => {
      try {
        return parseAddress("postgres://anna:s3cret@/shop").database;
      } catch (error) {
        return databaseOpenErrorOf(error, "the database")!.message;
      }
    };
    expect(read()).toBe(
      "the database address (--database) contains an invalid host name or address",
    );
  });
});
