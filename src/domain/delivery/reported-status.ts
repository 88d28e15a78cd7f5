// The statuses that a provider can report, and the words for them. docs/specification/delivery.md#polling-mapping.

/** A status that a provider can report. */
export type ReportedStatus = "PROCESSING" | "COMPLETED" | "PARTIAL" | "CANCELLED" | "FAILED";

const STATUS_BY_WORD: Record<string, ReportedStatus> = {
  pending: "PROCESSING",
  processing: "PROCESSING",
  inprogress: "PROCESSING",
  completed: "COMPLETED",
  partial: "PARTIAL",
  canceled: "CANCELLED",
  cancelled: "CANCELLED",
  refunded: "CANCELLED",
  fail: "FAILED",
  failed: "FAILED",
  error: "FAILED",
};

/** Parses a provider's status word, ignoring case, white space, `-` and `_`; null for an unknown word. */
export function statusOfWord(word: string): ReportedStatus | null {
  const normalized = word.toLowerCase().replace(/[\s_-]+/g, "");
  return Object.hasOwn(STATUS_BY_WORD, normalized) ? STATUS_BY_WORD[normalized]! : null;
}
