// The id of an installation: one a data directory, in the names of the backups that its server makes, so that
// services can share a folder of backups. It is not in the database, for a backup restored elsewhere is another service.

import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createId } from "../db/ids.ts";
import { syncPath } from "./files.ts";

const FILE = "instance.id";
const ID_LENGTH = 12;
/** The id, and the data directory that it was last used in. */
const CONTENT = /^([a-z][0-9a-z]{11})\n(\/[^]*)\n$/;

/** Null before the first server. */
export function readInstanceId(data: string): string | null {
  return readInstance(data)?.id ?? null;
}

/** Makes the id where there is none. Only with the lock of the data directory. */
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

/** Whether the data directory was copied rather than moved: the one it came from is still there with the same id. */
function isCopied({ id, directory: from }: Instance, directory: string): boolean {
  try {
    if (readInstance(from)?.id !== id) return false;
    const [here, there] = [statSync(directory), statSync(from)];
    return here.ino !== there.ino || here.dev !== there.dev;
  } catch {
    // There, and another user's.
    return true;
  }
}
