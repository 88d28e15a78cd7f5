// Invoices with two servers on one database, one of which is killed again and again: numbers without gaps, each credit once.

import { expect, test } from "bun:test";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { TERMS } from "../../support/seeds/payments.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const LOAD = new URL("./invoice-load.ts", import.meta.url).pathname;
const KILLS = 4;
const NOW = Date.parse("2026-11-28T12:00:00Z");

test.each(["credit", "month"] as const)(
  "two servers and kills leave no gap in the numbers, and invoice every credit and payment exactly once: for each %s",
  async (mode) => {
    const server = await cluster();
    const database = await server.createDatabase();
    const store = createPostgresStore(server.address(database));
    const actor = { keyId: null, operator: "tester" };
    const changes = { mode, sellerName: "s", sellerAddress: "a", prefix: "A-" };
    await execute(store, "setInvoicing", { changes, actor }, NOW);
    for (const username of ["alice", "bob"]) {
      await execute(store, "createUser", { username, name: "", parent: null, actor }, NOW);
    }
    const invitationHash = "1".repeat(64);
    const owner = { email: "a@x.example", name: null, role: "owner", language: "en" } as const;
    const invitation = { username: "alice", ...owner, invitationHash, actor };
    const member = memberAuthor(await execute(store, "inviteMember", invitation, NOW));
    const accepted = { site: "portal", invitationHash, passwordHash: "p" } as const;
    await execute(store, "acceptInvitation", accepted, NOW);
    // A bonus, which no invoice is for.
    const terms = { ...TERMS, bonusSteps: JSON.stringify([{ fromMicros: 1, ppm: 30_000 }]) };
    const program = { methodId: "program", kind: "callback", currency: "USD" } as const;
    const method = { ...program, resellers: null, known: [] };
    await execute(store, "createPaymentMethod", { ...method, terms, actor }, NOW);
    const start = (rounds: number) =>
      Bun.spawn([process.execPath, LOAD, String(server.port), database, String(rounds), member], {
        stdout: "pipe",
        stderr: "inherit",
      });
    const steady = start(60);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const killed = start(1000);
      const lines = killed.stdout.getReader();
      // Some rounds are committed before the kill, which hits whatever is under way.
      for (let seen = 0; seen < 3; seen += 1) await lines.read();
      killed.kill("SIGKILL");
      await killed.exited;
    }
    expect(await steady.exited).toBe(0);
    const after = Date.parse("2026-12-02");
    while ((await execute(store, "issueInvoices", { limit: 50 }, after)) > 0);
    const [row] = await server.query(
      database,
      `SELECT count(*)::int AS invoices, min(number)::int AS first, max(number)::int AS last,
        sum(total_micros)::text AS total,
        (SELECT count(*)::int FROM invoice_items) AS items,
        (SELECT count(*)::int FROM invoice_items WHERE invoice_id IS NULL) AS due,
        (SELECT count(*)::int FROM payments WHERE state = 'paid') AS paid,
        (SELECT count(*)::int FROM transfers WHERE kind = 'payment') AS payments,
        (SELECT count(*)::int FROM transfers WHERE kind <> 'payment_bonus') AS credits,
        (SELECT sum(amount_micros)::text FROM transfers WHERE kind <> 'payment_bonus') AS credited
      FROM invoices`,
    );
    const { invoices, items, credits, due, total, paid, payments, credited } = row as Record<
      string,
      number
    >;
    expect(row).toMatchObject({ first: 1, last: invoices, due: 0 });
    expect([items, total, payments]).toEqual([credits!, credited!, paid!]);
    if (mode === "credit") expect(invoices).toBe(credits!);
    expect([invoices! > 30, payments! >= 60, due]).toEqual([true, true, 0]);
    expect(await verifyStore({ store })).toEqual([]);
    await store.close();
  },
);
