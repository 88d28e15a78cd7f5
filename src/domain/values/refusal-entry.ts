// The entry of a refusal: everything that is said about it, in one place. The entries are in the refusals.ts of their nouns.

/** A text, or how it is made from the refusal's details. */
export type RefusalText<Details> = string | ((details: Details) => string);

export interface RefusalEntry<Details> {
  /** What is wrong, without a full stop and what to do. For API codes it is fixed: docs/specification/http.md#error-table. */
  message: RefusalText<Details>;
  /** What to do about it; the panel and the command line add it to the message. */
  hint?: RefusalText<Details>;
  /** What to do on the command line: its flags and commands. */
  commandLine?: RefusalText<Details>;
  /** The panel's fields that may have caused it. The message is shown beside the first that the form has. */
  fields?: readonly string[];
  /** Set if what the request named does not exist: a page of the panel then responds 404. */
  isAbsence?: true;
  /** The HTTP status. A refusal without one is an internal error in an API call. */
  status?: number;
  /** Further headers of the response. */
  headers?: (details: Details) => Record<string, string>;
  /** Further members of the response's body. */
  members?: (details: Details) => Record<string, unknown>;
  /** Text under /api/v2: docs/specification/smm-api.md#v2-errors. Without one it is an internal error there. */
  v2?: RefusalText<Details>;
}

/** Declares an entry. `Details`: what its texts may use: numbers, our own words and the caller's own order. */
export function entry<Details = null>(
  declared: RefusalEntry<NoInfer<Details>>,
): RefusalEntry<Details> {
  return declared;
}

/** Names a command that helps: `` see `reseller admin user list` ``. */
export function see(command: string): string {
  return `see \`reseller ${command}\``;
}
