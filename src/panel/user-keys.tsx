// A reseller's API keys: made, rotated, activated and deactivated. A key's text is shown once.

/** @jsxImportSource preact */

import { randomBytes } from "node:crypto";
import { formatNetwork, parseNetwork } from "../config/networks.ts";
import { findKey, type ListedKey } from "../db/keys.ts";
import {
  formatKey,
  hashKey,
  keyState,
  KEY_LABEL_LENGTH_LIMIT,
  KEY_NETWORKS_LIMIT,
  KEY_RANDOM_BYTES,
  KEY_SCOPES,
  KEY_TYPES,
  shownStart,
  startOfKey,
} from "../domain/keys.ts";
import { refusal } from "../domain/refusals.ts";
import type { Panel, Redirect, Submission, View } from "./call.ts";
import { Box, Choice, Field, Fold, Form } from "./fields.tsx";
import type { Form as Values } from "./form.ts";
import { List } from "./lists.tsx";
import { Badge, Time, Typed } from "./shown.tsx";

const DAY_MS = 86_400_000;
const LIFETIME_LIMIT_DAYS = 36_525;
const GRACE_HOURS = ["0", "1", "24", "168"] as const;

export function Keys({
  keys,
  path,
  mayChange,
}: {
  keys: readonly ListedKey[];
  /** Of the user. */
  path: string;
  mayChange: boolean;
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
            cell: ({ type, testOf }) =>
              testOf === null ? (
                type
              ) : (
                <>
                  {type} <Badge state="test" />
                </>
              ),
          },
          {
            heading: "Reach",
            cell: ({ reach }) => (reach === "all" ? "all users" : "its child users"),
          },
          { heading: "State", cell: (key) => <State of={key} /> },
          { heading: "Expires (UTC)", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
          { heading: "Last used (UTC)", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          { heading: "Last from", cell: ({ lastAddress }) => lastAddress ?? "–" },
          { heading: "Allowed from", cell: ({ allow }) => allow || "anywhere" },
          ...(mayChange
            ? [{ heading: "Change", cell: (key: ListedKey) => <Actions of={key} path={path} /> }]
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
          <Form action={`${path}/keys`} submit="Make the key">
            <Choice
              name="type"
              label="Type"
              value="full"
              options={[
                ["full", "full: orders, recharges, look-up of users"],
                ["order", "order: orders alone"],
                ["recharge", "recharge: recharges and look-up of users"],
              ]}
            />
            <Choice
              name="reach"
              label="Reach"
              value="all"
              hint="whom it may look up and recharge"
              options={[
                ["all", "all users"],
                ["children", "its child users"],
              ]}
            />
            <Field name="label" label="Label" />
            <Field
              name="days"
              label="Days until it expires"
              inputmode="numeric"
              hint="empty: it does not"
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

function State({ of: key }: { of: ListedKey }) {
  return <Badge state={keyState(key, Date.now())} />;
}

function Actions({ of: key, path }: { of: ListedKey; path: string }) {
  return (
    <div class="inline">
      <Fold action={`${path}/keys/${key.id}/update`} summary="Change">
        <Form action={`${path}/keys/${key.id}/update`} submit="Save">
          <Field name="label" label="Label" value={key.label} />
          <Field
            name="days"
            label="Days from now until it expires"
            inputmode="numeric"
            hint="empty: as it is"
          />
          <Box name="forever" label="It does not expire" />
          <Field name="allow" label="Networks" hint="empty: from anywhere" value={key.allow} />
        </Form>
      </Fold>
      {keyState(key, Date.now()) === "active" && (
        <Fold action={`${path}/keys/${key.id}/rotate`} summary="Rotate">
          <Form action={`${path}/keys/${key.id}/rotate`} submit="Rotate">
            <Choice
              name="grace"
              label="The old one still works for"
              value="24"
              options={[
                ["0", "no longer"],
                ["1", "an hour"],
                ["24", "a day"],
                ["168", "a week"],
              ]}
            />
          </Form>
        </Fold>
      )}
      <Form action={`${path}/keys/${key.id}/${key.active ? "deactivate" : "activate"}`}>
        <button>{key.active ? "Deactivate" : "Activate"}</button>
      </Form>
    </div>
  );
}

/**
 * The text of a new key, which is nowhere else: the database has its hash. Or a secret, which no page shows. `path`: where
 * it leads. Not a fragment of the form's own path: with one, a browser would stay on what it shows.
 */
export function shownOnce(text: string, title: string, path: string): View {
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        <p class="notice busy">This is shown once: copy it now. It cannot be looked up later.</p>
        <pre id="key">{text}</pre>
        <p class="actions">
          <button type="button" data-copy="key" hidden>
            Copy
          </button>
          <a href={path}>Done</a>
        </p>
      </>
    ),
  };
}

function newKey(isTest: boolean) {
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES), isTest);
  return { text, hash: hashKey(text), start: startOfKey(text) };
}

