// On each database machine a writer that, several times a second, writes a row to the PostgreSQL of that machine alone and notes
// when the COMMIT was acknowledged. Its notes tell which machines took writes, and when.

import type { Machines } from "../../support/machines.ts";

interface Write {
  machine: string;
  /** Milliseconds since 1970, by the one clock that all these machines have. */
  begun: number;
  acknowledged: number;
}

/** Killed rather than cancelled: a COMMIT that is cancelled while it waits for a standby is reported as done. */
const SCRIPT = `while :; do
  begun=$(date +%s%3N)
  if timeout --signal=KILL 8 runuser -u postgres -- \
    psql -qAtX -d written -c "INSERT INTO writes VALUES ('$(hostname)', $begun)" >/dev/null 2>&1
  then echo "$(hostname) $begun $(date +%s%3N)"; fi
  sleep 0.3
done`;

export class Writers {
  readonly #writes: Write[] = [];
  /** Where the part begins that is judged next. */
  #from = 0;

  constructor(readonly machines: Machines) {}

  start(machine: string): void {
    const { stdout } = Bun.spawn(this.machines.commandOn(machine, SCRIPT), {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    void this.#read(stdout);
  }

  /** How many were acknowledged to the writer of a machine. */
  countOf(machine: string): number {
    return this.#writes.filter((write) => write.machine === machine).length;
  }

  /**
   * The machines that took writes since this was last asked, each as often as it took over from another: one name where nothing
   * changed, two after a failover. More, or the first again, means that two machines took writes at once.
   */
  turns(): string[] {
    const writes = this.#writes
      .slice(this.#from)
      .toSorted((a, b) => a.acknowledged - b.acknowledged);
    this.#from = this.#writes.length;
    const turns: string[] = [];
    for (const { machine } of writes) if (turns.at(-1) !== machine) turns.push(machine);
    return turns;
  }

  get acknowledged(): number {
    return this.#writes.length;
  }

  /** Acknowledged, but not in the database of that machine. */
  lost(leader: string): string[] {
    const script = `runuser -u postgres -- psql -AtX -F ' ' -d written -c 'SELECT * FROM writes'`;
    const there = new Set(this.machines.run(leader, script).split("\n"));
    return this.#writes
      .map(({ machine, begun }) => `${machine} ${begun}`)
      .filter((line) => !there.has(line));
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const lines = `${rest}${decoder.decode(chunk)}`.split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const [machine, begun, acknowledged] = line.split(" ");
        this.#writes.push({
          machine: machine!,
          begun: Number(begun),
          acknowledged: Number(acknowledged),
        });
      }
    }
  }
}
