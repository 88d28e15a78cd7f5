// What a run came to.

import { type Ask, audit, type Findings } from "./audit.ts";
import type { Journal } from "./journal.ts";

export interface Run {
  rounds: number;
  seed: number;
  control: string | null;
  /** Seconds after which Patroni takes a leader for lost; null: its own. */
  ttl: number | null;
  progress: (round: number, journal: Journal) => void;
}

export type Scenario = (run: Run) => Promise<Report>;

export interface Report {
  acknowledged: number;
  refused: number;
  unknown: number;
  unanswered: number;
  findings: Findings;
  figures: Record<string, number | readonly number[]>;
}

export async function reportOf(
  journal: Journal,
  ask: Ask,
  figures: Report["figures"],
): Promise<Report> {
  return {
    acknowledged: journal.acknowledged,
    refused: journal.count("refused"),
    unknown: journal.count("unknown"),
    unanswered: journal.count("sent"),
    findings: await audit(journal, ask),
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
