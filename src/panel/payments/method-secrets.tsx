// The secrets of a way to pay, which no page shows, and the address to which its provider sends notices.

/** @jsxImportSource preact */

import type { PaymentMethodRow } from "../../db/tables/payments.ts";
import {
  knownSettings,
  madeSecrets,
  settingMust,
  settingsOf,
} from "../../payments/method-settings.ts";
import type { MethodKind, MethodSetting } from "../../payments/method.ts";
import { kindOf } from "../../payments/methods.ts";
import { Box, Field, Form, ForUser } from "../../web/components/fields.tsx";
import { Facts } from "../../web/components/lists.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import { Time } from "../../web/components/shown.tsx";
import { PROOF } from "../../web/server/confirmation.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import { methodOf, methodPath } from "./shown-method.ts";

/** The secrets that the operator enters. Those that we make are for the other side. */
function enteredSecrets({ settings }: MethodKind): MethodSetting[] {
  return settings.filter(({ isSecret, make }) => isSecret && !make);
}

/** `provesAs`: the name of the visitor who must give a password again; null: nobody must. */
export function Secrets({
  method,
  provesAs,
}: {
  method: PaymentMethodRow;
  provesAs: string | null;
}) {
  const kind = kindOf(method);
  const entered = enteredSecrets(kind);
  const stored = settingsOf(method);
  const path = methodPath(method);
  return (
    <>
      {entered.length > 0 && (
        <section class="card">
          <Form action={`${path}/secrets`} submit="Store them">
            <h2>Secrets</h2>
            <p class="hint">They are never shown again.</p>
            {entered.map(({ name, description, form }) => (
              <Field
                name={name}
                label={wordsOf(name)}
                type="password"
                hint={`${form}: ${description}${stored[name] ? "; empty: keep the present one" : ""}`}
                required={!stored[name]}
              />
            ))}
            {kind.isReadable && <Box name="untested" label="Store them without a test" />}
            {provesAs !== null && <ForUser name={provesAs} />}
            {provesAs !== null && (
              <Field
                name={PROOF}
                label="Your password"
                hint="Required again, because the secrets decide which payments are believed."
                type="password"
                autocomplete="current-password"
                required
              />
            )}
          </Form>
        </section>
      )}
      {kind.settings.some(({ make }) => make) && (
        <section class="card">
          <h2>Secret</h2>
          <Form action={`${path}/rotate`}>
            <p>
              It was shown once. If it is lost, or someone else may have it, make another one.{" "}
              <button class="danger">New secret</button>
            </p>
          </Form>
        </section>
      )}
    </>
  );
}

function wordsOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Where the provider of the payments sends notices, and whether any has arrived. */
export function Notices({ method, url }: { method: PaymentMethodRow; url: string }) {
  const { kind, methodId, noticedAt } = method;
  const { events = [] } = kindOf(method);
  if (events.length === 0) return null;
  return (
    <section class="card">
      <h2>Notices</h2>
      <p>
        {kind === "stripe"
          ? "In Stripe, add a webhook endpoint with this address and these events:"
          : "The program reports what it received to this address, signed with the secret as Standard Webhooks describe:"}
      </p>
      {!url.startsWith("https:") && (
        <p class="hint">If others reach the API by another address, use that one.</p>
      )}
      <pre id="address">{`${url}/${kind}/${methodId}`}</pre>
      <p class="actions">
        <button type="button" data-copy="address" hidden>
          Copy the address
        </button>
      </p>
      {events.length > 1 && (
        <>
          <pre id="events">{events.join("\n")}</pre>
          <p class="actions">
            <button type="button" data-copy="events" hidden>
              Copy the events
            </button>
          </p>
        </>
      )}
      <Facts
        facts={[["First notice (UTC)", noticedAt === null ? "none yet" : <Time at={noticedAt} />]]}
      />
    </section>
  );
}

/** Stores secrets. They are in no page that asks for a confirmation, so the proof is in the same form. */
export async function storeSecrets(submission: Submission, panel: Panel): Promise<Redirect> {
  const { form, params } = submission;
  const method = await submission.read((reader) => methodOf(reader, params));
  const kind = kindOf(method);
  const stored = settingsOf(method);
  const given: Record<string, string> = {};
  for (const setting of enteredSecrets(kind)) {
    const value = form.raw(setting.name);
    if (value === "" && stored[setting.name]) continue;
    const must = settingMust(setting, value);
    if (must !== null) form.refuse(setting.name, must);
    given[setting.name] = value;
  }
  if (Object.keys(given).length === 0) form.addError("", "Enter the secret that changes");
  const settings = { ...stored, ...given };
  if (method.active && kind.isTest?.(settings) && !kind.isTest?.(stored)) {
    form.addError("", "Turn it off first: with a key of test mode, test cards get real credit");
  }
  form.check();
  await submission.requireProof();
  if (!form.isChecked("untested")) {
    const why = await panel.checkMethod({ kind: kind.kind, settings: JSON.stringify(settings) });
    if (why !== null) {
      const [first] = Object.keys(given);
      form.addError(first!, `The test failed: ${why}. Nothing was stored`);
    }
  }
  const { methodId } = method;
  const changes = { settings: JSON.stringify(given) };
  await submission.submit("updatePaymentMethod", { methodId, changes, known: knownSettings(kind) });
  return { to: methodPath(method), note: `The secrets of ${methodId} were stored.` };
}

/** Makes another secret, and shows it once. */
export async function rotateSecret(submission: Submission): Promise<View> {
  const method = await submission.read((reader) => methodOf(reader, submission.params));
  const { methodId } = method;
  const kind = kindOf(method);
  const made = madeSecrets(kind, {});
  const [secret] = Object.values(made);
  if (secret === undefined)
    submission.form.addError("", "This way to pay has no secret that is made here");
  submission.form.check();
  await submission.confirm({
    title: `Make a new secret of ${methodId}`,
    moves: [],
    danger: true,
    isSensitive: true,
    details: (
      <p>
        Notices signed with the old secret are refused from then on, until the program has the new
        one and sends them again.
      </p>
    ),
  });
  const changes = { settings: JSON.stringify(made) };
  await submission.submit("updatePaymentMethod", { methodId, changes, known: knownSettings(kind) });
  return shownOnce(secret!, `The new secret of ${methodId}`, methodPath(method));
}
