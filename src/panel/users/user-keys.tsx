// A reseller's API keys: creation, rotation, activation and deactivation. A key's text is shown once.

/** @jsxImportSource preact */

import { randomBytes } from "node:crypto";
import { KEY_NETWORKS } from "../../config/networks.ts";
import type { KeyRequests } from "../../db/users/key-requests.ts";
import { findKey, type ListedKey } from "../../db/users/keys.ts";
import {
  createsCredit,
  formatKey,
  hashKey,
  keyState,
  KEY_LABEL_LENGTH_LIMIT,
  KEY_RANDOM_BYTES,
  KEY_REACHES,
  KEY_TYPES,
  type KeyReach,
  keyTypeMay,
  shownStart,
  startOfKey,
} from "../../domain/users/keys.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { limitsText, type RechargeLimits } from "../../domain/ledger/recharges.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { UnsignedInput } from "../../operations/batch/commands.ts";
import type { Submission } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { Redirect, View } from "../../web/server/results.ts";
import { Box, Choice, Field, Fold, Form } from "../../web/components/fields.tsx";
import type { Form as Values } from "../../web/server/form.ts";
import { chosenGraceMs, Grace } from "../../web/components/grace.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, Time, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import { userPath } from "./shown-user.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

const LIFETIME_LIMIT_DAYS = 36_525;

export function Keys({
  keys,
  requestsOf,
  path,
  mayChange,
  mayCredit,
  now,
}: {
  keys: readonly ListedKey[];
  /** Requests of the last 30 UTC days, by key id. */
  requestsOf: (keyId: string) => KeyRequests;
  /** Path of the user. */
  path: string;
  mayChange: boolean;
  /** Also allows changes of keys that can create credit. */
  mayCredit: boolean;
  /** Milliseconds since 1970. */
  now: number;
}) {
  return (
    <>
      <h2 id="keys">Keys</h2>
      <List
        caption="Keys, oldest first"
        rows={keys}
        empty="No keys yet."
        columns={[
          { heading: "Key", cell: (key) => <code>{shownStart(key)}…</code> },
          { heading: "Label", cell: ({ label }) => <Typed text={label} /> },
          {
            heading: "Type",
            cell: (key) => (
              <>
                {key.type} {key.testOf !== null && <Badge state="test" />}
                {key.imported && <Badge state="imported: rotate" tone="bad" />}
                {createsCredit(key) && <Badge state="creates credit" tone="bad" />}
              </>
            ),
          },
          {
            heading: "May recharge",
            cell: (key) => <Recharges of={key} />,
          },
          { heading: "State", cell: (key) => <State of={key} now={now} /> },
          { heading: "Expires (UTC)", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          { heading: "Last used (UTC)", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          {
            heading: "Requests in 30 days",
            number: true,
            cell: ({ id }) => requestsOf(id).requests,
          },
          { heading: "Errors", number: true, cell: ({ id }) => requestsOf(id).errors },
          { heading: "Last address", cell: ({ lastAddress }) => lastAddress ?? "–" },
          { heading: "Allowed from", cell: ({ allow }) => allow || "anywhere" },
          ...(mayChange
            ? [
                {
                  heading: "Change",
                  cell: (key: ListedKey) => (
                    <Actions
                      of={key}
                      path={path}
                      mayChange={mayCredit || !createsCredit(key)}
                      now={now}
                    />
                  ),
                },
              ]
            : []),
        ]}
      />
      {mayChange && keys.some(({ active }) => active) && (
        <Form action={`${path}/keys/deactivate-all`}>
          <p class="actions">
            <button>Deactivate all keys</button>
          </p>
        </Form>
      )}
      {mayChange && (
        <Fold action={`${path}/keys`} summary="New key">
          <Form action={`${path}/keys`} submit="Create the key">
            <Choice
              name="type"
              label="Type"
              value="order"
              options={[
                ["order", "order: orders, balance and webhooks"],
                ["recharge", "recharge: recharges and look-up of users"],
                ["full", "full: everything"],
              ]}
            />
            <Choice
              name="reach"
              label="Reach"
              any="choose"
              hint="for recharge and full: the users that it may look up and recharge"
              options={[
                ["children", "its child users"],
                ["all", "all users: only for your own payment program"],
              ]}
            />
            <LimitFields />
            <Field name="label" label="Label" />
            <Field
              name="days"
              label="Days until it expires"
              inputmode="numeric"
              hint="empty: never"
            />
            <Field
              name="allow"
              label="Networks"
              hint="such as 10.0.0.0/8, 2001:db8::/32; empty: from anywhere"
            />
            <Box name="test" label="A test key: for test orders with test money" />
          </Form>
        </Fold>
      )}
    </>
  );
}

/** Shows whom the key may recharge, and its limits. */
function Recharges({ of: key }: { of: ListedKey }) {
  if (!keyTypeMay(key.type, "recharge")) return <>–</>;
  const { rechargeLimitMicros: each, rechargeDailyMicros: daily } = key;
  return (
    <>
      {key.reach === "all" ? "all users" : "its child users"}
      {each !== null && `, ${formatMicros(each)} USD at once`}
      {daily !== null && `, ${formatMicros(daily)} USD a day`}
    </>
  );
}

function LimitFields({ of: key }: { of?: ListedKey }) {
  const shown = (micros: number | null | undefined) =>
    micros === null || micros === undefined ? "" : formatMicros(micros);
  const common = { inputmode: "decimal", hint: "empty: no limit" } as const;
  return (
    <>
      <Field
        name="recharge-limit"
        label="Limit for one recharge, USD"
        value={shown(key?.rechargeLimitMicros)}
        {...common}
      />
      <Field
        name="recharge-daily"
        label="Limit for one day (UTC), USD"
        value={shown(key?.rechargeDailyMicros)}
        {...common}
      />
    </>
  );
}

function State({ of: key, now }: { of: ListedKey; now: number }) {
  return <Badge state={keyState(key, now)} />;
}

/** Actions on a key. An administrator who may not change a key may still deactivate it. */
function Actions({
  of: key,
  path,
  mayChange,
  now,
}: {
  of: ListedKey;
  path: string;
  mayChange: boolean;
  now: number;
}) {
  if (!mayChange && !key.active) return <>only by an owner</>;
  if (!mayChange) return <Switch of={key} path={path} />;
  return (
    <div class="inline">
      <Fold action={`${path}/keys/${key.id}/update`} summary="Change">
        <Form action={`${path}/keys/${key.id}/update`} submit="Save">
          <Field name="label" label="Label" value={key.label} />
          <Field
            name="days"
            label="Days from now until it expires"
            inputmode="numeric"
            hint="empty: unchanged"
          />
          <Box name="forever" label="Never expires" />
          <Field name="allow" label="Networks" hint="empty: from anywhere" value={key.allow} />
          {keyTypeMay(key.type, "recharge") && <LimitFields of={key} />}
        </Form>
      </Fold>
      {keyState(key, now) === "active" && (
        <Fold action={`${path}/keys/${key.id}/rotate`} summary="Rotate">
          <Form action={`${path}/keys/${key.id}/rotate`} submit="Rotate">
            <Grace label="The old key still works for" />
          </Form>
        </Fold>
      )}
      <Switch of={key} path={path} />
    </div>
  );
}

function Switch({ of: { id, active }, path }: { of: ListedKey; path: string }) {
  return (
    <Form action={`${path}/keys/${id}/${active ? "deactivate" : "activate"}`}>
      <button>{active ? "Deactivate" : "Activate"}</button>
    </Form>
  );
}

function newKey(isTest: boolean) {
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES), isTest);
  return { text, hash: hashKey(text), start: startOfKey(text) };
}