export async function createKey(submission: Submission): Promise<View> {
  const { form } = submission;
  const username = submission.params["user"]!;
  const test = form.isChecked("test");
  const { text, hash, start } = newKey(test);
  const days = form.optionalWhole("days", 1, LIFETIME_LIMIT_DAYS);
  await submission.submit("createKey", {
    username,
    type: form.choice("type", KEY_TYPES),
    reach: form.choice("reach", KEY_SCOPES),
    label: form.optionalText("label", KEY_LABEL_LENGTH_LIMIT) ?? "",
    hash,
    start,
    lifetimeMilliseconds: days === null ? null : days * DAY_MS,
    allow: networksOf(form),
    test,
  });
  return shownOnce(text, `New ${test ? "test key" : "key"} of ${username}`, userPath(submission));
}

export async function rotateKey(submission: Submission): Promise<View> {
  const { id, testOf } = await keyOf(submission);
  const { text, hash, start } = newKey(testOf !== null);
  const graceMilliseconds = Number(submission.form.choice("grace", GRACE_HOURS)) * 3_600_000;
  await submission.submit("rotateKey", { id, hash, start, graceMilliseconds });
  return shownOnce(text, "The key that takes its place", userPath(submission));
}

export async function updateKey(submission: Submission): Promise<Redirect> {
  const { form } = submission;
  const { id } = await keyOf(submission);
  const days = form.optionalWhole("days", 1, LIFETIME_LIMIT_DAYS);
  const isForever = form.isChecked("forever");
  if (isForever && days !== null) form.note("days", "days must be empty where it does not expire");
  const lifetimeMilliseconds = days === null ? null : days * DAY_MS;
  const key = await submission.submit("updateKey", {
    id,
    changes: {
      label: form.optionalText("label", KEY_LABEL_LENGTH_LIMIT) ?? "",
      allow: networksOf(form),
      ...(isForever || days !== null ? { lifetimeMilliseconds } : {}),
    },
  });
  return { to: `${userPath(submission)}#keys`, note: `Key ${shownStart(key)}… was changed.` };
}

export async function deactivateAllKeys(submission: Submission): Promise<Redirect> {
  const username = submission.params["user"]!;
  await submission.confirm({
    title: `Deactivate all keys of ${username}`,
    moves: [],
    danger: true,
    details: <p>Every key of {username} is refused from then on, test keys too.</p>,
  });
  const { keys } = await submission.submit("deactivateKeys", { username });
  return {
    to: `${userPath(submission)}#keys`,
    note: `${keys === 1 ? "1 key is" : `${keys} keys are`} refused from now on.`,
  };
}

export const activateKey = (submission: Submission, _panel: Panel) => setActive(submission, true);
export const deactivateKey = (submission: Submission, _panel: Panel) =>
  setActive(submission, false);

async function setActive(submission: Submission, active: boolean): Promise<Redirect> {
  const { id } = await keyOf(submission);
  const key = await submission.submit("setKeyActive", { id, active });
  const what = active ? "active again" : "refused from now on";
  return { to: `${userPath(submission)}#keys`, note: `Key ${shownStart(key)}… is ${what}.` };
}

/** A key of this user, a test key too. Throws key_not_found. */
async function keyOf(submission: Submission): Promise<ListedKey> {
  const { key: id = "", user = "" } = submission.params;
  const key = await submission.read((reader) => findKey(reader, id));
  if (!key || key.username.toLowerCase() !== user.toLowerCase()) throw refusal("key_not_found");
  return key;
}

function userPath({ params }: Submission): string {
  return `/users/${encodeURIComponent(params["user"]!)}`;
}

/** In CIDR notation, separated by commas. */
function networksOf(form: Values): string {
  const given = form.raw("allow");
  if (given === "") return "";
  const networks = given.split(/[\s,]+/).map((each) => parseNetwork(each));
  if (networks.includes(null)) form.refuse("allow", "networks such as 10.0.0.0/8 or 2001:db8::/32");
  if (networks.length > KEY_NETWORKS_LIMIT) {
    form.refuse("allow", `at most ${KEY_NETWORKS_LIMIT} networks`);
  }
  return [...new Set(networks.flatMap((each) => (each ? [formatNetwork(each)] : [])))].join(",");
}
