// Durations, sizes and rates as people write them: `10s`, `64KiB`, `100/s`. 0 needs no unit. Formatted values can be
// parsed again, so that a printed setting can be copied.

import { SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS } from "./spans.ts";

const MILLISECONDS: Record<string, number> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};
export const MIB_BYTES = 1024 ** 2;
const BYTES: Record<string, number> = {
  B: 1,
  KB: 1000,
  KiB: 1024,
  MB: 1000 ** 2,
  MiB: MIB_BYTES,
  GB: 1000 ** 3,
  GiB: 1024 ** 3,
  TB: 1000 ** 4,
  TiB: 1024 ** 4,
};
const RATE_UNITS: Record<string, number> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS };

const DURATION = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const SIZE = /^(\d{1,9})(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB)$/;
const RATE = /^([1-9]\d{0,6})\/(s|m|h)$/;

/** A number of requests in each interval. */
export interface Rate {
  requests: number;
  milliseconds: number;
}

/** Parses a duration to milliseconds; null when malformed. */
export function parseDuration(text: string): number | null {
  return scaled(DURATION.exec(text), text, MILLISECONDS);
}

/** Parses a size to bytes; null when malformed. */
export function parseSize(text: string): number | null {
  return scaled(SIZE.exec(text), text, BYTES);
}

/** Parses a rate such as `100/s`, `600/m` or `1000/h`; null when malformed. Also null for 0, which means no limit. */
export function parseRate(text: string): Rate | null {
  const [, requests, unit] = RATE.exec(text) ?? [];
  if (requests === undefined) return null;
  return { requests: Number(requests), milliseconds: RATE_UNITS[unit!]! };
}

export function formatDuration(milliseconds: number): string {
  return milliseconds === 0 ? "0s" : format(milliseconds, ["d", "h", "m", "s", "ms"], MILLISECONDS);
}

export function formatSize(bytes: number): string {
  return bytes === 0 ? "0B" : format(bytes, ["TiB", "GiB", "MiB", "KiB", "B"], BYTES);
}

/** Formats in the largest unit that gives a whole number. */
function format(value: number, largestFirst: string[], units: Record<string, number>): string {
  const unit = largestFirst.find((name) => value % units[name]! === 0)!;
  return `${value / units[unit]!}${unit}`;
}

export function formatRate({ requests, milliseconds }: Rate): string {
  const unit = Object.keys(RATE_UNITS).find((name) => RATE_UNITS[name] === milliseconds)!;
  return `${requests}/${unit}`;
}

function scaled(
  match: RegExpExecArray | null,
  text: string,
  units: Record<string, number>,
): number | null {
  if (text === "0") return 0;
  const [, count, unit] = match ?? [];
  if (count === undefined) return null;
  const value = Math.round(Number(count) * units[unit!]!);
  return Number.isSafeInteger(value) ? value : null;
}
