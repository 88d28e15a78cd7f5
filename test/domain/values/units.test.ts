// Durations, sizes and rates read as people write them, and nothing else.

import { expect, test } from "bun:test";
import {
  formatDuration,
  formatRate,
  formatSize,
  parseDuration,
  parseRate,
  parseSize,
} from "../../../src/domain/values/units.ts";

test("durations, sizes and rates are read with their unit, and printed so that they read the same", () => {
  const durations = {
    "0": 0,
    "250ms": 250,
    "10s": 10_000,
    "1h": 3_600_000,
    "1.5h": 5_400_000,
    "90d": 7_776_000_000,
  };
  for (const [text, value] of Object.entries(durations)) {
    expect(parseDuration(text)).toBe(value);
    expect(parseDuration(formatDuration(value))).toBe(value);
  }
  const sizes = { "0": 0, "512B": 512, "64KiB": 65_536, "100MB": 100_000_000, "2TiB": 2 ** 41 };
  for (const [text, value] of Object.entries(sizes)) {
    expect(parseSize(text)).toBe(value);
    expect(parseSize(formatSize(value))).toBe(value);
  }
  for (const text of ["100/s", "600/m", "1/h"]) expect(formatRate(parseRate(text)!)).toBe(text);
});

test("a value that lacks its unit or is not a number is refused", () => {
  for (const text of ["", "10", "-1s", "1.5", "10 s", "s", "1w", "1e3s", "0x10s"]) {
    expect(parseDuration(text)).toBeNull();
  }
  for (const text of ["", "10", "-1B", "1kb", "1 KiB", "KiB", "999999999TiB"]) {
    expect(parseSize(text)).toBeNull();
  }
  for (const text of ["", "0", "0/s", "100", "100/d", "/s", "-1/s", "1.5/s"]) {
    expect(parseRate(text)).toBeNull();
  }
});
