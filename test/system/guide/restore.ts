// A database put back to an earlier moment: what was there then is there, what came later is not.

import type { Cluster } from "./cluster.ts";
import { soon } from "../../support/machines.ts";

const ARCHIVE_LIMIT_MS = 120_000;

/** `restore` runs the guide's commands for a moment. */
export async function restoreEarlierMoment(
  cluster: Cluster,
  restore: (target: string) => Promise<void>,
): Promise<void> {
  const leader = await cluster.ready();
  const write = (name: string) =>
    cluster.psql(leader, "written", `INSERT INTO writes VALUES ('${name}', 0)`);
  write("before");
  const orders = ordersOf(cluster, leader);
  const target = cluster.psql(leader, "postgres", "SELECT clock_timestamp()");
  write("after");
  const segment = cluster.psql(leader, "postgres", "SELECT pg_walfile_name(pg_switch_wal())");
  await soon(
    "the WAL is archived",
    () => {
      const last = cluster.psql(
        leader,
        "postgres",
        "SELECT last_archived_wal FROM pg_stat_archiver",
      );
      return last.slice(8) >= segment.slice(8) || null;
    },
    ARCHIVE_LIMIT_MS,
  );
  await restore(target);
  const next = await cluster.ready();
  const names = cluster.psql(next, "written", "SELECT machine FROM writes WHERE begun = 0");
  if (names !== "before") throw new Error(`after the restore there is: ${names}`);
  const ready = "curl -fsS --retry 60 --retry-delay 1 --retry-connrefused";
  cluster.machines.run("app1", `${ready} http://10.0.0.11:8080/readyz`);
  if (ordersOf(cluster, next) !== orders) throw new Error("orders are missing after the restore");
}

const ordersOf = (cluster: Cluster, on: string): string =>
  cluster.psql(on, "reseller", "SELECT count(*) FROM orders");
