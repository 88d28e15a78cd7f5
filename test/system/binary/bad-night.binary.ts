// The morning after a bad night, from the command line: every order ends as its provider knows it, and no money is lost.

import { expect, test } from "bun:test";
import { binary } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { runs } from "../../support/runs.ts";
import { passBadNight, untilSent, wrongSettlements } from "../night/night.ts";

const UNKNOWN = runs(40, 200);

test(`${UNKNOWN} unknown orders are settled by two commands, each as the provider has it; what waited is sent once`, async () => {
  const night = await passBadNight(freshFolder(), { unknown: UNKNOWN, waiting: 20 });
  const { admin, unknown, folder, upstreams } = night;
  const search = ["order", "settle", "--provider", "pages", "--since", "12h"];
  const { orders: found } = await admin(...search, "--dry-run");
  expect(found).toHaveLength(UNKNOWN);
  expect(await admin("order", "list", "--unknown", "--limit", "1000")).toHaveLength(UNKNOWN);
  expect(await wrongSettlements(night)).toHaveLength(UNKNOWN);
  await admin(...search, "--yes");
  expect(await admin("order", "list", "--unknown")).toEqual([]);
  expect(unknown.size).toBe(UNKNOWN);
  expect(await wrongSettlements(night)).toEqual([]);
  await admin("provider", "resume", "poor");
  await untilSent(night);
  for (const name of ["poor", "dead"] as const) {
    const links = upstreams[name].adds().map(({ link }) => link);
    const sent = [...upstreams[name].book.values()].map(({ form }) => form["link"]);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent.length).toBe(new Set(links).size);
  }
  await night.end();
  expect((await binary(folder, "verify")).code).toBe(0);
});
