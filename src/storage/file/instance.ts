// The id of an installation, one for each data directory. The names of its backups contain it, so that services can
// share a folder of backups. It is not in the database, because a backup that is restored elsewhere is another
// installation.

import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createId } from "../../db/port/ids.ts";
import { syncPath } from "./files.ts";

const FILE = "instance.id";
const ID_LENGTH = 12;
/** The content of the file: the id, and the data directory in which it was last used. */
const CONTENT = /^([a-z][0-9a-z]{11})\n(\/[^]*)\n$/;

/** Returns null before the first `serve`. */
export function readInstanceId(data: string): string | null {
  return readInstance(data)?.id ?? null;
}

/** Returns the id, and creates it if it is missing. The caller holds the lock of the data directory. */
export function claimInstanceId(data: string): string {
  const directory = realpathSync(data);
  const found = readInstance(directory);
  if (found?.directory === directory) return found.id;
  const id = found && !isCopied(found, directory) ? found.id : createId().slice(0, ID_LENGTH);
  const file = join(directory, FILE);
  writeFileSync(`${file}.new`, `${id}\n${directory}\n`, { mode: 0o600 });
  syncPath(`${file}.new`);
  renameSync(`${file}.new`, file);
  syncPath(directory);
  return id;
}

interface Instance {
  id: string;
  directory: string;
}

function readInstance(data: string): Instance | null {
  const file = join(data, FILE);
  if (!existsSync(file)) return null;
  const [, id, directory] = CONTENT.exec(readFileSync(file, "utf8")) ?? [];
  return id === undefined || directory === undefined ? null : { id, directory };
}

/** Returns whether the data directory was copied, not moved: the original still exists with the same id. */
function isCopied({ id, directory: from }: Instance, directory: string): boolean {
  try {
    if (readInstance(from)?.id !== id) return false;
    const [here, there] = [statSync(directory), statSync(from)];
    return here.ino !== there.ino || here.dev !== there.dev;
  } catch {
    // The original exists but belongs to another user.
    return true;
  }
}
