// Cells of CSV files.

/** Escapes a cell (RFC 4180). Text that starts like a formula gets an apostrophe, so that no spreadsheet evaluates it. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
