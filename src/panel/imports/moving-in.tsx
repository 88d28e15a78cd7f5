// Moving in: an owner uploads the tables of another panel, looks at a dry run, and starts the import.

/** @jsxImportSource preact */

import { findPanelImport } from "../../db/imports/imports.ts";
import { IMPORT_LEASE_MS } from "../../domain/imports/runs.ts";
import { counted } from "../../domain/values/text.ts";
import { formatSize } from "../../domain/values/units.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { FORMAT_NAMES, type FormatName } from "../../imports/panel/formats.ts";
import type { ImportReport } from "../../imports/panel/importer.ts";
import { PANEL_TABLES, type PanelTable } from "../../imports/panel/map.ts";
import { FileError } from "../../imports/records.ts";
import { Area, Box, Choice, FileField, Fold, Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Money, Typed } from "../../web/components/shown.tsx";
import type { FormBody } from "../../web/server/form-body.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { digestOf, type ImportProgress, type ImportRuns, type ImportState } from "./import-runs.ts";
import { More, SHOWN_LIMIT } from "./import-rows.tsx";
import { type Received, type UploadField, UploadError } from "./uploads.ts";

const PATH = "/moving-in";
/** The path of the upload, whose body is read while it arrives. */
export const UPLOAD_PATH = `${PATH}/files`;

const LABELS: Record<UploadField, string> = {
  dump: "Dump with all tables",
  users: "Users",
  services: "Services",
  orders: "Orders",
  keys: "Keys",
};

const FORMAT_LABELS: Record<FormatName, string> = {
  csv: "Our own: CSV files with the fields as headings",
  smartpanel: "SmartPanel: general_users, services, orders",
  clients: "A script with the table clients",
  users: "A script with the table users",
  perfectpanel: "PerfectPanel: CSV files with its headings",
};

const NOUNS: Record<PanelTable, string> = {
  users: "user",
  services: "service",
  orders: "order",
  keys: "key",
};

/** What uploads brought, by the fields of their forms. */
const RECEIVED = new WeakMap<URLSearchParams, Received | UploadError>();

export async function movingInPage(call: Call, { imports, now }: Panel): Promise<View> {
  const found = await call.read(findPanelImport);
  const { state, problem, isBusy } = imports;
  const left = (found?.runUntil ?? 0) - now();
  // Not for ever, should a clock have been wrong.
  const isElsewhere = !isBusy && left > 0 && left <= 2 * IMPORT_LEASE_MS;
  return {
    title: "Move in",
    body: (
      <>
        <h1>Move in</h1>
        <p>
          Import the users, services, keys and orders of another panel. Nothing is written before a
          dry run was shown and you confirmed it. A repeated import adds only what is missing.{" "}
          <a href="/imported">What was imported</a>
        </p>
        <div id="moving-in" data-refresh={isBusy || undefined}>
          {problem !== null && (
            <p class="notice bad">
              <Typed text={problem} />
            </p>
          )}
          {isElsewhere && (
            <p class="notice">
              An import is running by a command or at another server, or was interrupted less than
              30 seconds ago.
            </p>
          )}
          {"progress" in state ? (
            <Running {...state} />
          ) : (
            <>
              {state.name === "imported" && <Report report={state.report} isPlan={false} />}
              <Files imports={imports} />
              {imports.files.length > 0 && <DryRun imports={imports} />}
              {state.name === "planned" && <Plan report={state.report} />}
            </>
          )}
        </div>
      </>
    ),
  };
}

function Running({ name, progress }: Extract<ImportState, { progress: ImportProgress }>) {
  const { table, rows, of, isWriting } = progress;
  return (
    <>
      <h2>{name === "planning" ? "The dry run is running" : "The import is running"}</h2>
      <p>
        {name === "importing" && (isWriting ? "Writing. " : "Looking at all rows once more. ")}
        {table === null ? "It begins." : `${LABELS[table]}: ${rows} rows`}
        {of !== null && ` of ${of}`} <a href={PATH}>Refresh</a>
      </p>
      {name === "importing" && <p>Orders go on beside it. You may leave this page.</p>}
      <Form action={`${PATH}/discard`} submit="Stop and remove the files" danger />
    </>
  );
}

