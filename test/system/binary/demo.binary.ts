// `demo`: the first minute without a clone; and `demo --public`, with what visitors may try against it and against each
// other.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "bun:test";
import { PANEL_FORMS, PORTAL_FORMS } from "../../../src/cli/server/demo-forms.ts";
import { ROUTES as PANEL_ROUTES } from "../../../src/panel/server/routes.ts";
import { demoRoutes } from "../../../src/portal/payments/demo-payment.tsx";
import { ROUTES as PORTAL_ROUTES } from "../../../src/portal/server/routes.ts";
import {
  binary,
  binaryWith,
  type Serving,
  serving,
  servingAs,
  stop,
} from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { startReceiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";

interface Demo {
  server: Serving;
  panel: string;
  portal: string;
  key: string;
  /** Name and password by site. */
  signIns: { panel: [string, string][]; portal: [string, string][] };
}

function read(server: Serving): Demo {
  const text = server.stdout();
  const [panelPart, portalPart] = text.split("Portal of a reseller:");
  const signIns = (part: string) =>
    [...part.matchAll(/sign in as (\S+) with (\S+)/g)].map(
      ([, name, password]) => [name!, password!] as [string, string],
    );
  return {
    server,
    panel: /Panel of the operator: +(\S+)/.exec(text)![1]!,
    portal: `${server.url}/portal`,
    key: /rk_[0-9A-Za-z]{28}/.exec(text)![0],
    signIns: { panel: signIns(panelPart!), portal: signIns(portalPart!) },
  };
}

let visitors = 0;
/** The header that makes a request come from a visitor of its own. */
const visitor = (number = ++visitors) => ({
  "x-forwarded-for": `198.18.${number >> 8}.${number & 255}`,
});
const BEHIND_PROXY = ["--trusted-proxy", "127.0.0.1"];

async function send(
  base: string,
  path: string,
  fields: Record<string, string> | null,
  headers: Record<string, string> = {},
): Promise<Response> {
  const form = fields && { method: "POST", body: new URLSearchParams(fields) };
  const { origin } = new URL(base);
  return fetch(base + path, { ...form, redirect: "manual", headers: { origin, ...headers } });
}

/** The route tables, with what a demo adds. */
const SITES = [
  { site: "panel", routes: PANEL_ROUTES, open: PANEL_FORMS },
  { site: "portal", routes: [...PORTAL_ROUTES, ...demoRoutes], open: PORTAL_FORMS },
].map(({ site, routes, open }) => {
  const pathsOf = (method: string) => [
    ...new Set(routes.filter((route) => route.method === method).map(({ path }) => path)),
  ];
  return { site: site as "panel" | "portal", open, forms: pathsOf("POST"), pages: pathsOf("GET") };
});

const FIELDS = { name: "x", password: "an other password", url: "https://example.com/" };
const IN_PATH: Record<string, string> = {
  user: "demo",
  provider: "demo-provider",
  order: "1",
  service: "instagram-followers",
  method: "demo-card",
  kind: "cancel",
};

/** Returns the path of a route with things that a demo has. */
function filled(path: string): string {
  return path.replace(/:(\w+)/g, (_, name: string) => IN_PATH[name] ?? "x");
}

/** Signs in and returns the cookie; empty if refused. */
async function signIn(
  demo: Demo,
  site: "panel" | "portal",
  [name, password]: [string, string],
  headers: Record<string, string> = {},
): Promise<string> {
  const fields = { [site === "panel" ? "name" : "email"]: name, password };
  const response = await send(demo[site], "/sign-in", fields, headers);
  return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

test("the printed sign-ins lead into panel and portal, and the printed order is delivered", async () => {
  const server = await serving(freshFolder(), "demo");
  const demo = read(server);
  expect(demo.signIns.panel).toHaveLength(1);
  expect(demo.signIns.portal).toHaveLength(1);
  for (const site of ["panel", "portal"] as const) {
    const cookie = await signIn(demo, site, demo.signIns[site][0]!);
    expect(cookie).not.toBe("");
    const page = await send(demo[site], "/", null, { cookie });
    expect(page.status).toBe(200);
    const text = await (await send(demo[site], "/sign-in", null)).text();
    for (const [name, password] of demo.signIns[site]) {
      expect(text).toContain(name);
      expect(text).toContain(password);
    }
  }
  const command = /^ *(curl .+)$/m.exec(server.stdout())![1]!;
  const place = () => JSON.parse(Bun.spawnSync(["bash", "-c", command]).stdout.toString());
  const placed = place();
  expect(placed).toMatchObject({ status: "success", order: { charge: 2.32 } });
  // Its Idempotency-Key makes the same command place no second order.
  expect(place()).toEqual(placed);
  const { orderId } = placed.order;
  await until(async () => {
    const { body } = await callApi(server.url, "GET", `/orders/${orderId}`, demo.key);
    // The key's limit refuses some of these polls.
    return body.order?.status === "PROCESSING" && body.order.remains < 1000;
  });
  await stop(server);
});

test("funds are added through the demo's own payment page, once however often it is sent", async () => {
  const server = await serving(freshFolder(), "demo");
  const demo = read(server);
  const cookie = await signIn(demo, "portal", demo.signIns.portal[0]!);
  const balance = async () => (await callApi(server.url, "GET", "/balance", demo.key)).body.balance;
  const before = await balance();
  const fields = { method: "demo-card", amount: "12.50" };
  const review = await (await send(demo.portal, "/add-funds", fields, { cookie })).text();
  const token = /name="token" value="([^"]+)"/.exec(review)![1]!;
  const asked = await send(demo.portal, "/add-funds", { ...fields, token }, { cookie });
  const link = asked.headers.get("location")!;
  const id = /[a-z0-9]{24}/.exec(link)![0];
  const payment = await (await send(demo.portal, `/payments/${id}`, null, { cookie })).text();
  const [payUrl] = /http[^"]+demo-payments[^"]+/.exec(payment)!;
  expect(payUrl).toBe(`${demo.portal}/demo-payments/${id}`);
  expect((await send(demo.portal, `/demo-payments/${id}`, null, { cookie })).status).toBe(200);
  expect(await balance()).toBe(before);
  for (let times = 0; times < 3; times++) {
    const paid = await send(demo.portal, `/demo-payments/${id}`, {}, { cookie });
    expect(paid.headers.get("location")).toBe(`/portal/payments/${id}`);
    expect(await balance()).toBe(before + 12.5);
  }
  await stop(server);
});

