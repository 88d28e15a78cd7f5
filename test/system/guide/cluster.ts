// The database machines as their own tools show them.

import { type Machines, soon } from "../../support/machines.ts";

const READY_LIMIT_MS = 180_000;

interface Member {
  name: string;
  role: string;
  state: string;
}

export class Cluster {
  constructor(
    readonly machines: Machines,
    readonly names: readonly string[],
  ) {}

  /** Null unless every member runs, one leads and one is its synchronous standby. `on`: where it is asked. */
  members(on: string): Member[] | null {
    const { exitCode, stdout } = this.tool(on, "patronictl list --format json");
    if (exitCode !== 0) return null;
    const rows = JSON.parse(stdout) as Record<string, string>[];
    return rows.map((row) => ({ name: row["Member"]!, role: row["Role"]!, state: row["State"]! }));
  }

  /** Resolves to the leader once these run as one cluster: one leader, one synchronous standby, and all others follow. */
  async ready(names: readonly string[] = this.names): Promise<string> {
    return soon(
      `${names.join(", ")} are a cluster`,
      () => {
        const members = this.members(names[0]!);
        const running = members?.filter(({ state }) => /^(running|streaming)$/.test(state)) ?? [];
        const leaders = running.filter(({ role }) => role === "Leader");
        const isComplete =
          names.every((name) => running.some((each) => each.name === name)) &&
          running.some(({ role }) => role === "Sync Standby");
        const leader = leaders.length === 1 ? leaders[0]!.name : null;
        if (!isComplete || leader === null || !names.includes(leader)) return null;
        // What Patroni lists of a machine may be some seconds old.
        return this.standbysOf(leader) >= names.length - 1 ? leader : null;
      },
      READY_LIMIT_MS,
    );
  }

  standbysOf(leader: string): number {
    const text = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
    const { stdout } = this.machines.try(leader, `runuser -u postgres -- psql -AtXc "${text}"`);
    return Number(stdout);
  }

  tool(on: string, command: string) {
    return this.machines.try(on, `. /root/reseller/env\n${command}`);
  }

  /** What psql prints, as the superuser on that machine. */
  psql(on: string, database: string, text: string): string {
    const command = `runuser -u postgres -- psql -AtX -v ON_ERROR_STOP=1 -d ${database}`;
    return this.machines.run(on, `${command} <<'END'\n${text}\nEND`).trim();
  }

  /** Rows of the service's database. */
  rows(on: string, text: string): Record<string, unknown>[] {
    const found = this.psql(
      on,
      "reseller",
      `SELECT coalesce(json_agg(found), '[]') FROM (${text}) AS found`,
    );
    return JSON.parse(found) as Record<string, unknown>[];
  }

  /** What Patroni has logged there since a time, in milliseconds since 1970. */
  log(on: string, since: number): string {
    const from = Math.floor(since / 1000);
    return this.machines.run(on, `journalctl --unit=patroni --output=cat --since=@${from}`);
  }

  /** Fails unless the three machines have one etcd between them. */
  checkEtcd(): void {
    const lists = this.names.map((name) => {
      const { stdout, stderr } = this.tool(name, "etcdctl member list");
      return stdout.trim().split("\n").toSorted().join("\n") || stderr;
    });
    const ids = this.names.map((name) => {
      const { stdout } = this.tool(name, "etcdctl endpoint status --write-out=json");
      return /"cluster_id":(\d+)/.exec(stdout)?.[1];
    });
    const isOne = new Set(lists).size === 1 && lists[0]!.split("\n").length === this.names.length;
    if (!isOne || new Set(ids).size !== 1) {
      throw new Error(`etcd is not one cluster: ${ids.join(", ")}\n${lists.join("\n--\n")}`);
    }
  }
}
