// By which names the panel answers, and where its links lead: never to a name that someone else chose.

import { afterEach, expect, test } from "bun:test";
import type { PanelSettings } from "../../../src/panel/server/panel.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
afterEach(() => panel.stop());

const NUMERIC = ["127.0.0.1", "192.0.2.7:8081", "[2001:db8::1]:8081", "[::1]", "localhost:8081"];
const NAMED = ["panel.example", "evil.example:8081", "localhost.evil.example", "0x7f.1"];
const MALFORMED = [
  "evil.example/x",
  "a@127.0.0.1",
  "127.0.0.1#",
  "127.0.0.1:x",
  "[::1",
  "127.0.0.1 b",
];

async function ask(host: string, path: string, fields: Record<string, string> | null) {
  const cookie = panel.session("tester");
  const body = fields === null ? {} : { method: "POST", body: new URLSearchParams(fields) };
  return panel.ask(path, { ...body, headers: { host, cookie, "sec-fetch-site": "same-origin" } });
}

const open = async (settings: Partial<PanelSettings>) => {
  panel = await openPanel({ settings });
};
const invited = { name: "zoe", role: "support" };
const linkIn = (text: string) => /<pre id="link">([^<]*)\/setup#/.exec(text)?.[1];

test("without --panel-url it serves IP addresses and localhost; other names do nothing and get advice", async () => {
  await open({});
  for (const host of NUMERIC) {
    const { status, text } = await ask(host, "/administrators", invited);
    expect([host, status, linkIn(text)]).toEqual([host, 200, `http://${host}`]);
  }
  const entries = () => panel.query("SELECT seq FROM audit").length;
  const before = entries();
  for (const host of [...NAMED, ...MALFORMED]) {
    for (const [path, fields] of [
      ["/administrators", invited],
      ["/sign-in", null],
    ] as const) {
      const { status, text } = await ask(host, path, fields);
      expect([host, status]).toEqual([host, 421]);
      expect(text).toContain("--panel-url");
      expect(text).not.toContain(host);
    }
  }
  expect(entries()).toBe(before);
});

test("with its own TLS any well-formed name is accepted, because the browser checked the certificate", async () => {
  await open({ isSecure: true });
  for (const host of [...NUMERIC, "panel.example"]) {
    const { text } = await ask(host, "/administrators", invited);
    expect(linkIn(text)).toBe(`https://${host}`);
  }
  for (const host of MALFORMED) expect((await ask(host, "/sign-in", null)).status).toBe(421);
});

test("with --panel-url every link has it, whatever Host a proxy sends", async () => {
  await open({ url: "https://panel.example", isSecure: true });
  for (const host of [...NUMERIC, ...NAMED]) {
    const { text } = await ask(host, "/administrators", invited);
    expect(linkIn(text)).toBe("https://panel.example");
  }
});

test("a form without Sec-Fetch-Site must come from the panel's own origin, scheme and port included", async () => {
  await open({});
  const cookie = panel.session("tester");
  const post = async (origin: string, host: string) => {
    const body = new URLSearchParams({ name: "x" });
    const headers = { cookie, origin, host };
    return (await panel.ask("/account/sessions", { method: "POST", body, headers })).status;
  };
  const host = "192.0.2.7:8081";
  expect(await post(`http://${host}`, host)).toBe(422);
  for (const origin of [`https://${host}`, "http://192.0.2.7", "http://evil.example", "null"]) {
    expect([origin, await post(origin, host)]).toEqual([origin, 403]);
  }
  await panel.stop();
  await open({ url: "https://panel.example", isSecure: true });
  const own = `__Host-${panel.session("tester").split("__Host-")[1]}`;
  const send = async (origin: string, to: string) => {
    const body = new URLSearchParams({ name: "x" });
    const headers = { cookie: own, origin, host: to };
    return (await panel.ask("/account/sessions", { method: "POST", body, headers })).status;
  };
  expect(await send("https://panel.example", "10.0.0.1:8081")).toBe(422);
  expect(await send("https://evil.example", "evil.example")).toBe(403);
  // Through a tunnel, past the proxy.
  expect(await send("http://127.0.0.1:8081", "127.0.0.1:8081")).toBe(422);
  expect(await send("http://127.0.0.1:8082", "127.0.0.1:8081")).toBe(403);
});