test("without --data nothing of it stays; with --data the next start has the same data and sign-ins", async () => {
  const folder = freshFolder();
  const first = read(await serving(folder, "demo"));
  const told = () => /"path":"([^"]+)"/.exec(first.server.stderr());
  await until(() => told() !== null);
  const path = told()![1]!;
  expect(path).toStartWith(tmpdir());
  expect(existsSync(path)).toBe(true);
  await stop(first.server);
  expect(existsSync(dirname(path))).toBe(false);

  const kept = read(await serving(folder, "demo", "--data", "kept"));
  await stop(kept.server);
  const again = read(await serving(folder, "demo", "--data", "kept"));
  expect([again.key, again.signIns]).toEqual([kept.key, kept.signIns]);
  const { status } = await callApi(again.server.url, "GET", "/balance", again.key);
  expect(status).toBe(200);
  await stop(again.server);
});

test("a start that fails leaves no folder", async () => {
  const folder = freshFolder();
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const inUse = ["--port", String(taken.port)];
  const failing = [
    [1, inUse],
    [1, [...inUse, "--public"]],
    [2, ["--host", "0.0.0.0"]],
  ] as const;
  for (const [expected, argv] of failing) {
    const { code } = await binaryWith({ TMPDIR: folder }, folder, "demo", ...argv);
    expect([argv, code, readdirSync(folder)]).toEqual([argv, expected, []]);
  }
  taken.stop();
  const unusable = [
    [{ TMPDIR: join(folder, "missing") }, []],
    [{}, ["--data", "/proc/demo"]],
    [{}, ["--data", "/dev/null"]],
  ] as const;
  for (const [environment, argv] of unusable) {
    for (const mode of [[], ["--public"]]) {
      const { code, stderr } = await binaryWith(environment, folder, "demo", ...argv, ...mode);
      expect([argv, code, stderr]).toEqual([argv, 1, expect.stringContaining("cannot be used")]);
    }
  }
});

test("a database that no demo has made is refused and left as it is", async () => {
  const folder = freshFolder();
  await stop(await serving(folder, "serve", "--data", "real"));
  const before = readFileSync(join(folder, "real/reseller.db"));
  for (const mode of [[], ["--public"]]) {
    const { code, stderr } = await binary(folder, "demo", "--data", "real", "--port", "0", ...mode);
    expect([code, stderr]).toEqual([1, expect.stringContaining("is not a demo's")]);
  }
  expect(readFileSync(join(folder, "real/reseller.db")).equals(before)).toBe(true);
});

