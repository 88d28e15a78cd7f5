// Every secret that the program knows × every place that shows or keeps something, after a scenario that uses each
// secret, with the compiled program and the most talkative log.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SETTINGS } from "../../../src/config/settings.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { METHOD_KINDS } from "../../../src/payments/methods.ts";
import {
  backUp,
  commands,
  errors,
  pages,
  type Place,
  stored,
  typed,
  wrongUsage,
} from "./secrets/places.ts";
import { play, type Play, type Secret } from "./secrets/scenario.ts";

let world: Play;
beforeAll(async () => {
  world = await play();
}, 300_000);
afterAll(() => world.end());

/** The forms in which a text may show a secret. */
function formsOf({ text }: Secret): string[] {
  const encoded = Buffer.from(text);
  return [
    ...new Set([
      text,
      encodeURIComponent(text),
      encoded.toString("base64"),
      encoded.toString("base64url"),
      encoded.toString("hex"),
      text.replace(/(.{4})(?=.)/g, "$1 "),
    ]),
  ];
}

/** Which secrets are in which places, but for those that may be there. */
function leaks(
  places: readonly Place[],
  mayBe: (secret: Secret, place: Place) => boolean = () => false,
): string[] {
  return places.flatMap((place) =>
    world.secrets
      .filter(
        (secret) =>
          !mayBe(secret, place) && formsOf(secret).some((form) => place.text.includes(form)),
      )
      .map(({ name }) => `${name} in ${place.name}`),
  );
}

/** Columns that hold secrets, and the secrets of the scenario that each holds; null: its name only looks like one. */
const COLUMNS: Record<string, RegExp | null> = {
  "providers key": /^key of a provider/,
  "keys hash": /^API key/,
  "webhooks secret": /^secret of a webhook|^secret of an alert|Telegram/,
  "webhooks previous_secret": /^secret of a webhook, before/,
  "webhooks older_secrets": /^secret of a webhook, before/,
  "administrators password_hash": /^password for the panel/,
  "administrators invitation_hash": /^link for the panel/,
  "administrators totp_secret": /^second factor, panel/,
  "administrators offered_secret": /^second factor, panel/,
  "recovery_codes hash": /^recovery code \d, panel/,
  "panel_sessions hash": /^session, panel/,
  "inspections token_hash": /^link to look at/,
  "inspections hash": /^session, portal, inspection/,
  "members password_hash": /^password for the portal/,
  "members invitation_hash": /^link for the portal|^link by e-mail.*set-up/,
  "members totp_secret": /^second factor, portal/,
  "members new_email_hash": /^link by e-mail.*address/,
  "members offered_secret": /^second factor, portal/,
  "member_recovery_codes hash": /^recovery code \d, portal/,
  "member_sessions hash": /^session, portal/,
  "registrations confirm_hash": /^link by e-mail.*confirm/,
  "payment_methods settings": /^payment method/,
  "idempotency key": null,
  "idempotency request_hash": null,
  "daily_totals key": null,
  "portal_settings keys": null,
  "payments request_key": null,
};

test("the scenario has a secret of every setting, every column and every kind of payment method", () => {
  const names = world.secrets.map(({ name }) => name);
  for (const [flag, setting] of Object.entries(SETTINGS)) {
    if ("isSecret" in setting) expect(names.join(", ")).toContain(flag);
  }
  for (const { kind, settings } of METHOD_KINDS) {
    const secret = settings.filter(({ isSecret }) => isSecret);
    for (const { name } of secret) expect(names).toContain(`payment method: ${kind}, ${name}`);
  }
  const columns = TABLES.flatMap(({ name, columns: all }) =>
    all.map((each) => `${name} ${each.name}`),
  );
  const suspect = columns.filter((each) =>
    /(secrets?|hash|keys?|password|token|settings)$/.test(each),
  );
  expect(suspect.toSorted()).toEqual(Object.keys(COLUMNS).toSorted());
  for (const [column, pattern] of Object.entries(COLUMNS)) {
    if (pattern) expect([column, names.some((name) => pattern.test(name))]).toEqual([column, true]);
  }
});

