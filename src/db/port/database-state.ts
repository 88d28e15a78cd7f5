// Decides from a database's tables and migrations whether this program can use it. Both engines use the same rules and
// the same messages: docs/specification/storage.md#database-states.

/** A migration of this program: a file of migrations/. */
export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** A row of the table `migrations`. */
export interface AppliedMigration {
  version: number;
  name: string;
  hash: string;
}

/** What identifies a database: its tables, migrations and mark. */
export interface FoundDatabase {
  /** The names of its tables and views, without those of an extension or of the engine. */
  tables: readonly string[];
  /** The columns of the table `migrations`; null: the table does not exist. */
  migrationColumns: readonly string[] | null;
  /** The rows of that table; null: it does not have our columns. */
  applied: readonly AppliedMigration[] | null;
  /** Whether the database has this program's mark; null: the engine has no such mark. */
  isMarked: boolean | null;
}

/** An engine's advice for the messages. */
export interface Advice {
  /** What to do when the database belongs to another program. */
  another: string;
  /** How to remove the target of an unfinished move. */
  remove: string;
}

/** Name of the table that marks the target of a `move` from before the first row until all rows are committed. */
export const UNFINISHED_MOVE = "unfinished_move";

const MIGRATIONS_TABLE = "migrations";
const MIGRATION_COLUMNS = ["version", "name", "hash", "applied_at"];
/** Tables of the first migration. They identify our database even if its table of migrations is damaged or lost. */
const OUR_TABLES = ["accounts", "transfers", "order_events"];
const NAMED_LIMIT = 4;

/** Returns the hash by which a database remembers a migration. */
export function hashOf({ sql }: Migration): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}

/** Returns whether a table of migrations has our columns, so that it can be read. */
export function areMigrationColumns(columns: readonly string[] | null): boolean {
  return columns !== null && MIGRATION_COLUMNS.every((column) => columns.includes(column));
}

/**
 * Returns why a database cannot be used, as the end of a sentence that begins with its name. Returns null if it is
 * empty, or ours of this version or an older one. `known`: oldest first.
 */
export function whyUnusable(
  found: FoundDatabase,
  known: readonly Migration[],
  advice: Advice,
): string | null {
  const { tables, migrationColumns, applied, isMarked } = found;
  if (tables.length === 0) return null;
  const isOurs =
    isMarked ?? (isTableOurs(found) || OUR_TABLES.every((name) => tables.includes(name)));
  if (!isOurs && !tables.includes(UNFINISHED_MOVE)) {
    return `belongs to another program (it has ${listed(tables)}): ${advice.another}`;
  }
  if (tables.includes(UNFINISHED_MOVE)) {
    return `is the target of an unfinished move: repeat the move, or ${advice.remove}`;
  }
  if (migrationColumns === null) return "has lost its migrations table: restore a backup";
  if (applied === null) return damaged("it has other columns");
  return applied.length === 0 ? damaged("it is empty") : whyOtherSchema(applied, known);
}

function isTableOurs({ migrationColumns, tables }: FoundDatabase): boolean {
  // Other programs also have a table named `migrations`.
  return areMigrationColumns(migrationColumns) && OUR_TABLES.some((name) => tables.includes(name));
}

function whyOtherSchema(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): string | null {
  const last = known.at(-1)?.version ?? 0;
  if (isBeforeRelease(applied, known)) return BEFORE_RELEASE;
  for (const { version, hash } of applied) {
    const migration = known.find((each) => each.version === version);
    if (!migration) {
      return `was written by a newer version (schema ${version}; this binary supports ${last}): run that version or a later one`;
    }
    if (hashOf(migration) !== hash) {
      return `was created by another build of schema ${version} (${migration.name} differs): run the build that created it`;
    }
  }
  const versions = new Set(applied.map(({ version }) => version));
  const highest = Math.max(...versions);
  const missing = known.find(({ version }) => version < highest && !versions.has(version));
  return missing ? damaged(`version ${missing.version} is missing`) : null;
}

const BEFORE_RELEASE =
  "was created by a version before 0.9.0, which was never released and cannot be upgraded: use the program that created it, or start a new database";

/** Returns whether the first migration has another name, as in versions before the first release. */
function isBeforeRelease(
  applied: readonly AppliedMigration[],
  known: readonly Migration[],
): boolean {
  const first = known.find(({ version }) => version === 1);
  return (
    first !== undefined && applied.some(({ version, name }) => version === 1 && name !== first.name)
  );
}

function damaged(how: string): string {
  return `has a damaged migrations table (${how}): restore a backup`;
}

function listed(tables: readonly string[]): string {
  const named = tables.filter((name) => name !== MIGRATIONS_TABLE).toSorted();
  const names = named.length === 0 ? tables : named;
  const more = names.length - NAMED_LIMIT;
  return names.slice(0, NAMED_LIMIT).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
