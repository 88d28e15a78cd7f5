// API keys of the reseller: members create them, rotate them and switch them off. The text of a key is shown once.

/** @jsxImportSource preact */

import { randomBytes } from "node:crypto";
import { KEY_NETWORKS } from "../../config/networks.ts";
import { readKeyCreators } from "../../db/administrators/audit.ts";
import { findMember } from "../../db/members/members.ts";
import type { Reader } from "../../db/port/port.ts";
import { findKey, listKeysOf } from "../../db/users/keys.ts";
import type { RechargeLimits } from "../../domain/ledger/recharges.ts";
import { memberOf } from "../../domain/members/members.ts";
import { MEMBER_KEYS_LIMIT, mayCreateKey } from "../../domain/members/portal.ts";
import {
  createsCredit,
  formatKey,
  hashKey,
  KEY_RANDOM_BYTES,
  KEY_TYPES,
  keyState,
  keyTypeMay,
  shownStart,
  startOfKey,
} from "../../domain/users/keys.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { KEY_LABEL } from "../../domain/values/kinds.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { Choice, Field, Fold, Form } from "../../web/components/fields.tsx";
import { chosenGraceMs, Grace } from "../../web/components/grace.tsx";
import { List } from "../../web/components/lists.tsx";
import { Badge, Typed } from "../../web/components/shown.tsx";
import { shownOnce } from "../../web/components/shown-once.tsx";
import type { Redirect, View } from "../../web/server/results.ts";
import { Time } from "../parts/shown.tsx";
import type { Submission } from "../server/call.ts";
import type { Visitor } from "../server/visitor.ts";

const LIFETIME_LIMIT_DAYS = 36_525;
/** Limit for the listed keys that are not in use any more. The newest are listed. */
const ENDED_SHOWN = 20;
/** Number of keys in use that are shown; the operator may create more than members can. */
const USABLE_SHOWN = 2 * MEMBER_KEYS_LIMIT;

type OwnKey = ReturnType<typeof listKeysOf>[number] & {
  /** The name of the member who created it; null: the operator did. */
  creator: string | null;
};

/** The keys of the reseller, or its test keys: those in use first, the newest first. */
export function listOwnKeys(
  reader: Reader,
  { account, member: { account: own } }: Visitor,
): OwnKey[] {
  const listed = [
    ...listKeysOf(reader, [account], true, USABLE_SHOWN),
    ...listKeysOf(reader, [account], false, ENDED_SHOWN),
  ];
  const creatorOf = readKeyCreators(
    reader,
    listed.map(({ id }) => id),
  );
  return listed.map((key) => {
    const member = memberOf(creatorOf(key.id));
    const found = member === null ? undefined : findMember(reader, member);
    return { ...key, creator: found?.account === own ? found.name : null };
  });
}

export function Keys({
  visitor,
  keys,
  now,
}: {
  visitor: Visitor;
  keys: readonly OwnKey[];
  /** Milliseconds since 1970. */
  now: number;
}) {
  const { t } = visitor;
  return (
    <>
      <h2 id="keys">{t("keys.title")}</h2>
      <List
        caption={t("keys.title")}
        rows={keys}
        empty={t("keys.none")}
        columns={[
          {
            heading: t("keys.key"),
            cell: (key) => (
              <>
                <code>{shownStart(key)}…</code>{" "}
                {key.type !== "order" && <Badge state={t(`keys.type.${key.type}`)} />}
              </>
            ),
          },
          { heading: t("keys.label"), cell: ({ label }) => <Typed text={label} /> },
          {
            heading: t("team.state"),
            cell: (key) => <State visitor={visitor} of={key} now={now} />,
          },
          {
            heading: t("keys.networks"),
            cell: ({ allow }) => allow.replaceAll(",", ", ") || t("keys.anywhere"),
          },
          {
            heading: t("keys.expires"),
            cell: ({ expiresAt }) => <Time at={expiresAt} visitor={visitor} />,
          },
          {
            heading: t("keys.lastUsed"),
            cell: ({ lastUsedAt }) => <Time at={lastUsedAt} visitor={visitor} />,
          },
          {
            heading: t("keys.by"),
            cell: ({ creator }) =>
              creator === null ? t("order.byOperator") : <Typed text={creator} />,
          },
          {
            heading: t("team.actions"),
            cell: (key) => <Actions visitor={visitor} of={key} now={now} />,
          },
        ]}
      />
      <Fold action="/api/keys" summary={t("keys.new")}>
        <NewKey visitor={visitor} />
      </Fold>
    </>
  );
}

function State({ visitor: { t }, of, now }: { visitor: Visitor; of: OwnKey; now: number }) {
  const state = keyState(of, now);
  return <Badge state={t(`keys.state.${state}`)} tone={state === "active" ? "good" : "quiet"} />;
}

