// Reads the settings that operators make from a database, and finds the differences between two databases. One of them
// may be of a later version: only columns that every version has are read.

import type { Database } from "bun:sqlite";
import { formatMicros } from "../../domain/ledger/money.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";

export interface KeyState {
  id: string;
  start: string;
  username: string;
  type: string;
  label: string;
  active: boolean;
  /** Whether it was seen to expire. It stays ended even if the clock is set back. */
  isEnded: boolean;
  /** Milliseconds since 1970; null if it never expires. */
  expiresAt: number | null;
  lastUsedAt: number | null;
}

/** A setting that a restore reverts. */
export interface Change {
  /** For example `service followers`. */
  subject: string;
  /** The value before the restore. */
  since: string;
  /** The value after the restore, from the backup. */
  now: string;
}

/** The settings of each subject, by name. */
export type Settings = Map<string, Record<string, string>>;
type Row = Record<string, string | number | null | undefined>;

/** Excludes test accounts and the sandbox: only their names have a colon. */
const IS_LIVE = (name: string) => `${name} NOT LIKE 'test:%'`;

/** Secret settings (a provider's key, a webhook's secret, an administrator's password): compared, never shown. */
const SECRETS: readonly string[] = ["key", "secret", "password"];

export function readKeys(sqlite: Database): Map<string, KeyState> {
  const rows = sqlite
    .query<Omit<KeyState, "active" | "isEnded"> & { active: number; ended: number }, []>(
      `SELECT keys.id, start, username, type, label, keys.active, ended, expires_at AS expiresAt, last_used_at AS lastUsedAt
      FROM keys JOIN users ON account = reseller_account ORDER BY username, keys.created_at`,
    )
    .all();
  return new Map(
    rows.map(({ active, ended, ...row }) => [
      row.id,
      { ...row, active: active === 1, isEnded: ended === 1 },
    ]),
  );
}

export function readKeyTerms(sqlite: Database): Settings {
  const rows = sqlite
    .query<Row, []>(
      `SELECT keys.*, username FROM keys JOIN users ON account = reseller_account
      WHERE ${IS_LIVE("username")} ORDER BY username, keys.created_at`,
    )
    .all();
  return new Map(
    rows.map(({ id, username, allow, ...row }) => [
      `key ${id} of ${username}`,
      textsOf({
        allow: allow === "" ? null : allow,
        rechargeLimit: dollars(row["recharge_limit_micros"]),
        rechargeDaily: dollars(row["recharge_daily_micros"]),
      }),
    ]),
  );
}

export function readSettings(sqlite: Database): Settings {
  const settings: Settings = new Map();
  const read = (query: string, subject: (row: Row) => string, set: (row: Row) => Row) => {
    for (const row of sqlite.query<Row, []>(query).iterate()) {
      settings.set(subject(row), textsOf(set(row)));
    }
  };
  read(
    `SELECT * FROM users WHERE ${IS_LIVE("username")} ORDER BY account`,
    ({ username }) => `user ${username}`,
    ({ active, discount_ppm: discount }) => ({
      active: yes(active),
      discount: `${discountPercent(Number(discount))} %`,
    }),
  );
  read(
    `SELECT * FROM providers WHERE ${IS_LIVE("name")} ORDER BY name`,
    ({ name }) => `provider ${name}`,
    ({ protocol, url, key, active, markup, sync_every: syncEvery, currency, ...row }) => {
      const limits = [row["sync_price_limit"], row["sync_deactivation_limit"]].join(", ");
      const sync =
        typeof syncEvery === "number" ? `every ${syncEvery} ms, at most ${limits}` : null;
      const { rate_to_usd: rateToUsd } = row;
      return { protocol, url, key, active: yes(active), markup, sync, rateToUsd, currency };
    },
  );
  read(
    `SELECT services.*, providers.name AS provider FROM services LEFT JOIN providers USING (provider_id)
    ORDER BY services.id`,
    ({ id }) => `service ${id}`,
    ({ name, price_micros: price, per, min, max, active, private: hidden, provider, ...row }) => {
      const { category } = row;
      const terms = { name, category, price: dollars(price), per, min, max, active: yes(active) };
      const { cancel, refill, refill_days: refillDays } = row;
      const requests = { cancel: yes(cancel), refill: yes(refill), refillDays };
      const itsProvider = { provider, providerService: row["provider_service"] };
      return { ...terms, private: yes(hidden), ...itsProvider, ...requests };
    },
  );
  read(
    `SELECT service_id, provider_service, name, place FROM service_routes JOIN providers USING (provider_id)
    ORDER BY service_id, place`,
    ({ service_id: service, name, provider_service: there }) =>
      `route of ${service} to ${there} of ${name}`,
    ({ place }) => ({ place }),
  );
  read(
    `SELECT webhooks.*, username FROM webhooks JOIN users ON account = reseller_account
    WHERE deleted_at IS NULL ORDER BY webhook_id`,
    ({ id, username }) => `webhook ${id} of ${username}`,
    ({ url, events, active, secret, balance_low_below: threshold }) => ({
      url,
      events,
      balanceLowBelow: dollars(threshold),
      active: yes(active),
      secret,
    }),
  );
  read(
    `SELECT * FROM webhooks WHERE reseller_account IS NULL AND deleted_at IS NULL
    ORDER BY webhook_id`,
    ({ id }) => `alert endpoint ${id}`,
    ({ url, telegram_chat: telegramChat, secret }) => ({ url, telegramChat, secret }),
  );
  read(
    `SELECT service_id, username, price_micros FROM grants JOIN users ON account = reseller_account
    ORDER BY service_id, username`,
    ({ service_id: service, username }) => `grant of ${service} to ${username}`,
    ({ price_micros: price }) => ({ price: dollars(price) }),
  );
  read(
    "SELECT * FROM administrators ORDER BY name",
    ({ name }) => `administrator ${name}`,
    ({ role, active, password_hash: password, totp_secret: secret }) => {
      return { role, active: yes(active), password, secondFactor: secret === null ? "off" : "on" };
    },
  );
  return settings;
}

