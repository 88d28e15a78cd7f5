// Finds the type of a folder's file system from /proc/self/mountinfo, and whether a database is safe on it.

import { existsSync, readFileSync, realpathSync } from "node:fs";

const NETWORK_FILE_SYSTEMS = new Set([
  "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "vboxsf",
  "fuse.sshfs", "fuse.glusterfs", "fuse.vmhgfs-fuse", "fuse.rclone", "fuse.s3fs",
]); // prettier-ignore
const MEMORY_FILE_SYSTEMS = new Set(["tmpfs", "ramfs"]);

/** Returns whether this type is a network file system, where SQLite's locks and fsyncs are unreliable. */
export function isNetworkFileSystem(type: string): boolean {
  return NETWORK_FILE_SYSTEMS.has(type);
}

/** Returns whether this type keeps files in memory, so that a reboot loses them. */
export function isMemoryFileSystem(type: string | null): boolean {
  return type !== null && MEMORY_FILE_SYSTEMS.has(type);
}

/** Returns the type of the file system that holds a folder, with symbolic links resolved; null if unknown. */
export function fileSystemUnder(folder: string): string | null {
  return fileSystemOf(realpathSync(folder), readMountInfo());
}

/** Finds the type in the text of /proc/self/mountinfo, for a path without symbolic links; null if unknown. */
export function fileSystemOf(directory: string, mountInfo: string): string | null {
  let best = { point: "", type: null as string | null };
  for (const line of mountInfo.split("\n")) {
    const [left, right] = line.split(" - ");
    const point = left?.split(" ")[4]?.replace(/\\040/g, " ");
    const type = right?.split(" ")[0];
    if (!point || !type || point.length < best.point.length) continue;
    const within = point === "/" || directory === point || directory.startsWith(`${point}/`);
    if (within) best = { point, type };
  }
  return best.type;
}

function readMountInfo(): string {
  const file = "/proc/self/mountinfo";
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
