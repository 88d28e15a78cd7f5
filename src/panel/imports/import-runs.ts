// The import of another panel that an owner prepares and starts in the panel: its files, its dry run, and the import
// itself, which runs in this server beside its requests. One for all owners. docs/specification/imports.md#moving-in.

import type { ReadStore } from "../../db/port/port.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { type FormatName, FORMATS } from "../../imports/panel/formats.ts";
import { halfTime } from "../../imports/panel/half-time.ts";
import {
  importPanel,
  type ImportReport,
  type ImportTarget,
  type PanelFiles,
  RefusedRows,
} from "../../imports/panel/importer.ts";
import {
  combineMaps,
  PANEL_TABLES,
  type PanelMap,
  type PanelTable,
  readMap,
} from "../../imports/panel/map.ts";
import { FileError } from "../../imports/records.ts";
import type { Logger } from "../../monitoring/log.ts";
import type {
  CommandInput,
  SubmittableName,
  UnsignedInput,
} from "../../operations/batch/commands.ts";
import { createImportTarget } from "../../operations/imports/target.ts";
import { shownRefusal } from "../../web/server/refusals.ts";
import type { Writer } from "../../writer/writer.ts";
import {
  closeUploads,
  type Received,
  receiveUploads,
  type UploadField,
  type UploadLimits,
  type Uploads,
} from "./uploads.ts";

/** Time after which unused files are removed. */
const KEPT_MS = 2 * 60 * 60_000;
/** Tries of a write while the database accepts none, one a second. */
const TRIES = 60;
const TRY_AGAIN_MS = 1000;

/** What PostgreSQL says if the grants of an upgrade were not repeated. */
const MISSING_RIGHT = "permission denied for function reserve_numbers";

export interface ImportParts extends UploadLimits {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  onInternalError(error: unknown): void;
}

/** What is done with the files. */
export type ImportState =
  | { name: "files" }
  | { name: "planning" | "importing"; progress: ImportProgress }
  | { name: "planned"; report: ImportReport }
  | { name: "imported"; report: ImportReport };

export interface ImportProgress {
  /** Null: it begins. */
  table: PanelTable | null;
  rows: number;
  /** Rows of the table by the dry run; null: not known yet. */
  of: number | null;
  /** False while the rows are only looked at. */
  isWriting: boolean;
}

/** Thrown to stop an import. */
class Stopped extends Error {}
/** Thrown when the import would do other things than the dry run that was confirmed. */
class PlanChanged extends Error {
  constructor(readonly report: ImportReport) {
    super("the plan has changed");
  }
}

export class ImportRuns {
  #uploads: Uploads = new Map();
  #state: ImportState = { name: "files" };
  /** Why the last dry run or import failed; null: it did not. */
  #problem: string | null = null;
  #format: FormatName = "csv";
  #mapping = "";
  #isStopping = false;
  /** The dry run or import that is running. */
  #running: Promise<void> | null = null;
  #removal: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly parts: ImportParts) {}

  get state(): ImportState {
    return this.#state;
  }

  get problem(): string | null {
    return this.#problem;
  }

  get format(): FormatName {
    return this.#format;
  }

  get mapping(): string {
    return this.#mapping;
  }

