// What PostgreSQL says of itself in its log, with the time of it.

import { existsSync, readFileSync } from "node:fs";

/** It takes connections that write: the last line of a promotion, or of a start. */
export const ACCEPTS = /LOG: {2}database system is ready to accept connections/;
/** From here on a COMMIT has somebody to wait for. */
export const HAS_STANDBY = /LOG: {2}standby "[^"]*" is now a synchronous standby/;

/** When such a line was first written after `since`, in milliseconds since 1970; null: it was not. */
export function firstLogged(file: string, line: RegExp, since: number): number | null {
  if (!existsSync(file)) return null;
  const times = readFileSync(file, "utf8")
    .split("\n")
    .filter((each) => line.test(each))
    .map(timeOf)
    .filter((time) => time >= since);
  return times.length === 0 ? null : Math.min(...times);
}

/** As log_line_prefix has it where nothing is set: "2026-11-22 08:21:07.123 UTC [12] ". */
function timeOf(line: string): number {
  const time = /^(\S+) (\S+) UTC /.exec(line);
  return time ? Date.parse(`${time[1]}T${time[2]}Z`) : Number.NaN;
}
