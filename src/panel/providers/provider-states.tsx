// Forms that pause, deactivate or remove a provider.

/** @jsxImportSource preact */

import { PAUSE_FOR } from "../../domain/values/kinds.ts";
import { formatDuration } from "../../domain/values/units.ts";
import type { Provider } from "../../db/providers/providers.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Field, Form } from "../../web/components/fields.tsx";

/** Name of the hidden field of forms in the list of providers, to which they lead back. */
export const OF_LIST = "list";

export function States({ provider, path }: { provider: Provider; path: string }) {
  const { active } = provider;
  return (
    <section class="card" id="state">
      <h2>State</h2>
      <Form action={`${path}/${active ? "deactivate" : "activate"}`}>
        <p class="actions">
          <button>{active ? "Deactivate" : "Activate"}</button>
          <small>
            {active
              ? "its services are neither offered nor synced; its orders continue"
              : "the services that were offered before are offered again"}
          </small>
        </p>
      </Form>
      <Form action={`${path}/${provider.pausedAt === null ? "pause" : "resume"}`}>
        {provider.pausedAt === null && (
          <Field name="for" label="Pause for" hint="such as 2h; empty: until it is resumed" />
        )}
        <p class="actions">
          <button>{provider.pausedAt === null ? "Pause" : "Resume"}</button>
          <small>
            {provider.pausedAt === null
              ? "it gets no orders; queued orders go to their next route, or wait"
              : "it gets orders again"}
          </small>
        </p>
      </Form>
      <Form action={`${path}/delete`}>
        <p class="actions">
          <button class="danger">Delete</button>
          <small>only for a provider that has no services and never had an order</small>
        </p>
      </Form>
    </section>
  );
}

export async function deactivateProvider(submission: Submission): Promise<Redirect> {
  const name = submission.params["provider"]!;
  await submission.confirm({
    title: `Deactivate ${name}`,
    moves: [],
    danger: true,
    details: (
      <p>
        Its services can no longer be ordered. Orders that were placed are sent and polled as
        before.
      </p>
    ),
  });
  return setActive(submission, false);
}

export function activateProvider(submission: Submission): Promise<Redirect> {
  return setActive(submission, true);
}

export async function pauseProvider(submission: Submission): Promise<Redirect> {
  const name = submission.params["provider"]!;
  const forMs = submission.form.optional("for", PAUSE_FOR, 0);
  await submission.submit("setProviderPaused", { name, paused: true, forMs });
  const time = forMs === null ? "" : ` for ${formatDuration(forMs)}`;
  return { to: backTo(submission), note: `${name} is paused${time}: it gets no orders.` };
}

export async function resumeProvider(submission: Submission): Promise<Redirect> {
  const name = submission.params["provider"]!;
  await submission.submit("setProviderPaused", { name, paused: false });
  return { to: backTo(submission), note: `${name} gets orders again.` };
}

function backTo({ form, params }: Submission): string {
  return form.isChecked(OF_LIST) ? "/providers" : `/providers/${params["provider"]!}`;
}

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const name = submission.params["provider"]!;
  const { services } = await submission.submit("setProviderActive", { name, active });
  const what = active ? "active. Services offered again" : "inactive. Services no longer offered";
  return { to: `/providers/${name}`, note: `${name} is ${what}: ${services}.` };
}

export async function deleteProvider(submission: Submission): Promise<Redirect> {
  const name = submission.params["provider"]!;
  await submission.confirm({ title: `Delete ${name}`, moves: [], danger: true });
  await submission.submit("deleteProvider", { name });
  return { to: "/providers", note: `${name} was deleted.` };
}
