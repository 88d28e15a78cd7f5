// `doctor` for a PostgreSQL database: checks the conditions under which no acknowledged order is lost, and the servers
// that share the database. Each finding says what to do: docs/specification/storage.md#doctor

import { type Address, describeAddress } from "../../db/postgres/connection/address.ts";
import { type Conditions, readConditions } from "../../db/postgres/connection/conditions.ts";
import {
  CLOCK_WARN_MS,
  type Condition,
  weaknessesOf,
} from "../../db/postgres/schema/weaknesses.ts";
import { SchemaError } from "../../db/postgres/connection/errors.ts";
import { pendingMigrations } from "../../db/postgres/schema/migrate.ts";
import { databaseOpenErrorOf } from "../../db/postgres/connection/open-error.ts";
import { COMMAND_NAME, connectForCommand } from "../../db/postgres/connection/open-for-command.ts";
import { schemaProblems } from "../../db/postgres/schema/schema-check.ts";
import { openSnapshot } from "../../db/postgres/batch/snapshot.ts";
import { readStandbys, type Standbys } from "../../db/postgres/connection/standbys.ts";
import { readRowFacts } from "../../db/port/row-facts.ts";
import { readDatabaseTime } from "../../db/postgres/connection/clock.ts";
import { listRunningServers } from "../../db/postgres/connection/sessions.ts";
import type { Server } from "../../db/tables/database.ts";
import { type Finding, finding, rowFindings } from "./findings.ts";

/** Runs the checks. `now`: this machine's clock, in milliseconds since 1970. */
export async function runPostgresDoctor(address: Address, now: () => number): Promise<Finding[]> {
  const name = describeAddress(address);
  try {
    const conditions = await readConditions(address, now);
    return [
      finding("PostgreSQL", "ok", `${conditions.version} at ${name}`),
      ...conditionFindings(address, conditions),
      ...(await schemaFindings(address, conditions)),
    ];
  } catch (error) {
    const known = databaseOpenErrorOf(error, name);
    if (!known) throw error;
    return [finding("PostgreSQL", "fail", known.message)];
  }
}

function conditionFindings(address: Address, conditions: Conditions): Finding[] {
  const weak = weaknessesOf(address, conditions);
  const condition = (check: string, about: Condition, found: string): Finding => {
    const weakness = weak.get(about);
    if (weakness === undefined) return finding(check, "ok", found);
    const [what, advice] = weakness.split(": ", 2) as [string, string];
    return finding(check, "warn", what, advice);
  };
  const { synchronousCommit: commit, synchronousStandbys: standbys, isEncrypted } = conditions;
  return [
    condition("fsync", "fsync", "on"),
    condition("synchronous_commit", "commit", commit),
    condition("synchronous_standby_names", "standby", standbys),
    condition("encryption", "encryption", isEncrypted ? address.sslMode : "not needed here"),
    clockDifference(conditions),
  ];
}

function clockDifference({ clockAheadMs }: Conditions): Finding {
  const off = Math.abs(clockAheadMs);
  const side = clockAheadMs > 0 ? "ahead of" : "behind";
  const found = off === 0 ? "same as the database's" : `${off} ms ${side} the database's`;
  if (off <= CLOCK_WARN_MS) return finding("clock difference", "ok", found);
  return finding(
    "clock difference",
    "warn",
    found,
    "set both clocks, and keep them correct with NTP",
  );
}

async function schemaFindings(address: Address, conditions: Conditions): Promise<Finding[]> {
  const schema = await schemaFinding(address);
  // Without its tables nothing else can be read.
  if (schema.state !== "ok") return [schema];
  const snapshot = await openSnapshot(address, COMMAND_NAME);
  try {
    const now = await readDatabaseTime(snapshot);
    const read = await snapshot.read((reader) => ({
      facts: readRowFacts(reader, now),
      standbys: readStandbys(reader),
      servers: listRunningServers(reader),
    }));
    const { facts, standbys, servers } = read;
    return [
      schema,
      standbysFinding(standbys, conditions),
      serversFinding(servers),
      ...rowFindings(facts, now),
    ];
  } finally {
    snapshot.close();
  }
}

async function schemaFinding(address: Address): Promise<Finding> {
  const connection = await connectForCommand(address);
  try {
    const pending = await pendingMigrations(connection);
    if (pending.length > 0) {
      const advice = "run this version's `reseller serve` once: it creates or upgrades the tables";
      return finding("schema", "warn", `${pending.length} migrations behind`, advice);
    }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return finding("schema", "fail", error.message);
  } finally {
    connection.close();
  }
  const differences = await schemaProblems(address);
  if (differences.length === 0) return finding("schema", "ok", "this version's");
  const found = differences.map(({ subject, problem }) => `${subject} ${problem}`).join(", ");
  return finding("schema", "fail", found, "restore a backup or ask for help before taking orders");
}

function standbysFinding(
  { synchronous, asynchronous, hidden }: Standbys,
  { synchronousStandbys }: Conditions,
): Finding {
  if (hidden > 0) {
    const found = `this user cannot see the state of ${hidden} standbys`;
    return finding("standbys", "warn", found, "GRANT pg_monitor to the user");
  }
  const found = `${synchronous} synchronous, ${asynchronous} asynchronous`;
  if (synchronous > 0) return finding("standbys", "ok", found);
  if (synchronousStandbys.trim() !== "") {
    return finding(
      "standbys",
      "fail",
      found,
      "every commit waits until a synchronous standby is back",
    );
  }
  return finding(
    "standbys",
    "warn",
    found,
    "commits do not wait for another machine: connect a synchronous standby",
  );
}

function serversFinding(servers: readonly Server[]): Finding {
  if (servers.length === 0) {
    return finding("servers", "warn", "none runs", "run `reseller serve` with --database");
  }
  return finding("servers", "ok", servers.map(({ name }) => name).join(", "));
}
