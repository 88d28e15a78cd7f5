// System: health, backups, failed sign-ins, versions, and the configuration with its sources.

/** @jsxImportSource preact */

import { listOpenAlerts } from "../../db/webhooks/alerts.ts";
import { PANEL_SIGN_INS } from "../../db/administrators/administrators.ts";
import { countDisabledWebhooks, oldestUndeliveredAt } from "../../db/webhooks/webhook-figures.ts";
import { DISABLED_REASONS, type DisabledReason } from "../../domain/webhooks/webhook-events.ts";
import { formatSize } from "../../domain/values/units.ts";
import type { Call, Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Form } from "../../web/components/fields.tsx";
import { Facts, List } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { HOUR_MS } from "../../domain/values/spans.ts";

const ATTEMPTS = 20;

export async function systemPage(call: Call, panel: Panel): Promise<View> {
  const { system } = panel;
  const { ready, checks } = await system.readiness();
  const { attempts, oldestAt, disabled, open } = await call.read((reader) => ({
    open: listOpenAlerts(reader).length,
    attempts: PANEL_SIGN_INS.listAttempts(reader, Number.MAX_SAFE_INTEGER, ATTEMPTS),
    oldestAt: oldestUndeliveredAt(reader),
    disabled: countDisabledWebhooks(reader),
  }));
  const isOwner = call.visitor.administrator.role === "owner";
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
        <Backups panel={panel} isOwner={isOwner} />
        <Webhooks oldestAt={oldestAt} disabled={disabled} />
        <h2>Alerts</h2>
        <p>
          {open === 0
            ? "No alert is open."
            : `${open === 1 ? "1 alert is" : `${open} alerts are`} open.`}{" "}
          <a href="/alerts">Open and past alerts, and where they are sent</a>
        </p>
        <h2>Failed sign-ins</h2>
        <List
          caption="Failed sign-ins, newest first"
          rows={attempts}
          empty="None."
          columns={[
            { heading: "When (UTC)", cell: ({ at }) => <Time at={at} /> },
            {
              heading: "Administrator",
              cell: ({ person }) => person ?? "unknown name",
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
            { heading: "Source", cell: ({ origin }) => <Typed text={origin} /> },
          ]}
        />
      </>
    ),
  };
}

const REASONS: Record<DisabledReason, string> = {
  owner: "Disabled by their owners",
  operator: "Disabled by operators",
  failures: "Disabled because they failed",
  gone: "Disabled because they answered 410 Gone",
};

function Webhooks({
  oldestAt,
  disabled,
}: {
  oldestAt: number | null;
  disabled: Record<DisabledReason, number>;
}) {
  return (
    <section id="webhooks" data-refresh>
      <h2>Webhooks</h2>
      <Facts
        facts={[
          ["Oldest event not delivered (UTC)", <Time at={oldestAt} />],
          ...DISABLED_REASONS.map((reason) => [REASONS[reason], disabled[reason]] as const),
        ]}
      />
      <p>
        <a href="/webhooks">All webhooks</a>
      </p>
    </section>
  );
}

function Backups({ panel, isOwner }: { panel: Panel; isOwner: boolean }) {
  const { system } = panel;
  if (system.backups === null) {
    return (
      <>
        <h2>Backups</h2>
        <p>PostgreSQL's own tools make the backups.</p>
      </>
    );
  }
  const { folder, isRunning, backups } = system.backups.status();
  const [newest] = backups;
  const hoursSince = (at: number) => {
    const hours = Math.floor((panel.now() - at) / HOUR_MS);
    return hours < 1 ? "less than an hour" : `${hours} h`;
  };
  const { newestRemoteAt } = panel.machine();
  return (
    <section id="backups" data-refresh>
      <h2>Backups</h2>
      <p>
        {newest ? `The newest is ${hoursSince(newest.begunAt)} old. ` : "There is none yet. "}
        {newest?.verified?.ok === false && <Badge state="failed verification" tone="bad" />}{" "}
        {newestRemoteAt && `The newest off-site copy is ${hoursSince(newestRemoteAt)} old. `}
        Backups are in <Typed text={folder} />
        {isRunning && "; one is being made"}. Verify recomputes every balance, charge and refund in
        a backup.{" "}
        {(isRunning || backups.some(({ verified }) => verified?.ok === null)) && (
          <a href="/system">Refresh</a>
        )}
      </p>
      {isOwner && <Form action="/system/backups" submit="Back up now" />}
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
                      state={
                        verified.ok === null ? "being verified" : verified.ok ? "ok" : "failed"
                      }
                      tone={verified.ok === null ? "busy" : verified.ok ? "good" : "bad"}
                    />{" "}
                    {verified.ok !== null && <Typed text={verified.detail} />}
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
    submission.form.addError("", "A backup is already being made");
    submission.form.check();
  }
  system.backups!.backUpNow();
  log.info({ administrator: submission.visitor.administrator.name }, "panel: backup asked for");
  return { to: "/system#backups", note: "A backup is being made." };
}

export function verifyBackup({ form }: Submission, { system }: Panel): Redirect {
  const name = form.text("backup");
  form.check();
  if (!system.backups?.verify(name)) {
    form.addError("backup", "The backup does not exist, or another one is being verified");
    form.check();
  }
  return { to: "/system#backups", note: `${name} is being verified.` };
}
