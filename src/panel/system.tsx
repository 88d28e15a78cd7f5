// System: health, backups, failed sign-ins, versions, and the configuration with its sources.

/** @jsxImportSource preact */

import { listSignInAttempts } from "../db/sign-ins.ts";
import { listFailingWebhooks } from "../db/webhook-figures.ts";
import { formatSize } from "../domain/units.ts";
import type { Call, Panel, Redirect, Submission, View } from "./call.ts";
import { Form } from "./fields.tsx";
import { Facts, List } from "./lists.tsx";
import { Badge, Time, Typed } from "./shown.tsx";
import { Webhooks } from "./webhooks.tsx";

/** What the page shows of the server; the server brings it. */
export interface SystemFacts {
  versions: Readonly<Record<string, string>>;
  /** The database's path or address, without a password. */
  database: string;
  /** Secrets are masked. */
  configuration: readonly { name: string; value: string; origin: string }[];
  readiness(): Promise<{
    ready: boolean;
    checks: Record<string, { ok: boolean; detail?: string }>;
  }>;
  /** Servers of the database that are alive. */
  servers(): number;
  /** Null: the database makes its own. */
  backups: BackupFacts | null;
}

export interface BackupFacts {
  status(): {
    folder: string;
    isRunning: boolean;
    backups: readonly {
      name: string;
      begunAt: number;
      bytes: number;
      verified: { at: number; ok: boolean | null; detail: string } | null;
    }[];
  };
  backUpNow(): void;
  verify(name: string): boolean;
}

const ATTEMPTS = 20;
const WEBHOOKS = 50;
const HOUR_MS = 3_600_000;

export async function systemPage(call: Call, panel: Panel): Promise<View> {
  const { system } = panel;
  const { ready, checks } = await system.readiness();
  const { attempts, failing } = await call.read((reader) => ({
    attempts: listSignInAttempts(reader, Number.MAX_SAFE_INTEGER, ATTEMPTS),
    failing: listFailingWebhooks(reader, WEBHOOKS),
  }));
  const isOwner = call.administrator.role === "owner";
  return {
    title: "System",
    body: (
      <>
        <h1>System</h1>
        <section id="health" data-refresh>
          <h2>Health</h2>
          <p class={`notice ${ready ? "good" : "bad"}`}>
            {ready ? "Ready: orders are taken." : "Not ready."}
          </p>
          <List
            caption="Checks"
            rows={Object.entries(checks)}
            empty="No checks."
            columns={[
              { heading: "Check", cell: ([name]) => name },
              {
                heading: "State",
                cell: ([, { ok }]) => (
                  <Badge state={ok ? "ok" : "failed"} tone={ok ? "good" : "bad"} />
                ),
              },
              { heading: "Detail", cell: ([, { detail }]) => <Typed text={detail} /> },
            ]}
          />
        </section>
        <Backups system={system} now={panel.now()} isOwner={isOwner} />
        <h2 id="webhooks">Failing webhooks</h2>
        <Webhooks caption="Failing webhooks" webhooks={failing} />
        <h2>Failed sign-ins</h2>
        <List
          caption="Failed sign-ins, newest first"
          rows={attempts}
          empty="None."
          columns={[
            { heading: "When (UTC)", cell: ({ at }) => <Time at={at} /> },
            {
              heading: "Administrator",
              cell: ({ administrator }) => administrator ?? "nobody's name",
            },
            { heading: "Address", cell: ({ address }) => address },
            { heading: "Browser", cell: ({ userAgent }) => <Typed text={userAgent} /> },
          ]}
        />
        <h2>Versions</h2>
        <Facts
          facts={[
            ...Object.entries(system.versions),
            ["database", <Typed text={system.database} />],
            ["servers", system.servers()],
          ]}
        />
        <h2>Configuration</h2>
        <List
          caption="Settings"
          rows={system.configuration}
          empty="Not known."
          columns={[
            { heading: "Setting", cell: ({ name }) => <code>{name}</code> },
            { heading: "Value", cell: ({ value }) => <Typed text={value} /> },
            { heading: "Comes from", cell: ({ origin }) => <Typed text={origin} /> },
          ]}
        />
      </>
    ),
  };
}

function Backups({ system, now, isOwner }: { system: SystemFacts; now: number; isOwner: boolean }) {
  if (system.backups === null) {
    return (
      <>
        <h2>Backups</h2>
        <p>PostgreSQL's own tools make them.</p>
      </>
    );
  }
  const { folder, isRunning, backups } = system.backups.status();
  const [newest] = backups;
  const age = newest && Math.max(0, Math.floor((now - newest.begunAt) / HOUR_MS));
  return (
    <section id="backups" data-refresh>
      <h2>Backups</h2>
      <p>
        {newest ? `The newest is ${age} h old. ` : "There is none yet. "}
        They are in <Typed text={folder} />
        {isRunning && "; one is being made"}.
      </p>
      {isOwner && <Form action="/system/backups" submit="Make one now" />}
      <List
        caption="Backups, newest first"
        rows={backups}
        empty="No backups."
        columns={[
          { heading: "File", cell: ({ name }) => <code>{name}</code> },
          { heading: "Begun (UTC)", cell: ({ begunAt }) => <Time at={begunAt} /> },
          { heading: "Size", number: true, cell: ({ bytes }) => formatSize(bytes) },
          {
            heading: "Verified",
            cell: ({ name, verified }) => (
              <>
                {verified && (
                  <>
                    <Badge
                      state={verified.ok === null ? "running" : verified.ok ? "ok" : "failed"}
                      tone={verified.ok === null ? "busy" : verified.ok ? "good" : "bad"}
                    />{" "}
                    <Typed text={verified.detail} />
                  </>
                )}
                {isOwner && verified?.ok !== null && (
                  <Form action="/system/backups/verify" hidden={{ backup: name }}>
                    <button>
                      Verify<span class="hidden"> {name}</span>
                    </button>
                  </Form>
                )}
              </>
            ),
          },
        ]}
      />
    </section>
  );
}

export function makeBackup(submission: Submission, { system, log }: Panel): Redirect {
  if (system.backups === null || system.backups.status().isRunning) {
    submission.form.note("", "One is being made already");
    submission.form.check();
  }
  system.backups!.backUpNow();
  log.info({ administrator: submission.administrator.name }, "panel: backup asked for");
  return { to: "/system#backups", note: "A backup is being made." };
}

export function verifyBackup({ form }: Submission, { system }: Panel): Redirect {
  const name = form.text("backup");
  form.check();
  if (!system.backups?.verify(name)) {
    form.note("backup", "There is no such backup, or one is being verified already");
    form.check();
  }
  return { to: "/system#backups", note: `${name} is being verified.` };
}
