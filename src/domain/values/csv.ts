// Cells of CSV files.

/** Escapes a cell (RFC 4180). Text that begins like a formula gets an apostrophe, so that no spreadsheet runs it. */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return quotedCell(safe);
}

/** Puts a cell in quotes if it has commas, quotes or line breaks (RFC 4180). */
export function quotedCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