function Files({ imports }: { imports: ImportRuns }) {
  const { files, parts } = imports;
  return (
    <>
      <h2>Files</h2>
      <List
        caption="Uploaded files"
        rows={files}
        empty="No files yet: one MySQL dump, or a CSV file for each table."
        columns={[
          { heading: "File", cell: ({ field }) => LABELS[field] },
          { heading: "Size", number: true, cell: ({ bytes }) => roundedSize(bytes) },
        ]}
      />
      {files.length > 0 && (
        <Form action={`${PATH}/discard`}>
          <p class="actions">
            <button class="danger">Remove the files</button>
          </p>
        </Form>
      )}
      {files.length === 0 ? (
        <UploadForm limitBytes={parts.limitBytes} />
      ) : (
        <Fold action={UPLOAD_PATH} summary="Upload further files, or others in their place">
          <UploadForm limitBytes={parts.limitBytes} />
        </Fold>
      )}
    </>
  );
}

function UploadForm({ limitBytes }: { limitBytes: number }) {
  return (
    <Form action={UPLOAD_PATH} submit="Upload" hasFiles>
      <p>
        {`At most ${formatSize(limitBytes)} together. They hold keys: this server keeps them unreadable for others, and removes them after the import, after two hours, and when it ends.`}
      </p>
      <FileField name="dump" label={LABELS.dump} accept=".sql" />
      {PANEL_TABLES.map((table) => (
        <FileField name={table} label={LABELS[table]} accept=".csv,.sql" />
      ))}
      <FileField name="map" label="Mapping file" accept=".toml" />
    </Form>
  );
}

/** Returns a size in whole KiB. */
function roundedSize(bytes: number): string {
  return formatSize(Math.ceil(bytes / 1024) * 1024);
}

function DryRun({ imports }: { imports: ImportRuns }) {
  return (
    <Form action={`${PATH}/plan`} submit="Dry run">
      <h2>Dry run</h2>
      <Choice
        name="format"
        label="Whose tables these are"
        options={FORMAT_NAMES.map((name) => [name, FORMAT_LABELS[name]])}
        value={imports.format}
      />
      <Area
        name="mapping"
        label="Mapping"
        hint="TOML that changes the format: providers, columns, values, rules"
        value={imports.mapping}
        rows={10}
      />
    </Form>
  );
}

function Plan({ report }: { report: ImportReport }) {
  const isRefused = report.wrongCount > 0;
  const isNothing = countNew(report) === 0;
  return (
    <>
      <Report report={report} isPlan />
      {isNothing ? (
        <p class="empty">There is nothing new to import.</p>
      ) : (
        <Form action={`${PATH}/start`} submit="Import">
          <h2>Import</h2>
          {isRefused && (
            <Box
              name="skip"
              label={`Leave out ${counted(report.wrongCount, "refused row")}, and import the others`}
            />
          )}
        </Form>
      )}
    </>
  );
}

function Report({ report, isPlan }: { report: ImportReport; isPlan: boolean }) {
  const { wrong, wrongCount, notes } = report;
  const rows = PANEL_TABLES.map((table) => ({ table, ...report[table] })).filter(
    ({ read }) => read > 0,
  );
  return (
    <>
      <h2>{isPlan ? "What would be imported" : "What was imported"}</h2>
      <Facts
        facts={[
          ["Opening balances, USD", <Money micros={report.balanceMicros} />],
          ["Charges of open orders, USD", <Money micros={report.openChargesMicros} />],
          ["Past orders", report.pastOrders],
          ["Open orders at providers", report.openAtProviders],
          ["Open orders by hand", report.openByHand],
          ["Users without a key", report.withoutKey],
        ]}
      />
      <List
        caption="Rows of each table"
        rows={rows}
        empty="The files have no rows."
        columns={[
          { heading: "Table", cell: ({ table }) => LABELS[table] },
          { heading: "Rows", number: true, cell: ({ read }) => read },
          { heading: isPlan ? "New" : "Imported", number: true, cell: (row) => row.new },
          { heading: "Here before", number: true, cell: ({ same }) => same },
          { heading: "Refused", number: true, cell: ({ refused }) => refused },
        ]}
      />
      {wrongCount > 0 && (
        <>
          <h2>Refused rows</h2>
          <List
            caption="Refused rows"
            rows={wrong.slice(0, SHOWN_LIMIT)}
            empty=""
            columns={[
              { heading: "Row", cell: ({ place }) => <Typed text={place} /> },
              { heading: "Problem", cell: ({ problem }) => <Typed text={problem} /> },
            ]}
          />
          <More count={wrongCount} />
        </>
      )}
      {notes.length > 0 && (
        <>
          <h2>Notes</h2>
          <ul>
            {notes.slice(0, SHOWN_LIMIT).map((note) => (
              <li>
                <Typed text={note} />
              </li>
            ))}
          </ul>
          <More count={notes.length} />
        </>
      )}
    </>
  );
}