function Actions({ visitor, of: key, now }: { visitor: Visitor; of: OwnKey; now: number }) {
  const { t } = visitor;
  const path = `/api/keys/${key.id}`;
  const name = <span class="hidden"> {shownStart(key)}</span>;
  if (!key.active) return <>–</>;
  return (
    <div class="actions">
      {keyState(key, now) === "active" && mayRotate(visitor, key) && (
        <Fold action={`${path}/rotate`} summary={t("keys.rotate")}>
          <Form action={`${path}/rotate`} submit={t("keys.rotate")}>
            <Grace label={t("keys.grace")} />
          </Form>
        </Fold>
      )}
      <Form action={`${path}/deactivate`}>
        <button>
          {t("keys.deactivate")}
          {name}
        </button>
      </Form>
    </div>
  );
}

/** Returns whether the member may have the text of the key's successor. It only decides what the page shows. */
function mayRotate({ allowed, member }: Visitor, { type, reach }: OwnKey): boolean {
  if (keyTypeMay(type, "user lookup") && reach === "all") return false;
  return mayCreateKey(allowed, member.role, type);
}

function NewKey({ visitor }: { visitor: Visitor }) {
  const { t, allowed, member } = visitor;
  const types = KEY_TYPES.filter((type) => mayCreateKey(allowed, member.role, type));
  const limits = { inputmode: "decimal", hint: t("keys.limitHint") } as const;
  return (
    <Form action="/api/keys" submit={t("keys.create")}>
      {types.length > 1 && (
        <Choice
          name="type"
          label={t("keys.type")}
          value="order"
          options={types.map((type) => [type, t(`keys.typeText.${type}`)])}
        />
      )}
      <Field name="label" label={t("keys.label")} hint={t("keys.labelHint")} required />
      <Field name="days" label={t("keys.days")} hint={t("keys.daysHint")} inputmode="numeric" />
      <Field name="allow" label={t("keys.networks")} hint={t("keys.networksHint")} />
      {types.length > 1 && (
        <>
          <Field name="recharge-limit" label={t("keys.limitOnce")} {...limits} />
          <Field name="recharge-daily" label={t("keys.limitDaily")} {...limits} />
        </>
      )}
    </Form>
  );
}

function newKey(isTest: boolean) {
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES), isTest);
  return { text, hash: hashKey(text), start: startOfKey(text) };
}

/** Creates a key and shows its text once. */
export async function createKey(submission: Submission): Promise<View> {
  const { form, visitor } = submission;
  const { t } = visitor;
  const type = form.optionalChoice("type", KEY_TYPES) ?? "order";
  const label = form.required("label", KEY_LABEL, "");
  const days = form.optionalWhole("days", 1, LIFETIME_LIMIT_DAYS);
  const allow = form.optional("allow", KEY_NETWORKS, "") ?? "";
  const limits: RechargeLimits = {
    rechargeLimitMicros: form.optionalAmount("recharge-limit"),
    rechargeDailyMicros: form.optionalAmount("recharge-daily"),
  };
  const lifetimeMilliseconds = days === null ? null : days * DAY_MS;
  if (!visitor.isTest && type !== "order") {
    await confirmCredit(submission, t("keys.confirmCreate"));
  }
  const { text, hash, start } = newKey(visitor.isTest);
  const terms = { type, label, allow, lifetimeMilliseconds, ...limits };
  await submission.submit("createOwnKey", { ...terms, hash, start });
  return shownOnce(text, t("keys.newTitle"), "/api");
}

/** Replaces a key and shows the text of the new one once. */
export async function rotateKey(submission: Submission): Promise<View> {
  const { visitor, form } = submission;
  const { t } = visitor;
  const key = await requireOwnKey(submission);
  const graceMilliseconds = chosenGraceMs(form);
  if (createsCredit(key)) {
    await confirmCredit(submission, t("keys.confirmRotate", { key: `${shownStart(key)}…` }));
  }
  const { text, hash, start } = newKey(key.testOf !== null);
  await submission.submit("rotateOwnKey", { id: key.id, hash, start, graceMilliseconds });
  return shownOnce(text, t("keys.newTitle"), "/api");
}

export async function deactivateKey(submission: Submission): Promise<Redirect> {
  const { t } = submission.visitor;
  const key = await requireOwnKey(submission);
  const shown = { key: `${shownStart(key)}…` };
  await submission.confirm({
    title: t("keys.confirmDeactivate", shown),
    moves: [],
    danger: true,
    details: <p>{t("keys.deactivateText")}</p>,
  });
  await submission.submit("deactivateOwnKey", { id: key.id });
  return { to: "/api", note: t("keys.deactivated", shown) };
}

/** Asks for a password or a code again before a key is made that can create credit. */
async function confirmCredit(submission: Submission, title: string): Promise<void> {
  const details = <p>{submission.visitor.t("keys.creditText")}</p>;
  await submission.confirm({ title, moves: [], danger: true, isSensitive: true, details });
}

/** Finds a key of the reseller, on the side of the page. Refuses: key_not_found. */
async function requireOwnKey(submission: Submission) {
  const id = submission.params["key"]!;
  const found = await submission.read((reader) => findKey(reader, id));
  if (found?.resellerAccount !== submission.visitor.account) throw refusal("key_not_found");
  return found;
}
