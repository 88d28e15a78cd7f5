// What a run came to.

import { type Ask, audit, type Findings } from "./audit.ts";
import type { Journal } from "./journal.ts";
import type { Load, LoadOptions } from "./load.ts";

export interface Run {
  rounds: number;
  seed: number;
  control: string | null;
  /** Seconds after which Patroni takes a leader for lost; null: its own. */
  ttl: number | null;
  /** What stands between the servers and Patroni's cluster; null: nothing. */
  through: string | null;
  /** Patroni's failsafe_mode. */
  failsafe: boolean;
  prepare: (options: LoadOptions) => Promise<Load>;
  progress: (round: number, journal: Journal) => void;
}

export type Scenario = (run: Run) => Promise<Report>;

export interface Report {
  acknowledged: number;
  refused: number;
  unknown: number;
  unanswered: number;
  submitted: number;
  findings: Findings;
  figures: Record<string, number | readonly number[]>;
}

export async function reportOf(
  journal: Journal,
  load: Load,
  ask: Ask,
  figures: Report["figures"],
): Promise<Report> {
  const findings = await audit(journal, ask);
  findings.wrong.push(...(await load.problems(ask)));
  return {
    acknowledged: journal.acknowledged,
    refused: journal.count("refused"),
    unknown: journal.count("unknown"),
    unanswered: journal.count("sent"),
    findings,
    submitted: load.submitted(),
    figures,
  };
}

export function describeFigures(figures: Report["figures"]): string {
  return Object.entries(figures)
    .map(([name, value]) => {
      if (typeof value === "number") return `${name} ${value}`;
      if (value.length === 0) return `${name} none`;
      const sorted = value.map(Math.round).toSorted((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)]!;
      return `${name} min ${sorted[0]!} median ${median} max ${sorted.at(-1)!}`;
    })
    .join("; ");
}
