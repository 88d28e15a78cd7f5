// Credits and debits by the operator: references, notes, confirmations. docs/specification/command-line.md#cli-adjustments.

import { describe, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";

const transfersOf = (shop: ReturnType<typeof openShop>) =>
  Number(shop.query("SELECT count(*) AS n FROM transfers")[0]!["n"]);

describe("--reference", () => {
  test("a repeated reference reports the first transaction and changes nothing", async () => {
    const shop = openShop();
    const credit = (...more: string[]) =>
      shop.cli("admin", "user", "credit", "alice", "25", "--reference", "inv-12", ...more);
    const first = await credit("--json");
    expect(first.json).toMatchObject({ balance: 125, previousBalance: 100, repeated: false });
    await shop.cli("admin", "user", "debit", "alice", "5");
    const before = shop.dump();
    const again = await credit("--json");
    expect(again.code).toBe(0);
    expect(again.json).toMatchObject({
      balance: 120,
      previousBalance: 100,
      amount: 25,
      reference: "inv-12",
      repeated: true,
    });
    const told = await credit();
    expect(told.stderr).toMatch(
      /^inv-12 was already made as transaction \d+ at 20\d\d-.*nothing was changed\n$/,
    );
    expect(told.stdout).toBe("alice: 120.00 USD\n");
    expect(shop.dump()).toBe(before);
  });

  test("with another amount or direction it is refused, and the message says what it was used for", async () => {
    const shop = openShop();
    await shop.cli("admin", "user", "credit", "alice", "25", "--reference", "inv-12");
    const before = shop.dump();
    for (const argv of [
      ["credit", "alice", "26"],
      ["debit", "alice", "25"],
    ]) {
      const { code, stderr } = await shop.cli("admin", "user", ...argv, "--reference", "inv-12");
      expect(code).toBe(1);
      expect(stderr).toContain("for a credit of 25 USD (transaction ");
    }
    expect(shop.dump()).toBe(before);
  });

  test("belongs to one user: another may use the same", async () => {
    const shop = openShop();
    for (const user of ["alice", "bob", "kid"]) {
      const { json } = await shop.cli(
        ..."admin user credit".split(" "),
        user,
        ..."1 --reference r --json".split(" "),
      );
      expect(json.repeated).toBe(false);
    }
    expect((await shop.cli("verify")).code).toBe(0);
  });

  test("with two lines is invalid: exit 2", async () => {
    const shop = openShop();
    const before = shop.dump();
    const argv = ["admin", "user", "credit", "alice", "1", "--reference", "a\nb"];
    expect((await shop.cli(...argv)).code).toBe(2);
    expect(shop.dump()).toBe(before);
  });
});

describe("a large amount", () => {
  const credit = (...argv: string[]) => {
    const shop = openShop();
    return { shop, ran: shop.cli("admin", "user", "credit", "alice", ...argv) };
  };

  test("is refused without a terminal and without --yes: exit 2, with what to do", async () => {
    const { shop, ran } = credit("50000000");
    const before = shop.dump();
    const { code, stdout, stderr } = await ran;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "error: credit alice 50000000 USD needs confirmation: more than 1000 USD (--confirm-above). There is no terminal and nothing was changed; repeat with --yes to confirm\n",
    );
    expect(shop.dump()).toBe(before);
  });

  test.each([
    ["with --yes", ["50000000", "--yes"], 0],
    ["up to the limit", ["1000"], 0],
    ["above the limit", ["1000.000001"], 2],
    ["up to a limit that is set", ["10", "--confirm-above", "10"], 0],
    ["above a limit that is set", ["10.000001", "--confirm-above", "10"], 2],
  ] as const)("%s", async (_, argv, code) => {
    expect((await credit(...argv).ran).code).toBe(code);
  });

  test("above the limit of every amount is refused with the name of the limit", async () => {
    const { shop, ran } = credit("1000000000.000001", "--yes");
    const before = shop.dump();
    const { code, stderr } = await ran;
    expect(code).toBe(2);
    expect(stderr).toStartWith("error: AMOUNT must be at most 1000000000, not ");
    expect(shop.dump()).toBe(before);
  });

  test("an invalid amount is reported as invalid, not as too large", async () => {
    const { code, stderr } = await credit("1e12").ran;
    expect(code).toBe(2);
    expect(stderr).toStartWith('error: AMOUNT must be a positive number, not "1e12"\n');
  });
});

