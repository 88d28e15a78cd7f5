/** Progress goes to stderr, results to stdout. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
