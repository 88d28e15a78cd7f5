// Imports the tables of another panel: once to see what would happen, then again to write it. Rows are read in pieces,
// so orders may be more than memory holds. docs/specification/imports.md#moving-in.

import {
  type ImportProblem,
  IMPORT_PROBLEMS,
  type RowOutcome,
} from "../../domain/imports/import-problems.ts";
import { IMPORT_RENEWAL_MS } from "../../domain/imports/runs.ts";
import { isPastStatus } from "../../domain/orders/past-orders.ts";
import type { ImportedOrder } from "../../operations/imports/orders.ts";
import type { ImportedService } from "../../operations/imports/services.ts";
import type { ImportedKey, ImportedUser } from "../../operations/imports/users.ts";
import { FileError, RowError } from "../records.ts";
import { type FoundNames, isWanted, missingColumn, RowReader } from "./cells.ts";
import type { PanelMap, PanelTable } from "./map.ts";
import { readKey, readOrder, readService, readUser } from "./read-rows.ts";
import { isDump, type PanelFile, readTable } from "./table-file.ts";
import { Usernames } from "./usernames.ts";

/** Rows that are planned or written in one transaction beside a server: orders that are placed meanwhile wait for it. */
const SHARED_ROWS = { users: 25, services: 10, keys: 50, orders: 50 } as const;
/** Rows that are planned or written in one transaction otherwise. */
const ROWS_ALONE = 1000;
/** Limits for listed errors and notes. Further ones are only counted. */
const WRONG_LISTED = 1000;
const NOTES_LISTED = 1000;

/** How messages name a row of each table, and the field that identifies it. */
const NAMES = {
  users: ["user", "id"],
  services: ["service", "number"],
  orders: ["order", "number"],
  keys: ["key of user", "user"],
} as const satisfies Record<PanelTable, readonly [string, string]>;
const USER_FIELDS = ["id", "username"];
/** Limit for an id in a message. */
const SHOWN_ID_LENGTH = 64;

type Awaitable<T> = T | Promise<T>;

/** The rows of each table. */
interface Rows {
  users: ImportedUser;
  services: ImportedService;
  keys: ImportedKey;
  orders: ImportedOrder;
}

/** The database of the import. `plan` returns what `write` would do with the rows. */
export interface ImportTarget {
  /** The usernames of the users that were imported before, by their ids in the other panel. */
  imported(): Awaitable<ReadonlyMap<string, string>>;
  plan: { [Table in PanelTable]: (rows: readonly Rows[Table][]) => Awaitable<RowOutcome[]> };
  write: { [Table in PanelTable]: (rows: readonly Rows[Table][]) => Awaitable<RowOutcome[]> };
  /** Reserves all numbers up to these for imported rows. `run`: an id of this import. Throws if another one runs. */
  begin(run: string, highest: { orders: number; services: number }): Awaitable<unknown>;
  /** Says that the import still runs. Returns false if another one has begun. */
  renew(run: string): Awaitable<boolean>;
  /** Ends the import before its end. */
  stop(run: string): Awaitable<unknown>;
  finish(run: string, report: ImportReport): Awaitable<unknown>;
}

export type PanelFiles = Partial<Record<PanelTable, PanelFile>>;

export interface TableReport {
  read: number;
  new: number;
  /** Rows that an earlier import has written. */
  same: number;
  refused: number;
}

export interface ImportReport {
  users: TableReport;
  services: TableReport;
  orders: TableReport;
  keys: TableReport;
  /** The balances of the new users. */
  balanceMicros: bigint;
  /** New orders that ended in the other panel. */
  pastOrders: number;
  /** New orders that are open: at providers, and by hand. */
  openAtProviders: number;
  openByHand: number;
  /** What the new open orders were charged. */
  openChargesMicros: bigint;
  /** Users without a key, when keys are imported. */
  withoutKey: number;
  /** The changes of values by rules of the mapping. */
  notes: string[];
  wrong: RowError[];
  wrongCount: number;
  /** A hash of the rows with what happens to each. */
  rowsHash: string;
}

/** `isWriting`: rows are written; otherwise they are only looked at. */
export type ImportProgress = (table: PanelTable, rows: number, isWriting: boolean) => void;

/** Thrown when rows are refused and nothing was imported. */
export class RefusedRows extends Error {
  override name = "RefusedRows";
  constructor(readonly report: ImportReport) {
    super("rows are refused");
  }
}

