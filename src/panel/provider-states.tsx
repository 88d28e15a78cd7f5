// A provider that gets no orders for now, or is removed.

/** @jsxImportSource preact */

import type { Provider } from "../db/providers.ts";
import type { Redirect, Submission } from "./call.ts";
import { Form } from "./fields.tsx";

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
              ? "none of its services is offered then, and nothing is synced; its orders go on"
              : "the services that were offered before are offered again"}
          </small>
        </p>
      </Form>
      <Form action={`${path}/delete`}>
        <p class="actions">
          <button class="danger">Delete</button>
          <small>only a provider that has no services and never had an order</small>
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

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const name = submission.params["provider"]!;
  const { services } = await submission.submit("setProviderActive", { name, active });
  const what = active ? "active. Services offered again" : "inactive. Services offered no more";
  return { to: `/providers/${name}`, note: `${name} is ${what}: ${services}.` };
}

export async function deleteProvider(submission: Submission): Promise<Redirect> {
  const name = submission.params["provider"]!;
  await submission.confirm({ title: `Delete ${name}`, moves: [], danger: true });
  await submission.submit("deleteProvider", { name });
  return { to: "/providers", note: `${name} was deleted.` };
}
