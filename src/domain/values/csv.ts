// Cells of CSV files.

/** Escapes a cell (RFC 4180). Text that begins like a formula gets an apostrophe, so that no spreadsheet runs it. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
