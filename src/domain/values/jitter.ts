// Jitter: random fractions that spread work over time.

/** Ratio whose multiples modulo 1 are evenly spread. */
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** Returns the jitter of one of several items, 0 to 1, from one random number for all. */
export function spreadJitter(random: number, index: number): number {
  return (random + index * GOLDEN_RATIO) % 1;
}
