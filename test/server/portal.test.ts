// The portal as `serve` starts it, asked over HTTP: the operator's name, logo and colour; on the API's listener and on one
// of its own.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { freshDatabase } from "../support/databases/test-database.ts";
import { openService, TEST_CONFIG } from "../support/worlds/service.ts";
import { random } from "../../src/web/server/random.ts";
import { hashSecret } from "../../src/web/sessions/session-cookie.ts";
import { newToken } from "../../src/web/sessions/tokens.ts";

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0x00]);
const WEBP = Buffer.from("RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "latin1");
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>');

function database(logo: Uint8Array | null = null) {
  const made = freshDatabase();
  const portalLogo = logo && join(made.folder, "logo");
  if (portalLogo) writeFileSync(portalLogo, logo);
  return { made, portalLogo };
}

test.each([
  ["image/png", PNG],
  ["image/jpeg", JPEG],
  ["image/webp", WEBP],
  ["image/svg+xml", SVG],
])(
  "a logo of type %s replaces the name on every page, and may be kept by browsers",
  async (type, logo) => {
    const { made, portalLogo } = database(logo);
    const settings = { portal: true, portalLogo, brand: "Nova & Co" };
    const service = await openService({ database: made, settings });
    for (const path of ["/sign-in", "/forgotten", "/nowhere"]) {
      const page = await (await fetch(`${service.url}/portal${path}`)).text();
      const [, src] = /<img class="logo" src="([^"]+)" alt="Nova &amp; Co"/.exec(page)!;
      expect(src).toStartWith("/portal/assets/");
      const file = await fetch(service.url + src!);
      expect([file.status, file.headers.get("content-type")]).toEqual([200, type]);
      expect(new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array(logo));
      expect(file.headers.get("cache-control")).toContain("immutable");
      expect(page).toContain("<title>");
      expect(page).toContain(" – Nova &amp; Co</title>");
    }
    await service.stop();
  },
);

test.each([
  ["another type", Buffer.from("GIF89a"), "not a PNG, JPEG, WebP or SVG file"],
  ["more than 512 KiB", Buffer.concat([PNG, Buffer.alloc(512 * 1024)]), "longer than 524288 bytes"],
])("with a logo of %s the server does not start, and says why", async (_, logo, why) => {
  const { made, portalLogo } = database(logo);
  const started = openService({ database: made, settings: { portal: true, portalLogo } });
  expect(await started.then(() => "started", String)).toContain(why);
  made.close();
});

/** Contrast of a colour with a background, each as #rrggbb: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio. */
function contrast(one: string, other: string): number {
  const [low, high] = [one, other]
    .map((hex) => {
      const [r, g, b] = [1, 3, 5].map((at) => {
        const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    })
    .toSorted((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

test.each(["#0b57b0", "#ffff00", "#000000", "#ffffff", "#808080"])(
  "the accent %s can be read on both themes",
  async (accent) => {
    const { made } = database();
    const service = await openService({ database: made, settings: { portal: true, accent } });
    const page = await (await fetch(`${service.url}/portal/sign-in`)).text();
    const [, href] = /href="(\/portal\/assets\/[^"]+brand\.css)"/.exec(page)!;
    const sheet = await fetch(service.url + href!);
    expect(sheet.headers.get("content-type")).toStartWith("text/css");
    const [light, dark] = [...(await sheet.text()).matchAll(/--accent:(#[0-9a-f]{6})/g)].map(
      ([, color]) => color!,
    );
    expect(contrast(light!, "#ffffff")).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark!, "#1c1e21")).toBeGreaterThanOrEqual(4.5);
    await service.stop();
  },
);

/** Accepts an invitation as a browser sends the form. Returns the cookie. */
async function accept(
  base: string,
  token: string,
): Promise<{ cookie: string; attributes: string }> {
  const response = await fetch(`${base}/set-up`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ token, password: "a long sentence of my own" }),
    headers: { "sec-fetch-site": "same-origin" },
  });
  expect(response.status).toBe(303);
  const [pair, ...attributes] = response.headers
    .getSetCookie()
    .find((each) => each.startsWith("reseller-portal="))!
    .split("; ");
  return { cookie: pair!, attributes: attributes.join("; ") };
}