/**
 * Confirms a change of a key that can create credit. Only the owner may make, rotate, activate or change such keys,
 * after a proof.
 */
async function confirmCredit(
  submission: Submission,
  title: string,
  { reach, ...limits }: RechargeLimits & { reach: KeyReach },
) {
  submission.visitor.requireOwner("make, rotate, activate or change a key that can create credit");
  const whom = reach === "all" ? "any user" : "any of its reseller's child users";
  await submission.confirm({
    title,
    moves: [],
    danger: true,
    isSensitive: true,
    details: (
      <p>
        Whoever has this key can credit {whom}: {limitsText(limits)}. It is for your own payment
        program.
      </p>
    ),
  });
}

/** Makes an order key, the kind with the least power, and shows it once. */
export function createOrderKey(submission: Submission, username: string): Promise<View> {
  return issueKey(submission, {
    username,
    type: "order",
    reach: "all",
    rechargeLimitMicros: null,
    rechargeDailyMicros: null,
    label: "",
    allow: "",
    lifetimeMilliseconds: null,
    test: false,
  });
}

export async function createKey(submission: Submission): Promise<View> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const test = form.isChecked("test");
  const terms = termsOf(form);
  const days = form.optionalWhole("days", 1, LIFETIME_LIMIT_DAYS);
  const fields = {
    username,
    ...terms,
    ...descriptionOf(form),
    lifetimeMilliseconds: days === null ? null : days * DAY_MS,
    test,
  };
  if (!test && keyTypeMay(terms.type, "recharge")) {
    await confirmCredit(submission, `Make a ${terms.type} key of ${username}`, terms);
  }
  return issueKey(submission, fields);
}