function countNew(report: ImportReport): number {
  return PANEL_TABLES.reduce((sum, table) => sum + report[table].new, 0);
}

/** Reads the form with the files. Its action gets what they were. */
export async function receiveFiles(
  request: IncomingRequest,
  { imports }: Panel,
): Promise<FormBody> {
  const values = new URLSearchParams();
  try {
    RECEIVED.set(values, await imports.receive(request));
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    RECEIVED.set(values, error);
  }
  return { values, files: new Map() };
}

export async function keepFiles(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form } = submission;
  const { imports, log } = panel;
  const received = RECEIVED.get(form.values)!;
  if (received instanceof UploadError) form.addError("", received.message);
  else if (received.uploads.size === 0 && received.mapping === null)
    form.addError("", "Choose a file");
  else if (imports.isBusy) {
    await imports.drop(received);
    form.addError("", BUSY);
  }
  form.check();
  const { uploads, mapping } = received as Received;
  await imports.keep({ uploads, mapping });
  const files = [...uploads.keys()];
  log.info({ administrator: submission.visitor.name, files }, "moving in: files uploaded");
  return { to: PATH, note: `${counted(files.length, "file")} uploaded.` };
}

const BUSY = "A dry run or an import is running: wait until it has ended, or stop it";

export function planImport(submission: Submission, { imports }: Panel): Redirect {
  const { form } = submission;
  const format = form.choice("format", FORMAT_NAMES);
  if (imports.isBusy) form.addError("", BUSY);
  else if (imports.files.length === 0) form.addError("", "Upload the files first");
  form.check();
  try {
    imports.plan(format, form.raw("mapping"));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    form.addError("mapping", error.message);
    form.check();
  }
  return { to: PATH, note: "The dry run is running.", tone: "busy" };
}

export async function startImport(
  submission: Submission,
  { imports, log }: Panel,
): Promise<Redirect> {
  const { form } = submission;
  const { state } = imports;
  if (imports.isBusy) form.addError("", BUSY);
  else if (state.name !== "planned") form.addError("", "Make a dry run first");
  form.check();
  const { report } = state as Extract<ImportState, { name: "planned" }>;
  const skips = form.isChecked("skip");
  if (report.wrongCount > 0 && !skips) {
    form.addError("skip", "Some rows are refused: correct or map them, or leave them out");
  }
  form.check();
  const rows = PANEL_TABLES.filter((table) => report[table].new > 0).map((table) =>
    counted(report[table].new, NOUNS[table]),
  );
  await submission.confirm({
    title: `Import ${rows.join(", ")}`,
    moves: [
      { account: `balances of ${counted(report.users.new, "user")}`, micros: report.balanceMicros },
      { account: "charges of open orders", micros: report.openChargesMicros },
    ].filter(({ micros }) => micros > 0n),
    plan: { digest: digestOf(report), skips },
  });
  // Another owner may have pressed the button meanwhile.
  if (imports.state !== state) form.addError("", BUSY);
  form.check();
  imports.start(skips, submission.visitor.actor());
  log.info({ administrator: submission.visitor.name }, "moving in: import started");
  return { to: PATH, note: "The import is running.", tone: "busy" };
}

export async function discardImport(
  submission: Submission,
  { imports, log }: Panel,
): Promise<Redirect> {
  await imports.discard();
  log.info({ administrator: submission.visitor.name }, "moving in: files removed");
  return { to: PATH, note: "The files were removed." };
}
