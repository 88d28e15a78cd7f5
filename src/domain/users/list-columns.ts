// The columns of CSV files with users and with keys to create.

/** Names of columns that a file must have, and of those that it may have. */
export interface ListColumns {
  required: readonly string[];
  optional: readonly string[];
}

export const USER_COLUMNS: ListColumns = {
  required: ["username"],
  optional: ["name", "email", "parent", "discount", "credit", "reference"],
};

export const KEY_COLUMNS: ListColumns = {
  required: ["username", "type"],
  optional: ["reach", "label", "expires", "allow", "rechargeLimit", "rechargeDaily"],
};

/** Returns the header as help and messages show it, such as `username[,name]`. */
export function headerOf({ required, optional }: ListColumns): string {
  return `${required.join(",")}[,${optional.join(",")}]`;
}
