// The file names of the server's backups. A name has the time at which the backup began, the id of the installation,
// and whether it was verified.

/** Pattern of the names. The time comes first, so that names sort by it across installations. */
const NAME =
  /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-([a-z][0-9a-z]{11})(\.unverified)?\.db$/;
/** Suffix of the name of a backup in which `verify` found problems. */
const UNVERIFIED = ".unverified";

export function isBackupOf(instance: string, name: string): boolean {
  return NAME.exec(name)?.[2] === instance;
}

/** Parses the file name of a backup; returns null for any other name. */
export function parseBackupName(
  name: string,
): { instance: string; begunAt: number; isVerified: boolean } | null {
  const instance = NAME.exec(name)?.[2];
  if (instance === undefined) return null;
  const begunAt = backupTimeOf(name);
  // The name has a month or day that does not exist.
  if (Number.isNaN(begunAt)) return null;
  return { instance, begunAt, isVerified: isVerifiedName(name) };
}

export function isVerifiedName(name: string): boolean {
  return NAME.exec(name)?.[3] === undefined;
}

/** Returns the name or path under which a backup with problems is kept. */
export function unverifiedName(name: string): string {
  return name.replace(/(\.db)?$/, (end) => `${UNVERIFIED}${end}`);
}

export function backupNameOf(time: string, instance: string): string {
  return `reseller-${time}-${instance}.db`;
}

export function backupTimeOf(name: string): number {
  const [date, time] = NAME.exec(name)![1]!.split("T");
  const [hours, minutes, seconds, milliseconds] = time!.replace("Z", "").split("-");
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