describe("a public demo", () => {
  test("leaves the data of another one that runs in the same folder", async () => {
    const folder = freshFolder();
    const argv = ["demo", "--public", "--data", "shared"];
    const first = read(await serving(folder, ...argv));
    const { code, stderr } = await binary(folder, ...argv, "--port", "0");
    expect([code, stderr]).toEqual([1, expect.stringContaining("another server uses")]);
    const { status } = await callApi(first.server.url, "GET", "/balance", first.key);
    expect(status).toBe(200);
    await stop(first.server);
    // What a killed one has left is removed.
    const killed = await serving(folder, ...argv);
    killed.kill("SIGKILL");
    await killed.ended;
    const again = await serving(folder, ...argv);
    const left = readdirSync(join(folder, "shared"));
    expect(left.filter((name) => name.startsWith("demo-"))).toEqual(["demo-1"]);
    await stop(again);
  });

  test("refuses every form to every role and to strangers but those of its list, and all can still sign in", async () => {
    const demo = read(await serving(freshFolder(), "demo", "--public", ...BEHIND_PROXY));
    for (const { site, forms, open } of SITES) {
      // The list names no form that there is none of.
      expect(open.filter((path) => !forms.includes(path))).toEqual([]);
      const closed = forms.filter((path) => !open.includes(path));
      expect(closed.length).toBeGreaterThan(15);
      for (const person of [null, ...demo.signIns[site]]) {
        const cookie = person && (await signIn(demo, site, person, visitor()));
        expect(cookie).not.toBe("");
        const taken: string[] = [];
        for (const path of closed) {
          const headers = { ...(cookie && { cookie }), ...visitor() };
          const reply = await send(demo[site], filled(path), FIELDS, headers);
          const isSentAway =
            cookie === null && /\/sign-in/.test(reply.headers.get("location") ?? "");
          if (reply.status !== 403 && !isSentAway) taken.push(`${path}: ${reply.status}`);
          for (const method of ["PUT", "PATCH", "DELETE", "QUERY"]) {
            const { status } = await fetch(demo[site] + filled(path), { method, headers });
            if (status !== 404) taken.push(`${method} ${path}: ${status}`);
          }
        }
        expect(taken).toEqual([]);
      }
    }
    for (const { site } of SITES) {
      for (const person of demo.signIns[site]) {
        expect(await signIn(demo, site, person, visitor())).not.toBe("");
      }
    }
    await stop(demo.server);
  });

  test("changes no terms of what all use, by whatever spelling; visitors change what they have made", async () => {
    const demo = read(await serving(freshFolder(), "demo", "--public", ...BEHIND_PROXY));
    const services = async () => {
      const { body } = await callApi(
        demo.server.url,
        "GET",
        "/services",
        demo.key,
        undefined,
        visitor(),
      );
      return body.services;
    };
    const before = await services();
    const cookie = await signIn(demo, "panel", demo.signIns.panel[0]!, visitor());
    const post = (path: string, fields: Record<string, string>) =>
      send(demo.panel, path, fields, { cookie, ...visitor() });
    const terms = {
      name: "Own",
      category: "Own",
      price: "900000",
      per: "1000",
      min: "1",
      max: "1000",
    };
    const rest = { type: "default", dripfeed: "no", kind: "public" };
    for (const { id } of before) {
      const paths = [`/services/${id}`, `/services/${id.replaceAll("-", "%2D")}`];
      for (const at of paths.flatMap((path) => [path, `${path}/grants`, `${path}/grants/revoke`])) {
        const { status } = await post(at, { ...terms, ...rest, username: "demo", price: "9" });
        expect([at, status]).toEqual([at, 403]);
      }
    }
    for (const user of ["demo", "DEMO", "%64emo"]) {
      for (const path of ["discount", "prices", "prices/remove"]) {
        const fields = { service: "instagram-likes", price: "9", percent: "0" };
        const { status } = await post(`/users/${user}/${path}`, fields);
        expect([user, path, status]).toEqual([user, path, 403]);
      }
    }
    expect(await services()).toEqual(before);
    expect((await post("/services", { ...terms, ...rest, id: "own" })).status).toBe(303);
    expect((await post("/services/own", { ...terms, ...rest, price: "880000" })).status).toBe(303);
    expect((await post("/users/corner-shop/discount", { percent: "5" })).status).toBe(303);
    // It costs most of what the reseller has, which is credited again.
    const order = { service: "own", link: "https://example.com/me", quantity: 1000 };
    const placed = await callApi(demo.server.url, "POST", "/orders", demo.key, order, visitor());
    expect(placed.body.order).toMatchObject({ charge: 880_000 });
    await until(async () => {
      const { body } = await callApi(
        demo.server.url,
        "GET",
        "/balance",
        demo.key,
        undefined,
        visitor(),
      );
      return body.balance === 1_000_000;
    });
    await stop(demo.server);
  });

  test("opens no connection, looks up no name and shows no visitor's address, whatever visitors open and enter", async () => {
    const folder = freshFolder();
    const calls = join(folder, "calls");
    // -D: the traced program is the child of this process, so that signals reach it.
    const traced = ["strace", "-D", "-f", "-o", calls];
    const calling = ["-e", "trace=connect,sendto,sendmsg,sendmmsg"];
    const server = await servingAs(
      [...traced, ...calling], {}, folder, "demo", "--public", "--data", "demo", ...BEHIND_PROXY,
    ); // prettier-ignore
    const demo = read(server);
    const receiver = await startReceiver();
    const inner = `http://127.0.0.1:${receiver.port}/`;
    const targets = [
      inner,
      "https://hooks.example.com/",
      "https://8.8.8.8/",
      "https://[2606:4700::1111]/",
      "https://[::ffff:127.0.0.1]/",
      "https://2130706433/",
      "http://169.254.169.254/",
    ];
    for (const url of targets) {
      const body = { url, events: ["*"] };
      const made = await callApi(server.url, "POST", "/webhooks", demo.key, body, visitor());
      expect([url, made.status]).toEqual([url, 400]);
    }
    const order = { service: "instagram-followers", link: inner, quantity: 50 };
    const placed = await callApi(server.url, "POST", "/orders", demo.key, order, visitor());
    expect(placed.status).toBe(200);
    let opened = 0;
    const shown: string[] = [];
    for (const { site, forms, pages } of SITES) {
      for (const person of demo.signIns[site]) {
        await signIn(demo, site, person, visitor());
        const cookie = await signIn(demo, site, person, visitor());
        const addresses = forms.flatMap((path) => (path === "/sign-out" ? [] : [filled(path)]));
        for (const path of addresses) {
          const fields = { ...FIELDS, url: inner, address: inner, link: inner, "pay-url": inner };
          await (await send(demo[site], path, fields, { cookie, ...visitor() })).arrayBuffer();
        }
        for (const path of pages.map(filled)) {
          const page = await send(demo[site], path, null, { cookie, ...visitor() });
          const text = await page.text();
          expect([path, page.status]).not.toEqual([path, 500]);
          if (page.status === 200) opened++;
          const links = [...text.matchAll(/href="(https?:[^"]+)"/g)].map(([, link]) => link!);
          // Links lead to the server itself, not to where somebody typed.
          const isOwn = links.every((link) => link.startsWith(server.url));
          if (text.includes("198.18.") || !isOwn) shown.push(`${person[0]}: ${path}`);
        }
      }
    }
    expect(opened).toBeGreaterThan(100);
    expect(shown).toEqual([]);
    await stop(server);
    expect(receiver.connections()).toBe(0);
    await receiver.stop();
    await until(() => readFileSync(calls, "utf8").includes("+++ exited with 0 +++"));
    const outside = readFileSync(calls, "utf8")
      .split("\n")
      .filter((line) => /AF_INET/.test(line));
    expect(outside).toEqual([]);
  });

  test("limits each visitor by itself: requests, changes and sign-ins", async () => {
    const demo = read(await serving(freshFolder(), "demo", "--public", ...BEHIND_PROXY));
    const [flood, other] = [visitor(), visitor()];
    const statuses = async (count: number, ask: () => Promise<Response>) => {
      const replies = await Promise.all(
        Array.from({ length: count }, async () => (await ask()).status),
      );
      return replies.filter((status) => status === 429).length;
    };
    const page = (headers: Record<string, string>) => () =>
      send(demo.portal, "/sign-in", null, headers);
    expect(await statuses(500, page(flood))).toBeGreaterThan(200);
    expect(await statuses(30, page(other))).toBe(0);
    const enter = (headers: Record<string, string>) => () =>
      send(demo.panel, "/sign-in", { name: "operator", password: "wrong wrong wrong" }, headers);
    const guesser = visitor();
    expect(await statuses(60, enter(guesser))).toBeGreaterThanOrEqual(40);
    // Wrong passwords of one visitor lock nobody else out.
    expect(await signIn(demo, "panel", demo.signIns.panel[0]!, visitor())).not.toBe("");
    const order = (headers: Record<string, string>) => () =>
      fetch(`${demo.server.url}/api/v1/orders`, { method: "POST", body: "{}", headers });
    const buyer = visitor();
    expect(await statuses(200, order(buyer))).toBeGreaterThan(70);
    expect(await statuses(20, order(visitor()))).toBe(0);
    await stop(demo.server);
  });

  test("is reset under load without losing or refusing a request, and then has its first data again", async () => {
    const demo = read(
      await serving(freshFolder(), "demo", "--public", "--reset-every", "10s", ...BEHIND_PROXY),
    );
    const { server, key } = demo;
    const resets = () => server.stderr().split("demo: begun anew").length - 1;
    const refused: string[] = [];
    let answered = 0;
    const ask = async (path: string, body?: object) => {
      const sent = body && { method: "POST", body: JSON.stringify(body) };
      const headers = { "x-api-key": key, "content-type": "application/json", ...visitor() };
      try {
        const response = await fetch(server.url + path, { ...sent, headers });
        if (response.status !== 200)
          refused.push(`${path}: ${response.status} ${await response.text()}`.slice(0, 200));
        else await response.arrayBuffer();
        answered++;
      } catch (error) {
        refused.push(`${path}: ${String(error)}`);
      }
    };
    const order = { service: "instagram-likes", link: "https://example.com/p", quantity: 10 };
    const client = async () => {
      while (resets() < 3) {
        await ask("/api/v1/orders", order);
        await ask("/api/v1/services");
        await ask("/portal/sign-in");
      }
    };
    await Promise.all(Array.from({ length: 4 }, client));
    expect(refused).toEqual([]);
    expect(answered).toBeGreaterThan(300);
    const { body } = await callApi(server.url, "GET", "/orders", key, undefined, visitor());
    expect(body.orders.length).toBeLessThan(answered);
    // Open files of removed databases would still take their space.
    const opened = readdirSync(`/proc/${server.pid}/fd`).map((name) => {
      try {
        return readlinkSync(`/proc/${server.pid}/fd/${name}`);
      } catch {
        return "closed since it was listed";
      }
    });
    expect(opened.filter((path) => path.endsWith("(deleted)"))).toEqual([]);
    await stop(server);
  });

  test("behind names of its own, shows those and takes sign-ins there", async () => {
    const names = { panel: "https://panel.example.com", portal: "https://demo.example.com" };
    const urls = ["--panel-url", names.panel, "--portal-url", names.portal];
    const server = await serving(freshFolder(), "demo", "--public", ...urls, ...BEHIND_PROXY);
    const text = server.stdout();
    expect(text).toContain(`Panel of the operator:   ${names.panel}\n`);
    expect(text).toContain(`Portal of a reseller:    ${names.portal}/portal\n`);
    expect(text).toContain(` ${names.portal}/api/v1/orders -d`);
    const fields = { email: "buyer@shop.example", password: "everybody-may-try" };
    const { host } = new URL(names.portal);
    const headers = { origin: names.portal, host, ...visitor() };
    const entered = await send(`${server.url}/portal`, "/sign-in", fields, headers);
    expect(entered.headers.get("location")).toBe("/portal/");
    expect(entered.headers.getSetCookie()[0]).toContain("; Secure; ");
    await stop(server);
  });

  test("is reset as soon as visitors have filled it", async () => {
    const demo = read(
      await serving(freshFolder(), "demo", "--public", "--reset-above", "2MiB", ...BEHIND_PROXY),
    );
    const order = { service: "profile-review", link: `https://example.com/${"x".repeat(1900)}` };
    const orders = Array.from({ length: 25 }, () => ({ ...order, quantity: 1 }));
    await until(async () => {
      await callApi(demo.server.url, "POST", "/orders/batch", demo.key, { orders }, visitor());
      return demo.server.stderr().includes("demo: begun anew");
    });
    await stop(demo.server);
  });
});
