/** A database that must not be opened. The message is one sentence for the operator: what is wrong, what to do. */
export class OpenError extends Error {
  override name = "OpenError";
}