test.each([
  ["on the API's listener", { portal: true }, "/portal"],
  ["on a listener of its own", { portalListen: { host: "127.0.0.1", port: 0 } }, ""],
] as const)("%s the portal has its pages, and the API its calls", async (_, settings, prefix) => {
  const { made } = database();
  made.user("alice", "100");
  const { token, invitationHash } = newToken();
  const invitation = { email: "ann@alice.example", name: "Ann", role: "owner", language: "en" };
  made.run("inviteMember", { username: "alice", ...invitation, invitationHash } as never);
  const { text: key } = made.key("alice", "order");
  const service = await openService({ database: made, settings: settings as object });
  const own = readFileSync(join(made.folder, "portal.address"), "utf8").trim();
  const base = prefix === "" ? own : service.url + prefix;
  expect(own === service.url).toBe(false);
  const { cookie, attributes } = await accept(base, token);
  expect(attributes).toBe(`Path=${prefix || "/"}; HttpOnly; SameSite=Strict`);
  const overview = await fetch(`${base}/`, { headers: { cookie } });
  const page = await overview.text();
  expect([overview.status, page.includes("$100.00")]).toEqual([200, true]);
  expect(page).toContain(`href="${prefix}/orders"`);
  // Test mode, on the same listener.
  const enter = await fetch(`${base}/test-mode`, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "sec-fetch-site": "same-origin" },
  });
  expect(enter.headers.get("location")).toBe(`${prefix}/test/`);
  expect(await (await fetch(`${base}/test/`, { headers: { cookie } })).text()).toContain(
    "$1,000.00",
  );
  // The API answers at its own address only, and is no page.
  const call = await fetch(`${service.url}/api/v1/balance`, { headers: { "x-api-key": key } });
  expect([call.status, await call.json()]).toMatchObject([200, { balance: 100 }]);
  if (prefix === "") {
    expect((await fetch(`${service.url}/portal/`)).status).toBe(404);
    expect((await fetch(`${own}/api/v1/balance`, { headers: { "x-api-key": key } })).status).toBe(
      404,
    );
  }
  await service.stop();
});

test("without --portal nothing of it is served", async () => {
  const { made } = database();
  const service = await openService({ database: made, settings: { portal: TEST_CONFIG.portal } });
  for (const path of ["/portal", "/portal/", "/portal/sign-in"]) {
    const response = await fetch(service.url + path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(response.headers.get("content-type")).toStartWith("application/json");
  }
  await service.stop();
});

test.each([
  ["on the API's listener", { portal: true }, "/portal"],
  ["on a listener of its own", { portalListen: { host: "127.0.0.1", port: 0 } }, ""],
] as const)(
  "the panel leads to the portal %s, and sees it as a reseller",
  async (_, served, prefix) => {
    const { made } = database();
    made.user("alice", "100");
    const invitationHash = "1".repeat(64);
    made.run("inviteAdministrator", { name: "olga", role: "operator", invitationHash });
    made.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: "p" });
    const secret = random(32);
    const session = { id: random(16), hash: hashSecret(secret), address: "::1", userAgent: "" };
    const signIn = { attempt: null, person: "olga", passwordHash: "p", session };
    made.run("openSession", { site: "panel", ...signIn });
    const panelListen = { host: "127.0.0.1", port: 0 };
    const settings = { ...served, panelListen } as object;
    const service = await openService({ database: made, settings });
    const [base, panel] = ["portal.address", "panel.address"].map((name) =>
      readFileSync(join(made.folder, name), "utf8").trim(),
    );
    expect(base!.endsWith(prefix)).toBe(true);
    const offered = await fetch(`${panel}/users/alice/members/view`, {
      method: "POST",
      body: new URLSearchParams({ role: "buyer" }),
      headers: { cookie: `reseller=${session.id}.${secret}`, "sec-fetch-site": "same-origin" },
    });
    const [, link, token] = /href="([^"]*)#([\w-]{43})"/.exec(await offered.text())!;
    expect(link).toBe(`${base}/inspection`);
    const opened = await fetch(link!, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: token! }),
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect([opened.status, opened.headers.get("location")]).toEqual([303, `${prefix}/`]);
    const cookie = opened.headers.getSetCookie()[0]!.split(";")[0]!;
    const page = await (await fetch(`${base}/`, { headers: { cookie } })).text();
    expect(page).toContain("You see the pages of alice (Buyer: places orders)");
    expect(page).toContain("$100.00");
    await service.stop();
  },
);