/** What a person of the panel or the portal may do, in the replaced database. */
export interface Access {
  key: string;
  /** Whether the person cannot sign in. */
  isOut: boolean;
  role: string;
  /** The link that is open; null: none. */
  invitationHash: string | null;
}

export function readAdministratorAccess(sqlite: Database): Access[] {
  return readAccess(
    sqlite,
    `SELECT name AS key, role, invitation_hash AS invitationHash, NOT active AS isOut
    FROM administrators`,
  );
}

/** What a member of the portal may do, and which e-mails it receives. */
export interface MemberAccess extends Access {
  mails: string;
}

/** A member is out also if its reseller or its portal is off. */
export function readMemberAccess(sqlite: Database): MemberAccess[] {
  return readAccess<MemberAccess>(
    sqlite,
    `SELECT members.id AS key, members.role, members.mails, members.invitation_hash AS invitationHash,
      NOT (members.active AND users.active AND coalesce(portal_settings.active, 1)) AS isOut
    FROM members JOIN users ON users.account = members.account
      LEFT JOIN portal_settings ON portal_settings.account = members.account`,
  );
}

function readAccess<Row extends Access>(sqlite: Database, text: string): Row[] {
  const rows = sqlite.query<Omit<Row, "isOut"> & { isOut: number }, []>(text).all();
  return rows.map((row) => ({ ...row, isOut: row.isOut === 1 }) as unknown as Row);
}

/** Returns the settings in `since` that differ from `restored`, and the subjects that were created or removed. */
export function changesSince(restored: Settings, since: Settings): Change[] {
  const changes: Change[] = [];
  for (const [subject, was] of since) {
    const is = restored.get(subject);
    if (!is) changes.push({ subject, since: "made", now: "gone" });
    else changes.push(...diffFacts(subject, was, is));
  }
  for (const subject of restored.keys()) {
    if (!since.has(subject)) changes.push({ subject, since: "removed", now: "there again" });
  }
  return changes;
}

/** Like changesSince, for subjects that are in both. */
export function changesOfShared(restored: Settings, since: Settings): Change[] {
  const shared = [...since].filter(([subject]) => restored.has(subject));
  return shared.flatMap(([subject, was]) => diffFacts(subject, was, restored.get(subject)!));
}

function diffFacts(
  subject: string,
  was: Record<string, string>,
  is: Record<string, string>,
): Change[] {
  const names = Object.keys(is).filter((name) => is[name] !== was[name]);
  if (names.length === 0) return [];
  const describe = (settings: Record<string, string>, whose: string) =>
    names
      .map((name) => (SECRETS.includes(name) ? `${whose} ${name}` : `${name} ${settings[name]}`))
      .join(", ");
  return [{ subject, since: describe(was, "another"), now: describe(is, "the backup's") }];
}

function dollars(micros: Row[string]): string | null {
  return typeof micros === "number" ? formatMicros(micros) : null;
}

function yes(flag: Row[string]): string {
  return flag === 1 ? "yes" : "no";
}

function textsOf(row: Row): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, String(value ?? "-")]),
  );
}