/** Stores the hash of a new key, and shows its text once. */
async function issueKey(
  submission: Submission,
  fields: Omit<UnsignedInput<"createKey">, "hash" | "start">,
): Promise<View> {
  const { username, test = false } = fields;
  const { text, hash, start } = newKey(test);
  await submission.submit("createKey", { ...fields, hash, start });
  return shownOnce(text, `New ${test ? "test key" : "key"} of ${username}`, userPath(username));
}

/** Returns the terms of a new key. An order key cannot reach users; for any other key the form must say whom. */
function termsOf(form: Values) {
  const type = form.choice("type", KEY_TYPES);
  const reach = keyTypeMay(type, "recharge")
    ? form.choice("reach", KEY_REACHES)
    : (form.optionalChoice("reach", KEY_REACHES) ?? "all");
  return { type, reach, ...limitsOf(form) };
}

/** Returns the fields that the forms of new and of changed keys share. */
function descriptionOf(form: Values) {
  return {
    label: form.optionalText("label", KEY_LABEL_LENGTH_LIMIT) ?? "",
    allow: form.optional("allow", KEY_NETWORKS, "") ?? "",
  };
}

function limitsOf(form: Values): RechargeLimits {
  return {
    rechargeLimitMicros: form.optionalAmount("recharge-limit"),
    rechargeDailyMicros: form.optionalAmount("recharge-daily"),
  };
}

export async function rotateKey(submission: Submission): Promise<View> {
  const key = await keyOf(submission);
  const { id, testOf } = key;
  const { text, hash, start } = newKey(testOf !== null);
  const graceMilliseconds = chosenGraceMs(submission.form);
  await guard(submission, "Rotate", key);
  await submission.submit("rotateKey", { id, hash, start, graceMilliseconds });
  return shownOnce(text, "The new key", pathOf(submission));
}

export async function updateKey(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const before = await keyOf(submission);
  const { id } = before;
  const days = form.optionalWhole("days", 1, LIFETIME_LIMIT_DAYS);
  const isForever = form.isChecked("forever");
  if (isForever && days !== null)
    form.addError("days", "days must be empty if the key does not expire");
  const lifetimeMilliseconds = days === null ? null : days * DAY_MS;
  const changes = {
    ...descriptionOf(form),
    ...limitsOf(form),
    ...(isForever || days !== null ? { lifetimeMilliseconds } : {}),
  };
  await guard(submission, "Change", { ...before, ...limitsOf(form) });
  const key = await submission.submit("updateKey", { id, changes });
  return { to: `${pathOf(submission)}#keys`, note: `Key ${shownStart(key)}… was changed.` };
}

export async function deactivateAllKeys(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  await submission.confirm({
    title: `Deactivate all keys of ${username}`,
    moves: [],
    danger: true,
    details: <p>Every key of {username} will be refused, test keys too.</p>,
  });
  const { keys } = await submission.submit("deactivateKeys", { username });
  return {
    to: `${pathOf(submission)}#keys`,
    note: `${keys === 1 ? "1 key is" : `${keys} keys are`} refused from now on.`,
  };
}

export const activateKey = (submission: Submission, _panel: Panel) => setActive(submission, true);
export const deactivateKey = (submission: Submission, _panel: Panel) =>
  setActive(submission, false);

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const before = await keyOf(submission);
  if (active) await guard(submission, "Activate", before);
  const key = await submission.submit("setKeyActive", { id: before.id, active });
  const what = active ? "active again" : "refused from now on";
  return { to: `${pathOf(submission)}#keys`, note: `Key ${shownStart(key)}… is ${what}.` };
}

async function guard(submission: Submission, verb: string, key: ListedKey): Promise<void> {
  if (!createsCredit(key)) return;
  await confirmCredit(submission, `${verb} the ${key.type} key ${shownStart(key)}…`, key);
}

/** Returns a key of this user, also a test key. Throws key_not_found. */
async function keyOf(submission: Submission): Promise<ListedKey> {
  const { key: id = "", user = "" } = submission.params;
  const key = await submission.read((reader) => findKey(reader, id));
  if (!key || key.username.toLowerCase() !== user.toLowerCase()) throw refusal("key_not_found");
  return key;
}

function pathOf({ params }: Submission): string {
  return userPath(params["user"]!);
}
