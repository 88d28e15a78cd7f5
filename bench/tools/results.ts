// What was measured: a list of rounds for each part, case, subject and metric.

import { tableOf } from "./table.ts";

export interface Row {
  part: string;
  /** What was done: "128 connections, 16 resellers". */
  what: string;
  subject: string;
  metric: Metric;
  rounds: number[];
  median: number;
}

export type Metric =
  | "per second"
  | "p50 ms"
  | "p99 ms"
  | "CPU s per 10,000"
  | "MB"
  | "ms"
  | "most ms"
  | "main µs"
  | "writer µs"
  | "% of a core"
  | "wake-ups per second";

export class Results {
  readonly #rounds = new Map<string, number[]>();

  add(part: string, what: string, subject: string, metric: Metric, value: number): void {
    const key = [part, what, subject, metric].join("\n");
    const rounds = this.#rounds.get(key);
    if (rounds) rounds.push(value);
    else this.#rounds.set(key, [value]);
  }

  /** Undefined where nothing was measured. */
  median(part: string, what: string, subject: string, metric: Metric): number | undefined {
    const rounds = this.#rounds.get([part, what, subject, metric].join("\n"));
    return rounds && median(rounds);
  }

  rows(): Row[] {
    return [...this.#rounds].map(([key, rounds]) => {
      const [part, what, subject, metric] = key.split("\n") as [string, string, string, Metric];
      return { part, what, subject, metric, rounds, median: median(rounds) };
    });
  }

  /** The medians of a part: a line for each case and subject, a column for each metric. */
  table(part: string): string {
    const rows = this.rows().filter((row) => row.part === part);
    const metrics = [...new Set(rows.map((row) => row.metric))];
    const lines = new Map<string, string[]>();
    for (const { what, subject, metric, median } of rows) {
      const key = `${what}\n${subject}`;
      const line = lines.get(key) ?? [what, subject, ...metrics.map(() => "")];
      line[2 + metrics.indexOf(metric)] = figure(median);
      lines.set(key, line);
    }
    return tableOf([[part, "", ...metrics], ...lines.values()]);
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function figure(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
