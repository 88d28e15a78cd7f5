// The file names of the server's backups: when each was begun, and the id of its installation.

/** The time comes first, so that names sort by it across installations. */
const NAME = /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)-([a-z][0-9a-z]{11})\.db$/;
/** The names of an older version, without the id; with a suffix: an unfinished backup. */
export const OLDER_BACKUP_NAME =
  /^reseller-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)\.db(\.partial(?:-journal)?)?$/;

/** Whether the name is that of a backup of this installation. */
export function isBackupOf(instance: string, name: string): boolean {
  return NAME.exec(name)?.[2] === instance;
}

/** The installation and the time in the file name of a backup; null for another name. */
export function parseBackupName(name: string): { instance: string; begunAt: number } | null {
  const instance = NAME.exec(name)?.[2];
  return instance === undefined ? null : { instance, begunAt: backupTimeOf(name) };
}

export function backupNameOf(time: string, instance: string): string {
  return `reseller-${time}-${instance}.db`;
}

export function backupTimeOf(name: string): number {
  const [date, time] = NAME.exec(name)![1]!.split("T");
  const [hours, minutes, seconds, milliseconds] = time!.replace("Z", "").split("-");
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}
