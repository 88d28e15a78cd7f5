/** Rows in columns as wide as they need to be; columns of figures are flush right. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          index > 1 ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