export interface ImportOptions {
  files: PanelFiles;
  map: PanelMap;
  dryRun: boolean;
  /** Imports the other rows if some are refused. */
  skipRefused: boolean;
  progress: ImportProgress;
  /** Whether a server uses the database. */
  isShared: boolean;
  /** Called after each piece of work of some milliseconds, so that others get their turn. Throws to stop the import. */
  rest(): Awaitable<void>;
  /** Asks for permission to write. Throws if it is not given. */
  confirm(plan: ImportReport): Promise<void>;
}

/** Plans the import, then writes it unless it is a dry run. Throws FileError and RefusedRows, having changed nothing. */
export async function importPanel(
  target: ImportTarget,
  options: ImportOptions,
): Promise<ImportReport> {
  const planned = new Pass(target, options, null);
  const plan = await planned.run();
  if (options.dryRun) return plan;
  if (plan.wrongCount > 0 && !options.skipRefused) throw new RefusedRows(plan);
  await options.confirm(plan);
  const run = crypto.randomUUID();
  await target.begin(run, planned.highest);
  try {
    const rest = restAndRenew(target, options, run);
    const report = await new Pass(target, { ...options, rest }, planned).run();
    await target.finish(run, report);
    return report;
  } catch (error) {
    // If this fails too, the import counts as running for a little longer.
    await Promise.resolve(target.stop(run)).catch(() => {});
    throw error;
  }
}

/** Returns `rest` that also says that the import still runs. */
function restAndRenew(target: ImportTarget, options: ImportOptions, run: string) {
  let renewedAt = performance.now();
  return async () => {
    await options.rest();
    if (performance.now() - renewedAt < IMPORT_RENEWAL_MS) return;
    renewedAt = performance.now();
    if (!(await target.renew(run))) throw new Error("another import has begun");
  };
}

class Pass {
  readonly report: ImportReport = {
    users: emptyTable(),
    services: emptyTable(),
    orders: emptyTable(),
    keys: emptyTable(),
    balanceMicros: 0n,
    pastOrders: 0,
    openAtProviders: 0,
    openByHand: 0,
    openChargesMicros: 0n,
    withoutKey: 0,
    notes: [],
    wrong: [],
    wrongCount: 0,
    rowsHash: "",
  };
  /** Why the database refused rows, by how many rows of their table were read up to them. */
  readonly refused = {
    users: new Map<number, ImportProblem>(),
    services: new Map<number, ImportProblem>(),
    orders: new Map<number, ImportProblem>(),
    keys: new Map<number, ImportProblem>(),
  };
  readonly #hash = new Bun.CryptoHasher("sha256");
  readonly highest = { orders: 0, services: 0 };
  readonly #notes = new Set<string>();
  /** Users that are, or will be, imported. */
  #sources = new Set<string>();
  readonly #services = new Map<number, ImportedService>();
  /** Numbers that other services have here. */
  readonly #refusedServices = new Set<number>();

  constructor(
    readonly target: ImportTarget,
    readonly options: ImportOptions,
    /** What was planned; null: this is the plan. */
    readonly planned: Pass | null,
  ) {}

  get isWriting(): boolean {
    return this.planned !== null;
  }

