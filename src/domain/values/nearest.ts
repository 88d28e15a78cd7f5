// Finds the known name that was most likely meant by an unknown name.

/** Returns the most similar known name; null when none is similar. A third of the letters may differ, at most three. */
export function nearestOf(name: string, known: Iterable<string>): string | null {
  let nearest: string | null = null;
  let least = Math.min(3, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = distanceOf(name, candidate);
    if (distance >= least) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

/** Counts the letters to add, remove, replace or swap with their neighbour (optimal string alignment). */
function distanceOf(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let column = 1; column <= other.length; column++) {
      const differs = one[row - 1] === other[column - 1] ? 0 : 1;
      let distance = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + differs,
      );
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1];
      if (isSwapped) distance = Math.min(distance, rows[row - 2]![column - 2]! + 1);
      line.push(distance);
    }
    rows.push(line);
  }
  return rows.at(-1)!.at(-1)!;
}
