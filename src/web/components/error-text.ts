// Errors in the words of the page: the name of a field becomes its label.

/** The labels of fields, by name. */
export type Labels = Map<string, string>;

/** The words after a field's name at the beginning of an error, and the words before a field's name at its end. */
const AFTER = "(?= (?:must|is) )";
const BEFORE = "(?<= (?:above|below|before|after|than|to) )";

/** What a label says about its unit, such as `From (UTC)`. */
const UNIT = / \([^)]*\)$/;

export function errorText(message: string, labels: Labels): string {
  for (const [name, label] of labels) {
    const plain = name.replaceAll("-", " ");
    const isName = new RegExp(`^${plain}${AFTER}|${BEFORE}${plain}$`, "g");
    message = message.replace(isName, () => label.replace(UNIT, ""));
  }
  return message;
}
