// Ten tasks of an operator's month, each as a person does it who has never seen the panel, from Today, on a quickstart.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { expect } from "bun:test";
import type { BrowserContext } from "playwright-core";
import { PROVIDER_KEY, type Upstream } from "../../support/peers/upstream.ts";
import { OK, type Receiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";
import { type Person, personAt } from "./person.ts";
import type { Quickstart } from "./quickstart.ts";

const FAILURE = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 6\r\n\r\nbroken";

export interface Market extends Quickstart {
  upstream: Upstream;
  receiver: Receiver;
  context: BrowserContext;
  /** What the shop's API answers the demo reseller. */
  api: (
    method: string,
    path: string,
    body?: object,
  ) => Promise<Record<string, Record<string, unknown>>>;
  /** A page as the administrator gets it who is signed in. */
  shown: (path: string) => Promise<string>;
}

export interface Task {
  title: string;
  clicks: number;
  fields: number;
  /** Makes what it is about; returns what the steps need to know. */
  prepare?: (market: Market) => Promise<string>;
  run: (person: Person, market: Market, known: string) => Promise<void>;
}

const addProvider = ({ command, upstream }: Market, name: string, ...settings: string[]) =>
  command(
    ["admin", "provider", "create", name, "--url", upstream.url, "--key-stdin", ...settings],
    PROVIDER_KEY,
  );

const listed = (service: number, rate: string) => ({
  service,
  name: `Reels ${service}`,
  rate,
  type: "Default",
  min: "10",
  max: "1000",
  category: "Reels",
});

export const TASKS: readonly Task[] = [
  {
    title: "Approve what a reseller asks: to cancel an order",
    clicks: 1,
    fields: 0,
    async prepare({ api }) {
      const order = { service: "instagram-likes", link: "https://example.com/p", quantity: 1000 };
      const { orderId } = (await api("POST", "/orders", order))["order"]!;
      await api("POST", `/orders/${String(orderId)}/cancel`);
      return String(orderId);
    },
    async run({ click, text }, { api }, id) {
      await click("Approve, refund 0.45 USD request 1");
      expect(await text()).toContain(`Order ${id} is cancelled, 0.45 USD refunded.`);
      expect(await api("GET", `/orders/${id}`)).toMatchObject({ order: { status: "CANCELLED" } });
    },
  },
  {
    title: "Let a reseller have at most one open order",
    clicks: 3,
    fields: 1,
    async prepare({ api }) {
      const order = { service: "instagram-likes", link: "https://example.com/q", quantity: 1000 };
      return String((await api("POST", "/orders", order))["order"]!["orderId"]);
    },
    async run({ click, type, text }, { api, command, key, url }) {
      const order = { service: "instagram-likes", link: "https://example.com/r", quantity: 1000 };
      await click("Resellers");
      await click("demo");
      await type("Open orders", "1");
      await click("Save the limits");
      expect(await text()).toContain("The limits are saved.");
      const refused = await fetch(`${url}/api/v1/orders`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify(order),
      });
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining("At most 1 order may be open; place more when some have ended"),
      ]);
      await command(["admin", "user", "limits", "demo", "--open-orders", "default"]);
      expect((await api("POST", "/orders", order))["order"]).toBeDefined();
    },
  },
  {
    title: "Give a service a second provider, for orders that the first refuses",
    clicks: 4,
    fields: 2,
    async prepare(market) {
      market.upstream.services = [listed(1, "1")];
      await addProvider(market, "first");
      await addProvider(market, "second");
      const sync = ["--markup", "50%", "--readable-ids"];
      await market.command(["admin", "provider", "sync", "first", ...sync]);
      return "";
    },
    async run({ click, type, choose, text }) {
      await click("Catalogue");
      await click("Reels 1");
      await click("Add a route or change a priority");
      await choose("Provider", "second", "#routes ~ details");
      await type("Service id at the provider", "901", "#routes ~ details");
      await click("Save the route");
      expect(await text()).toContain("The route to second was saved.");
      expect(await text()).toMatch(/2\s+second\s+901/);
    },
  },
  {
    title: "Find what each service has earned this month, and take it along as CSV",
    clicks: 3,
    fields: 0,
    async run({ page, click, text }) {
      await click("Reports");
      await click("By service");
      expect(await text()).toMatch(/Margin USD[^]+Instagram Followers[^]+Total/);
      const downloading = page.waitForEvent("download");
      await click("CSV");
      const file = readFileSync(await (await downloading).path(), "utf8");
      expect(file).toMatch(/^key,orders,revenue,refunds,net,cost,margin\r\n/);
      expect(file).toContain("\ninstagram-followers,");
    },
  },
  {
    title: "Be alerted at an address of your own, and try it",
    clicks: 5,
    fields: 1,
    async run({ click, type, text }, { receiver }) {
      const url = `http://127.0.0.1:${receiver.port}/alerts`;
      await click("Alerts");
      await click("Send alerts to a URL or to Telegram");
      await type("Address", url);
      await click("Send alerts");
      expect(await text()).toMatch(/whsec_\S{20,}/);
      await click("Done");
      await click(`Test: ${url}`);
      expect(await text()).toContain("A test alert is being sent.");
      await until(() => receiver.received.some(({ head }) => head.includes("/alerts")));
      expect(receiver.received.at(-1)!.body).toContain("This is a test");
    },
  },
  {
    title: "See why a shop's webhook fails, and send again what failed",
    clicks: 4,
    fields: 0,
    async prepare({ command, receiver, shown }) {
      receiver.answer = FAILURE;
      const url = `http://127.0.0.1:${receiver.port}/shop`;
      const allowed = ["--webhook-allow", "127.0.0.0/8", "--webhook-allow-http", "on"];
      const create = ["admin", "webhook", "create", "--user", "demo", "--url", url, ...allowed];
      const { id } = (await command(create)) as { id: string };
      await command(["admin", "webhook", "test", id]);
      await until(async () => (await shown(`/users/demo/webhooks/${id}`)).includes("broken"));
      receiver.answer = OK;
      return url;
    },
    async run({ page, click, text }, { receiver }, url) {
      await click("Resellers");
      await click("demo");
      await click(url);
      expect(await text()).toMatch(/webhook\.test\s+1\s+500 status\s+\d+\s+broken/);
      const again = page.getByRole("button", { name: /^Send again: / });
      await click((await again.getAttribute("aria-label"))!);
      expect(await text()).toContain("1 is being sent again.");
      await until(() => receiver.received.filter(({ head }) => head.includes("/shop")).length > 1);
    },
  },
  {
    title: "Look at what a provider changed in its list, and take it over",
    clicks: 5,
    fields: 0,
    async prepare(market) {
      market.upstream.services = [listed(11, "1"), listed(12, "2")];
      await addProvider(market, "reels", "--markup", "50%");
      await market.command(["admin", "provider", "sync", "reels"]);
      market.upstream.services = [listed(11, "1.2"), listed(13, "3")];
      return "";
    },
    async run({ click, text }) {
      await click("Providers");
      await click("reels");
      await click("Prices and syncs");
      await click("Preview the sync");
      expect(await text()).toMatch(/Added 1[^]+Reels 13[^]+4\.50/);
      expect(await text()).toMatch(/Changed 1[^]+Reels 11[^]+1\.5\s+1\.8/);
      expect(await text()).toMatch(/No longer listed: deactivated 1[^]+Reels 12/);
      await click("Sync reels: change 3 services");
      expect(await text()).toContain("Synced: 1 added, 1 changed, 1 no longer listed.");
    },
  },
  {
    title: "Raise the prices of a platform by 5 %",
    clicks: 5,
    fields: 2,
    async run({ click, type, text }, { api }) {
      await click("Catalogue");
      await type("Name contains, or id", "instagram");
      await click("Search");
      await click("Change prices");
      await type("Change prices by percent", "5");
      await click("Show the new prices");
      expect(await text()).toMatch(/Instagram Followers\s+2\.32\s+2\.436/);
      await click("Change 2 prices by 5 %");
      expect(JSON.stringify(await api("GET", "/services"))).toContain('"price":2.436');
    },
  },
  {
    title: "Invite a colleague, who signs up and sets up a second factor",
    clicks: 7,
    fields: 4,
    async run({ click, type, choose, text, counts }, { context }) {
      await click("Administrators");
      await type("Name", "nina");
      await choose("Role", "operator");
      await click("Invite");
      const [link] = /http:\S+\/setup#\S+/.exec(await text())!;
      const other = await context.browser()!.newContext();
      other.setDefaultTimeout(0);
      const page = await other.newPage();
      const colleague = personAt(page);
      await page.goto(link);
      await colleague.type("Choose a password", "several easy words");
      await colleague.click("Continue");
      await colleague.click("nina operator");
      await colleague.click("Set up the second factor");
      const secret = (await page.locator("#secret").textContent())!.replaceAll(" ", "");
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
      await colleague.type("Code", code);
      await colleague.click("Turn on");
      expect((await colleague.text()).match(/^(\w{4}-){3}\w{4}$/gm)).toHaveLength(10);
      await colleague.click("I have saved them");
      await other.close();
      counts.clicks += colleague.counts.clicks;
      counts.fields += colleague.counts.fields;
    },
  },
  {
    title: "Erase the personal data of a user who asks for it",
    clicks: 7,
    fields: 1,
    async prepare({ command }) {
      await command(["admin", "user", "create", "leaver", "--name", "Lea Ver"]);
      return "";
    },
    async run({ click, type, text }, { command }) {
      await click("Resellers");
      await click("leaver");
      await click("Deactivate");
      await click("Deactivate leaver");
      await click("Erase personal data");
      await type("Why", "asked for by letter");
      await click("Erase");
      await click("Erase the personal data of leaver");
      expect(await text()).toContain("The personal data was erased.");
      expect(JSON.stringify(await command(["admin", "user", "list"]))).not.toContain("Lea Ver");
    },
  },
  {
    title: "Make a backup and verify it",
    clicks: 5,
    fields: 0,
    async run({ page, click, text }, { data, shown }) {
      await click("System");
      await click("Back up now");
      expect(await text()).toContain("A backup is being made.");
      await until(() => readdirSync(join(data, "backups")).some((file) => file.endsWith(".db")));
      await until(async () => (await shown("/system")).includes("Verify"));
      // What is shown does not change by itself without JavaScript.
      await click("System");
      const verify = page.getByRole("button", { name: /^Verify / });
      await click((await verify.innerText()).replace(/\s+/g, " "));
      await until(async () => (await shown("/system")).includes("adds up"));
      await click("System");
      expect(await text()).toContain("adds up");
    },
  },
];