  get files(): { field: UploadField; bytes: number }[] {
    return [...this.#uploads].map(([field, { bytes }]) => ({ field, bytes }));
  }

  get isBusy(): boolean {
    return this.#running !== null;
  }

  /** Takes the files of a form while they arrive. Throws UploadError, Unreadable. */
  receive(request: IncomingRequest): Promise<Received> {
    return receiveUploads(request, this.parts);
  }

  /** Adds received files to those that are here, in place of those for the same tables. */
  async keep({ uploads, mapping }: Received): Promise<void> {
    const all = new Map([...this.#uploads, ...uploads]);
    const replaced = new Map([...this.#uploads].filter(([field]) => uploads.has(field)));
    this.#uploads = all;
    if (mapping !== null) this.#mapping = mapping;
    this.#state = { name: "files" };
    this.#problem = null;
    this.#removeLater();
    await closeUploads(replaced);
  }

  /** Removes received files that are not kept. */
  drop({ uploads }: Received): Promise<void> {
    return closeUploads(uploads);
  }

  /** Begins a dry run. Throws FileError for a mapping that cannot be read. */
  plan(format: FormatName, mapping: string): void {
    [this.#format, this.#mapping] = [format, mapping];
    this.#map();
    this.#run("planning", async () => {
      const report = await this.#import(true, false, async () => {});
      this.#state = { name: "planned", report };
    });
  }

  /** Begins the import that a dry run has shown. It plans again, and writes only if it would do the same. */
  start(skipRefused: boolean, actor: Actor): void {
    if (this.#state.name !== "planned") throw new Error("no dry run was made");
    const { report: planned } = this.#state;
    this.#run("importing", async () => {
      const confirm = async (report: ImportReport) => {
        if (digestOf(report) !== digestOf(planned)) throw new PlanChanged(report);
      };
      const report = await this.#import(false, skipRefused, confirm, actor, planned);
      this.#state = { name: "imported", report };
      await this.#close();
    });
  }

  /** Stops what is running, and removes the files. */
  async discard(): Promise<void> {
    await this.stop();
    this.#isStopping = false;
    this.#state = { name: "files" };
    this.#mapping = "";
  }

  /** Ends with the server: nothing runs any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    await this.#close();
  }

  async #close(): Promise<void> {
    clearTimeout(this.#removal);
    const uploads = this.#uploads;
    this.#uploads = new Map();
    await closeUploads(uploads);
  }

  #removeLater(): void {
    clearTimeout(this.#removal);
    this.#removal = setTimeout(() => {
      if (this.isBusy) return this.#removeLater();
      this.parts.log.info({}, "moving in: unused files were removed");
      void this.discard();
    }, KEPT_MS);
    this.#removal.unref();
  }

  #map(): PanelMap {
    return combineMaps(FORMATS[this.#format], readMap("The mapping", this.#mapping));
  }

  #run(name: "planning" | "importing", work: () => Promise<void>): void {
    if (this.#running) throw new Error("an import is running");
    this.#problem = null;
    this.#state = { name, progress: { table: null, rows: 0, of: null, isWriting: false } };
    this.#running = work()
      .catch((error) => this.#noteFailure(error))
      .finally(() => {
        this.#running = null;
        if (this.#uploads.size > 0) this.#removeLater();
      });
  }

  #noteFailure(error: unknown): void {
    const wasImporting = this.#state.name === "importing";
    const isPlan = error instanceof PlanChanged || error instanceof RefusedRows;
    this.#state = isPlan ? { name: "planned", report: error.report } : { name: "files" };
    this.#problem = this.#problemOf(error, wasImporting);
  }

  #problemOf(error: unknown, wasImporting: boolean): string {
    const again = wasImporting ? " Start the same import again: it adds only what is missing." : "";
    if (error instanceof Stopped) return `It was stopped.${again}`;
    if (error instanceof FileError) return error.message;
    if (error instanceof PlanChanged || error instanceof RefusedRows) {
      return "Something changed since the dry run, so nothing was imported. Look at what would happen now.";
    }
    if (error instanceof Refusal) return `${shownRefusal(error, new Set()).message}.${again}`;
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.parts.log.error({ error: cause }, "moving in: internal error");
    if (cause.includes(MISSING_RIGHT)) {
      return "The role of the server lacks a right, so nothing was imported: as the owner of the tables, apply postgres-role.sql again.";
    }
    this.parts.onInternalError(error);
    return `An internal error stopped it; the log has the cause.${again}`;
  }

  async #import(
    dryRun: boolean,
    skipRefused: boolean,
    confirm: (plan: ImportReport) => Promise<void>,
    actor: Actor | null = null,
    planned: ImportReport | null = null,
  ): Promise<ImportReport> {
    const files: PanelFiles = {};
    for (const table of PANEL_TABLES) {
      const file = this.#uploads.get(table) ?? this.#uploads.get("dump");
      if (file) files[table] = file;
    }
    const state = this.#state;
    return importPanel(this.#target(actor), {
      files,
      map: this.#map(),
      dryRun,
      skipRefused,
      confirm,
      isShared: true,
      rest: this.#resting(),
      progress(table, rows, isWriting) {
        if (!("progress" in state)) return;
        state.progress = { table, rows, of: planned?.[table].read ?? null, isWriting };
      },
    });
  }

  /** Returns `rest`, which also stops the import. */
  #resting(): () => Promise<void> {
    const rest = halfTime();
    return async () => {
      if (this.#isStopping) throw new Stopped();
      await rest();
    };
  }

  #target(actor: Actor | null): ImportTarget {
    const { store, writer } = this.parts;
    const submit = async <Name extends SubmittableName>(name: Name, input: UnsignedInput<Name>) => {
      const signed = { ...input, actor } as unknown as CommandInput<Name>;
      for (let tries = 1; ; tries += 1) {
        try {
          return await writer.submit(name, signed);
        } catch (error) {
          const isBusy = error instanceof Refusal && error.code === "service_unavailable";
          if (!isBusy || tries === TRIES || this.#isStopping) throw error;
          await Bun.sleep(TRY_AGAIN_MS);
        }
      }
    };
    return createImportTarget((body) => store.read(body), submit);
  }
}

/** Returns a text that differs for imports that do not do the same. */
export function digestOf(report: ImportReport): string {
  const { notes, wrong, ...counts } = report;
  const rows = wrong.map(({ message }) => message);
  const text = JSON.stringify({ ...counts, notes, rows }, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
