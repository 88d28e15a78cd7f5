// What was shown before a change, so that the change is refused if it would be another one by then.

/** Of a plan as JSON has it. */
export function digestOf(plan: unknown): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(plan)).digest("hex");
}
