// The code that the documentation shows, as served, run by its interpreters against a server: each call in one language,
// at night in each.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LANGUAGES, type Language } from "../../../src/api-docs/code/languages.ts";
import { endpointsOf } from "../../../src/api-docs/page/documented-endpoints.ts";
import { freshFolder } from "../../support/folders.ts";
import { runs } from "../../support/runs.ts";
import { document } from "../../support/http/openapi.ts";
import {
  type ExampleCall,
  type ExampleWorld,
  openExamples,
  pathOf,
  STORY,
} from "../../support/worlds/examples.ts";

/** By the ending of the example's file, as the quick start says. */
const INTERPRETERS: Record<string, string> = {
  sh: "sh",
  mjs: "node",
  py: "python3",
  php: "php",
};

const ENDPOINTS = new Map(
  endpointsOf(document).map(({ operation, url }) => [operation.operationId, url]),
);

/** The examples of one language on a page, by the name of their tabs, in the page's order. */
async function examplesOn(url: string, { id }: Language): Promise<Map<string, string>> {
  const examples = new Map<string, string>();
  let names: string[] = [];
  let panel = -1;
  const texts: string[][] = [];
  const page = await fetch(url);
  await new HTMLRewriter()
    .on(".tabs", {
      element: (tabs) => {
        names = [];
        panel = -1;
        texts.length = 0;
        tabs.onEndTag(() => {
          const [, name] = /^(.*)-[a-z]+$/.exec(names[0]!)!;
          const place = names.indexOf(`${name}-${id}`);
          if (place >= 0) examples.set(name!, unescaped(texts[place]!.join("")));
        });
      },
    })
    .on(".tabs > input", { element: (tab) => void names.push(tab.getAttribute("id")!) })
    .on(".tabs > div", { element: () => void (texts[++panel] = []) })
    .on(".tabs code", { text: ({ text }) => void texts[panel]!.push(text) })
    .transform(page)
    .text();
  return examples;
}

function unescaped(text: string): string {
  const characters: Record<string, string> = { lt: "<", gt: ">", quot: '"', amp: "&" };
  return text.replace(/&(\w+);/g, (_, name: string) => characters[name]!);
}

let world: ExampleWorld;
let folder: string;

/** Runs an example as a reader does: from a file, with the key in the environment. */
async function run({ file }: Language, code: string, key: string): Promise<unknown> {
  writeFileSync(
    join(folder, file),
    world.withActualIds(code).replaceAll("https://your-reseller.example", world.service.url),
  );
  const child = Bun.spawn([INTERPRETERS[file.split(".")[1]!]!, file], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, RESELLER_KEY: key },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ code: await child.exited, stdout: stdout !== "", stderr }).toEqual({
    code: 0,
    stdout: true,
    // curl shows its progress.
    stderr: file.endsWith(".sh") ? expect.any(String) : "",
  });
  return JSON.parse(stdout.replace(/^\d{3} /, ""));
}

/** The calls of the story, in its order, each with the language that it is made in: one round, at night one a language. */
const ROUNDS = runs(
  [STORY.map((operationId, index) => [operationId, LANGUAGES[index % LANGUAGES.length]!] as const)],
  LANGUAGES.map((language) => STORY.map((operationId) => [operationId, language] as const)),
);

async function openWorld(): Promise<void> {
  world = await openExamples();
  folder = freshFolder();
}

describe.each(ROUNDS.map((round, index) => ({ round, index })))("round $index", ({ round }) => {
  beforeAll(openWorld);
  afterAll(() => world.stop());

  test.each(
    round.map(([operationId, language]) => ({ operationId, language, name: language.name })),
  )(
    "the code of $operationId in $name gets the answer that the page shows",
    async ({ operationId, language }) => {
      const { service } = world;
      const url = service.url + ENDPOINTS.get(operationId)!;
      const code = (await examplesOn(url, language)).get(operationId)!;
      let isRun = false;
      await world.replay(operationId, async (call: ExampleCall) => {
        const { method, path, request, status, key } = call;
        if (isRun || status !== 200) {
          return service.call(method, pathOf(path, request), key, request.body, {
            "x-request-id": "5f0c2a1e-8a31-4d3e-9d54-3f1b2f6f6a10",
          });
        }
        isRun = true;
        return { body: await run(language, code, key) };
      });
      expect(isRun).toBe(true);
    },
  );
});

describe.each([...LANGUAGES])("in $name", (language) => {
  beforeAll(openWorld);
  afterAll(() => world.stop());

  test("an order by /api/v2 is placed, and each run places another", async () => {
    const { service, key } = world;
    const code = (await examplesOn(`${service.url}/docs/panels`, language)).get("panel-add")!;
    const orders = [await run(language, code, key), await run(language, code, key)];
    expect(orders).toEqual([{ order: expect.any(Number) }, { order: expect.any(Number) }]);
    expect(orders[0]).not.toEqual(orders[1]);
  });

  test("the quick start runs from its first step to its last, and again", async () => {
    const { service, key } = world;
    const steps = await examplesOn(`${service.url}/docs`, language);
    expect([...steps.keys()]).toEqual(["try-balance", "try-services", "try-order", "try-status"]);
    const orders: number[] = [];
    for (const round of [1, 2]) {
      for (const [name, code] of steps) {
        const answer = (await run(language, code, key)) as {
          status: string;
          order?: { orderId: number };
        };
        expect([round, name, answer.status]).toEqual([round, name, "success"]);
        if (name === "try-order") orders.push(answer.order!.orderId);
      }
    }
    expect(new Set(orders).size).toBe(2);
  });
});
