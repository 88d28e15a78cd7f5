// Cells of CSV files.

/** RFC 4180. A spreadsheet would evaluate a cell that starts like a formula: an apostrophe makes it text. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