describe("no secret is", () => {
  test("repeated by a form in which it was typed wrongly", async () => {
    const places = await typed(world);
    expect(places.length).toBeGreaterThan(5);
    expect(leaks(places)).toEqual([]);
  });

  test("in an error of the API or of a notice of a payment", async () => {
    expect(leaks(await errors(world))).toEqual([]);
  });

  test("on a page or in an export, for any role", async () => {
    const places = await pages(world);
    expect(places.filter(({ name }) => name.endsWith(": 200")).length).toBeGreaterThan(200);
    expect(places.filter(({ name }) => name.endsWith(": 500"))).toEqual([]);
    // What the provider said is shown, but for the key that it repeated.
    expect(places.some(({ text }) => text.includes("Incorrect request, key"))).toBe(true);
    // A person sees the second factor that it has not confirmed yet.
    const offered = leaks(places, ({ name }, place) => {
      const [, site, role] = /^second factor, (\w+), (\w+)$/.exec(name) ?? [];
      return (
        site !== undefined &&
        place.name.startsWith(`${site}, ${role}, `) &&
        place.name.endsWith("second-factor: 200")
      );
    });
    expect(offered).toEqual([]);
  });

  test("printed by a command that shows something", async () => {
    const places = await commands(world);
    expect(places.filter(({ name }) => name.endsWith("exit 0")).length).toBeGreaterThan(60);
    expect(leaks(places)).toEqual([]);
  });

  test("taken as a flag, or repeated when it is given as one", async () => {
    const text = "flag-secret-zqx77";
    world.secrets.push({ name: "a secret given as a flag", text, stored: "nowhere" });
    const places = await wrongUsage(world, text);
    expect(places.filter(({ exitCode }) => exitCode !== 2).map(({ name }) => name)).toEqual([]);
    expect(leaks(places)).toEqual([]);
  });

  test("in a command line, an off-site copy or its manifest", async () => {
    const places = await backUp(world);
    expect(places.some(({ name }) => /\.json/.test(name))).toBe(true);
    expect(leaks(places)).toEqual([]);
  });

  test("in the log at its most talkative level", () => {
    const text = world.server.log();
    expect(text.length).toBeGreaterThan(10_000);
    expect(leaks([{ name: "log", text }])).toEqual([]);
  });

  test("in an e-mail, but for the link to its own reader", () => {
    const places = world.mails.received.map(({ to, raw, mail }) => ({
      name: `e-mail to ${to}`,
      text: `${raw} ${mail.text} ${String(mail.html)}`,
    }));
    expect(places.length).toBeGreaterThan(4);
    expect(
      leaks(places, ({ name }, place) =>
        name.startsWith(`link by e-mail to ${place.name.slice("e-mail to ".length)}`),
      ),
    ).toEqual([]);
  });

  test("sent to a webhook or an alert's receiver", () => {
    expect(world.received.length).toBeGreaterThan(1);
    expect(leaks(world.received.map((text) => ({ name: "webhook", text })))).toEqual([]);
  });

  test("stored, but in its own column, by its hash where that is enough", () => {
    const { tables, files, others } = stored(world);
    const kept = Object.entries(COLUMNS).map(
      ([column, pattern]) => [column.split(" ")[0]!, pattern] as const,
    );
    const isItsTable = (name: string, table: string) =>
      kept.some(([each, pattern]) => each === table && pattern?.test(name));
    expect(
      leaks(
        tables,
        ({ name, stored: how }, place) => how === "clear" && isItsTable(name, place.name),
      ),
    ).toEqual([]);
    expect(leaks(files, ({ stored: how }) => how === "clear")).toEqual([]);
    expect(leaks(others)).toEqual([]);
    // The search finds what is there.
    const clear = world.secrets.filter(({ stored: how }) => how === "clear");
    const found = new Set(leaks(tables).map((each) => each.split(" in ")[0]));
    expect(clear.filter(({ name }) => !found.has(name)).map(({ name }) => name)).toEqual([]);
  });
});
