// Forms that pause, deactivate or remove a provider.

/** @jsxImportSource preact */

import type { Provider } from "../../db/providers/providers.ts";
import type { Submission } from "../server/call.ts";
import type { Redirect } from "../../web/server/results.ts";
import { Form } from "../../web/components/fields.tsx";

export function States({ provider, path }: { provider: Provider; path: string }) {
  const { active } = provider;
  return (
    <section class="card">
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
        Its services cannot be ordered from then on. Orders that were placed are sent and polled as
        before.
      </p>
    ),
  });
  return setActive(submission, false);
}

export function activateProvider(submission: Submission): Promise<Redirect> {
  return setActive(submission, true);
}

export function pauseProvider(submission: Submission): Promise<Redirect> {
  return setPaused(submission, true);
}

export function resumeProvider(submission: Submission): Promise<Redirect> {
  return setPaused(submission, false);
}

async function setPaused(submission: Submission, paused: boolean): Promise<Redirect> {
  const name = submission.params["provider"]!;
  await submission.submit("setProviderPaused", { name, paused });
  const note = paused ? "is paused: it gets no orders" : "gets orders again";
  return { to: `/providers/${name}`, note: `${name} ${note}.` };
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