  async run(): Promise<ImportReport> {
    const imported = await this.target.imported();
    this.#sources = new Set(imported.keys());
    await this.#users(imported);
    await this.#importedServices();
    await this.#keys();
    await this.#orders();
    this.report.notes = [...this.#notes];
    this.report.rowsHash = this.#hash.digest("hex");
    return this.report;
  }

  async #users(imported: ReadonlyMap<string, string>): Promise<void> {
    const seen = { sources: new Set<string>(), usernames: new Set<string>() };
    const isSuffixed = this.options.map.rules.usernameTwice === "suffix";
    const names = isSuffixed ? await this.#claimUsernames(imported) : null;
    const read = (row: RowReader): ImportedUser => {
      const user = readUser(row, this.#note);
      if (seen.sources.has(user.source)) row.fail(`id ${user.source} appears twice`);
      seen.sources.add(user.source);
      const username = names?.nameOf(user.source, user.username) ?? user.username;
      if (username !== user.username) this.#note(`user ${user.source} is ${username}`);
      if (!names && seen.usernames.has(username.toLowerCase())) {
        row.fail(
          `username ${username} appears twice, perhaps with another case: map one under [users.values.username], or set \`usernameTwice = "suffix"\` under [rules]`,
        );
      }
      seen.usernames.add(username.toLowerCase());
      return { ...user, username };
    };
    await this.#table("users", USER_FIELDS, read, (user, outcome) => {
      this.#sources.add(user.source);
      if (outcome === "new") this.report.balanceMicros += BigInt(user.balanceMicros);
    });
  }

  /** Reads all usernames, because a later row may have a name that a suffix would make. */
  async #claimUsernames(imported: ReadonlyMap<string, string>): Promise<Usernames> {
    const names = new Usernames(imported);
    const { files, map } = this.options;
    if (!files.users) return names;
    for await (const { rows } of this.#rowsOf(files.users, "users", USER_FIELDS)) {
      for (const row of rows) {
        if (!isWanted(row, map.tables.users)) continue;
        try {
          const reader = new RowReader(row, map.tables.users, map.rules, new Map());
          const { source, username } = readUser(reader, () => {});
          names.claim(source, username);
        } catch (error) {
          // It is refused when the row is read again.
          if (!(error instanceof RowError)) throw error;
        }
      }
    }
    return names;
  }

  async #importedServices(): Promise<void> {
    const { providers } = this.options.map;
    const seen = new Set<number>();
    const read = (row: RowReader): ImportedService => {
      const service = readService(row, providers);
      if (seen.has(service.number)) row.fail(`number ${service.number} appears twice`);
      seen.add(service.number);
      return service;
    };
    const required = ["number", "name", "price", "min", "max"];
    const accept = (service: ImportedService) => {
      this.#services.set(service.number, service);
      this.highest.services = Math.max(this.highest.services, service.number);
    };
    const reject = ({ number }: ImportedService) => void this.#refusedServices.add(number);
    await this.#table("services", required, read, accept, undefined, reject);
  }

  async #keys(): Promise<void> {
    const hashes = new Set<string>();
    const read = (row: RowReader): ImportedKey | null => {
      const key = readKey(row);
      if (key === null) {
        this.report.withoutKey += 1;
        return null;
      }
      this.#requireUser(row, key.source);
      if (hashes.has(key.hash))
        row.fail("another row has the same key: make one of the users a new key");
      hashes.add(key.hash);
      return key;
    };
    await this.#table("keys", ["user", "key"], read, () => {});
  }

  async #orders(): Promise<void> {
    const { providers } = this.options.map;
    const names = new Map([...this.#services].map(([number, { name }]) => [number, name]));
    const seen = new Set<number>();
    const read = (row: RowReader): ImportedOrder => {
      const order = readOrder(row, providers, names, this.#note);
      if (seen.has(order.orderId)) row.fail(`number ${order.orderId} appears twice`);
      seen.add(order.orderId);
      this.#requireUser(row, order.source);
      if (!isPastStatus(order.status) && this.#refusedServices.has(order.serviceNumber)) {
        row.fail(`service ${order.serviceNumber} is refused, so the open order has none`);
      }
      const service = this.#services.get(order.serviceNumber);
      const { deliveredBy } = order;
      if (
        deliveredBy &&
        deliveredBy.service === null &&
        service?.provider?.name === deliveredBy.name
      ) {
        deliveredBy.service = service.provider.service;
      }
      return order;
    };
    const required = [
      "number",
      "user",
      "service",
      "link",
      "quantity",
      "charge",
      "status",
      "createdAt",
    ];
    /** Returns the outcome once the services of this import are here. */
    const settle = (order: ImportedOrder, outcome: RowOutcome): RowOutcome => {
      if (outcome !== "service_missing" || !this.#services.has(order.serviceNumber)) return outcome;
      return order.deliveredBy?.service === null ? "provider_service_missing" : "new";
    };
    const accept = (order: ImportedOrder, outcome: RowOutcome) => {
      this.highest.orders = Math.max(this.highest.orders, order.orderId);
      if (outcome === "new") this.#countOrder(order);
    };
    await this.#table("orders", required, read, accept, settle);
  }

  #countOrder({ status, deliveredBy, chargeMicros }: ImportedOrder): void {
    if (isPastStatus(status)) {
      this.report.pastOrders += 1;
      return;
    }
    if (deliveredBy) this.report.openAtProviders += 1;
    else this.report.openByHand += 1;
    this.report.openChargesMicros += BigInt(chargeMicros);
  }

  #requireUser(row: RowReader, source: string): void {
    if (!this.#sources.has(source)) row.fail(`user ${source} is not imported`);
  }

  readonly #note = (what: string): void => {
    if (this.#notes.size < NOTES_LISTED) this.#notes.add(what);
  };

  /** Reads a table, and plans or writes its rows. `accept` gets each row that is, or was, imported, `reject` one that is refused. */
  async #table<Table extends PanelTable>(
    table: Table,
    required: readonly string[],
    read: (row: RowReader) => Rows[Table] | null,
    accept: (row: Rows[Table], outcome: RowOutcome) => void,
    settle: (row: Rows[Table], outcome: RowOutcome) => RowOutcome = (_, outcome) => outcome,
    reject: (row: Rows[Table]) => void = () => {},
  ): Promise<void> {
    const file = this.options.files[table];
    if (file === undefined) return;
    const { map, progress, isShared } = this.options;
    const batchRows = isShared ? SHARED_ROWS[table] : ROWS_ALONE;
    const counts = this.report[table];
    const run = (this.isWriting ? this.target.write : this.target.plan)[table];
    const names = await this.#lookUp(file, table);
    const [noun, field] = NAMES[table];
    let batch: { place: string; position: number; row: Rows[Table] }[] = [];
    const flush = async () => {
      // What the plan left out stays out, even if it could be imported now: nobody confirmed it.
      const due: typeof batch = [];
      for (const each of batch) {
        const problem = this.planned?.refused[table].get(each.position);
        if (problem === undefined) {
          due.push(each);
          continue;
        }
        reject(each.row);
        this.#refuse(table, new RowError(each.place, IMPORT_PROBLEMS[problem]));
      }
      const rows = due.map(({ row }) => row);
      const outcomes = await run(rows);
      outcomes.forEach((found, index) => {
        const { place, position, row } = due[index]!;
        const outcome = this.isWriting ? found : settle(row, found);
        this.#hash.update(`${JSON.stringify([table, outcome, row])}\n`);
        if (outcome === "new" || outcome === "same") {
          counts[outcome] += 1;
          accept(row, outcome);
        } else {
          reject(row);
          this.refused[table].set(position, outcome);
          this.#refuse(table, new RowError(place, IMPORT_PROBLEMS[outcome]));
        }
      });
      batch = [];
      progress(table, counts.read, this.isWriting);
      await this.options.rest();
    };
    for await (const found of this.#rowsOf(file, table, required)) {
      for (const wrong of found.wrong) {
        counts.read += 1;
        this.#refuse(table, wrong);
      }
      for (const row of found.rows) {
        if (!isWanted(row, map.tables[table])) continue;
        counts.read += 1;
        const reader = new RowReader(row, map.tables[table], map.rules, names);
        reader.place += `, ${noun} ${reader.text(field).slice(0, SHOWN_ID_LENGTH)}`;
        try {
          const made = read(reader);
          if (made !== null) batch.push({ place: reader.place, position: counts.read, row: made });
        } catch (error) {
          if (!(error instanceof RowError)) throw error;
          this.#refuse(table, error);
        }
        if (batch.length === batchRows) await flush();
      }
    }
    if (batch.length > 0) await flush();
  }

  async *#rowsOf(file: PanelFile, table: PanelTable, required: readonly string[]) {
    const { rules, tables } = this.options.map;
    let isFirst = true;
    for await (const piece of readTable({ file, table: tables[table].table, rules })) {
      await this.options.rest();
      const [first] = piece.rows;
      if (isFirst && first) {
        isFirst = false;
        const missing = missingColumn(first, tables[table], required);
        if (missing !== null) {
          throw new FileError(
            `${file.name} has no column ${missing} for ${table}; it has ${Object.keys(first.cells).join(", ")}: map the columns with --map or --format`,
          );
        }
      }
      yield piece;
    }
  }

  /** Reads the names behind ids from the other tables of a dump. A CSV has the names themselves. */
  async #lookUp(file: PanelFile, table: PanelTable): Promise<FoundNames> {
    const found = new Map<string, Map<string, string>>();
    if (!isDump(file.name)) return found;
    const { rules, tables } = this.options.map;
    for (const [field, lookup] of Object.entries(tables[table].lookups ?? {})) {
      const names = new Map<string, string>();
      for await (const { rows } of readTable({ file, table: lookup.table, rules })) {
        await this.options.rest();
        for (const { cells } of rows) names.set(cells[lookup.key] ?? "", cells[lookup.value] ?? "");
      }
      found.set(field, names);
    }
    return found;
  }

  #refuse(table: PanelTable, error: RowError): void {
    this.report[table].refused += 1;
    this.report.wrongCount += 1;
    if (this.report.wrong.length < WRONG_LISTED) this.report.wrong.push(error);
  }
}

function emptyTable(): TableReport {
  return { read: 0, new: 0, same: 0, refused: 0 };
}
