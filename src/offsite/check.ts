// Opens a fetched backup as a restore would, upgraded to this binary's schema, and verifies it.

import type { Verification } from "../db/verify.ts";
import { claimDataDirectory, closeForCommand, openForCommand } from "../storage/open.ts";
import { verify } from "../storage/verify.ts";

export interface Checked extends Verification {
  /** Null without an order. */
  lastOrderAt: number | null;
}

/** `folder`: a data directory that holds the backup alone. */
export async function checkBackup(folder: string, now: number): Promise<Checked> {
  claimDataDirectory(folder, now).release();
  const connection = openForCommand(folder);
  try {
    const { at } = connection.sqlite.query("SELECT max(created_at) AS at FROM orders").get() as {
      at: number | null;
    };
    return { ...(await verify(connection)), lastOrderAt: at };
  } finally {
    closeForCommand(connection);
  }
}
