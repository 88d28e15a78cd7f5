// Checks a downloaded backup: opens it as a restore would, upgrades it to this program's schema, and verifies it.

import type { Verification } from "../db/verify/verify.ts";
import { claimDataDirectory, closeForCommand, openForCommand } from "../storage/file/open.ts";
import { verify } from "../storage/doctor/verify.ts";

export interface Checked extends Verification {
  /** Null if there are no orders. */
  lastOrderAt: number | null;
}

/** Checks the backup in `folder`, a data directory that holds nothing else. */
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
