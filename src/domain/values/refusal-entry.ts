// The entry of a refusal: its texts and its HTTP response. The entries are in refusals.ts of
// each subject's folder, such as domain/orders/refusals.ts.

/** A text, or a function that makes it from the refusal's details. */
export type RefusalText<Details> = string | ((details: Details) => string);

export interface RefusalEntry<Details> {
  /** What is wrong, without a full stop. For codes of the API it is fixed: docs/specification/http.md#error-table. */
  message: RefusalText<Details>;
  /** What to do about it. The panel and the command line add it to the message. */
  hint?: RefusalText<Details>;
  /** What to do on the command line: its flags and commands. */
  commandLine?: RefusalText<Details>;
  /** The panel's fields that may have caused it. The message is shown beside the first of them in the form. */
  fields?: readonly string[];
  /** Set if something that the request named does not exist. A page of the panel responds to it with 404. */
  isAbsence?: true;
  /** The HTTP status. A refusal without one is an internal error in an API call. */
  status?: number;
  /** Further headers of the response. */
  headers?: (details: Details) => Record<string, string>;
  /** Further members of the response's body. */
  members?: (details: Details) => Record<string, unknown>;
  /** Text under /api/v2: docs/specification/smm-api.md#v2-errors. Without one it is an internal error there. */
  smmApi?: RefusalText<Details>;
}

/**
 * Declares an entry. `Details`: the values that its texts need. They are numbers, fixed words, or what the caller itself
 * sent or may see, so that no message shows another user's data.
 */
export function entry<Details = null>(
  declared: RefusalEntry<NoInfer<Details>>,
): RefusalEntry<Details> {
  return declared;
}

/** Names a command that helps: `` see `reseller admin user list` ``. */
export function see(command: string): string {
  return `see \`reseller ${command}\``;
}