describe("user delete", () => {
  test.each(["delete", "remove"])(
    "%s suggests what to use instead, and never debit",
    async (word) => {
      const { code, stderr } = await openShop().cli("admin", "user", word, "alice");
      expect(code).toBe(2);
      expect(stderr).toContain("user deactivate");
      expect(stderr).not.toContain("debit");
    },
  );

  test("another unknown word is still corrected", async () => {
    const { code, stderr } = await openShop().cli("admin", "user", "crate", "alice");
    expect(code).toBe(2);
    expect(stderr).toContain("Did you mean create?");
    const far = await openShop().cli("admin", "user", "add", "alice");
    expect([far.code, far.stdout]).toEqual([2, ""]);
    expect(far.stderr).toContain("error: unknown command 'add'\n(Commands: create, list, show,");
  });

  test.each(["-", "--"])("%s is not a command either", async (word) => {
    const { code, stderr } = await openShop().cli("admin", "user", word, "alice");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`unknown command '${word}'`)]);
  });
});

describe("notes", () => {
  test("--note is only for operators, --public-note is shown to the user, and the audit log has both", async () => {
    const shop = openShop();
    await shop.cli(
      ..."admin user credit alice 1 --reference r-1 --note complained --public-note sorry".split(
        " ",
      ),
    );
    const list = await shop.cli(
      ..."admin transaction list --user alice --limit 1 --json".split(" "),
    );
    expect(list.json).toMatchObject([
      { note: "complained", publicNote: "sorry", reference: "r-1", amount: 1 },
    ]);
    const audited = await shop.cli(..."admin audit list --limit 1 --json".split(" "));
    expect(audited.json).toMatchObject([
      {
        action: "user.credit",
        after: { note: "complained", publicNote: "sorry", reference: "r-1" },
      },
    ]);
  });

  test("a public note is refused when nothing is refunded", async () => {
    const shop = openShop();
    shop.service({ id: "free", price: "0" });
    const id = shop.order(100);
    const before = shop.dump();
    const partial = ["admin", "order", "partial", String(id), "--remains", "0"];
    const { code, stderr } = await shop.cli(...partial, "--public-note", "done");
    expect(code).toBe(1);
    expect(stderr).toContain("leave out --public-note");
    expect(shop.dump()).toBe(before);
  });
});

describe("transaction list", () => {
  test("--csv prints all transactions, with --since and --until, and no cell that a spreadsheet would run", async () => {
    const shop = openShop();
    for (let made = 0; made < 60; made += 1) {
      shop.run("creditUser", { username: "bob", amountMicros: 1, note: "=1+1" });
    }
    const csv = async (...argv: string[]) => {
      const { stdout } = await shop.cli("admin", "transaction", "list", "--user", "bob", ...argv);
      return stdout.trimEnd().split("\n");
    };
    const lines = await csv("--csv");
    expect(lines[0]).toBe(
      "seq,kind,amount,balanceAfter,orderId,by,reference,note,publicNote,createdAt",
    );
    expect(lines).toHaveLength(61);
    expect(lines[1]).toContain(",0.000001,0.00006,,tester,,'=1+1,,");
    expect(await csv("--csv", "--limit", "2")).toHaveLength(3);
    expect(await csv("--csv", "--until", "2001-01-01")).toHaveLength(1);
    expect(await csv("--csv", "--since", "24h")).toHaveLength(61);
    expect(await csv("--csv", "--from", "24h")).toHaveLength(61);
  });

  test("--since and --from, --csv and --json exclude each other", async () => {
    const shop = openShop();
    const list = ["admin", "transaction", "list", "--user", "bob"];
    expect((await shop.cli(...list, "--since", "1h", "--from", "1h")).code).toBe(2);
    expect((await shop.cli(...list, "--csv", "--json")).code).toBe(2);
    expect(transfersOf(shop)).toBe(2);
  });
});
