// The simulation's clock and randomness: one queue of events and one seeded random source.

import { drainMicrotasks } from "bun:jsc";
import type { Clock } from "../../../src/scheduling/clock.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";

const START = Date.UTC(2026, 0, 1);
/** Limit for the delay of timers. It saves an event each quarter of a second. */
const TIMER_LAG_MS = 60_000;
/** The same limit after idle(). */
const IDLE_LAG_MS = 120_000;

export interface Chance {
  /** 0 to 1. */
  number(): number;
  /** Whole, both ends included. */
  whole(from: number, to: number): number;
  /** True that often, 0 to 1. */
  happens(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The same seed gives the same world. */
export function chanceOf(seed: number): Chance {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const number = () => {
    // A Weyl sequence, mixed: small, and good enough to choose faults with.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number) => from + Math.floor(number() * (to - from + 1));
  return {
    number,
    whole,
    happens: (probability) => number() < probability,
    pick: (from) => from[whole(0, from.length - 1)]!,
  };
}

/** One run of the process; what belongs to a dead one never happens. */
export interface Life {
  dead: boolean;
}

interface Event {
  at: number;
  order: number;
  life: Life | null;
  run: () => void;
}

export interface World {
  chance: Chance;
  /** Milliseconds since the beginning; only grows. */
  elapsed(): number;
  /** The wall clock, which jumps. */
  now(): number;
  jump(milliseconds: number): void;
  /** Makes ticks rarer from now on. */
  idle(): void;
  /** `life` null: the world outside, which no crash stops. */
  later: (delay: number, life: Life | null, run: () => void) => void;
  clockOf(life: Life): Clock;
  /** Runs the events up to that time, one by one; `after` is called after each. */
  runUntil(elapsed: number, after: () => void): Promise<void>;
  /** Ends the run with an error of code that nothing awaits. */
  fail: (error: unknown) => void;
  trace(line: string): void;
}

export function createWorld(seed: number, trace: (line: string) => void): World {
  const chance = chanceOf(seed);
  const events: Event[] = [];
  let elapsed = 0;
  let offset = START;
  let order = 0;
  let lagMs = TIMER_LAG_MS;
  let failure: { error: unknown } | null = null;

  const later: World["later"] = (delay, life, run) => {
    order += 1;
    push(events, { at: elapsed + Math.max(0, delay), order, life, run });
  };

  return {
    chance,
    elapsed: () => elapsed,
    now: () => offset + elapsed,
    jump(milliseconds) {
      offset += milliseconds;
    },
    idle: () => void (lagMs = IDLE_LAG_MS),
    later,
    clockOf: (life) => ({
      now: () => offset + elapsed,
      after(milliseconds, callback) {
        let off = false;
        later(milliseconds, life, () => off || callback());
        return () => (off = true);
      },
      timer(callback) {
        let setAs: object | null = null;
        return {
          set(milliseconds) {
            const mine = (setAs = {});
            const lag = chance.whole(0, lagMs);
            later(milliseconds + lag, life, () => setAs === mine && callback());
          },
          clear: () => (setAs = null),
        };
      },
    }),
    async runUntil(end, after) {
      for (let next = events[0]; next && next.at <= end; next = events[0]) {
        pop(events);
        elapsed = next.at;
        if (next.life?.dead) continue;
        next.run();
        // Runs everything that follows from the event: all code here waits for promises only.
        drainMicrotasks();
        if (failure) throw failure.error;
        after();
      }
      elapsed = end;
    },
    fail: (error) => void (failure ??= { error }),
    trace: (line) => trace(`${(elapsed / 1000).toFixed(3).padStart(10)}  ${line}`),
  };
}

/** A binary heap by time, then by order of scheduling. */
function push(heap: Event[], event: Event): void {
  let index = heap.push(event) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(heap[index]!, heap[parent]!)) return;
    swap(heap, index, parent);
    index = parent;
  }
}

function pop(heap: Event[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  heap[0] = last;
  for (let index = 0; ;) {
    const [left, right] = [2 * index + 1, 2 * index + 2];
    let first = index;
    if (left < heap.length && isBefore(heap[left]!, heap[first]!)) first = left;
    if (right < heap.length && isBefore(heap[right]!, heap[first]!)) first = right;
    if (first === index) return;
    swap(heap, index, first);
    index = first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function swap(heap: Event[], a: number, b: number): void {
  [heap[a], heap[b]] = [heap[b]!, heap[a]!];
}

/** Runs an act that may be refused, and traces the refusal. */
export function attempt(world: World, what: string, body: () => void): void {
  try {
    body();
    world.trace(what);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${what}: refused, ${error.code}`);
  }
}
