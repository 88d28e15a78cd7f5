// The pages Services and Service: the catalogue's terms, grants, prices of many, and the import of a list.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findService } from "../../../src/db/catalogue/services.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { refusal } from "../../../src/domain/values/error-table.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { dumpOf } from "../../support/databases/test-database.ts";

let panel: TestPanel;
let onCommand = (_name: string) => {};

beforeAll(async () => {
  panel = await openPanel({ role: "operator", onCommand: (name) => onCommand(name) });
  panel.user("alice", "10");
  panel.user("kid", undefined, "alice");
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
  panel.run("createProvider", provider);
  for (let index = 0; index < 55; index++) {
    panel.service({ id: `s${String(index).padStart(2, "0")}`, name: `Service ${index % 10}` });
  }
  panel.service({
    id: "views",
    name: "<b>Views</b>",
    price: "1",
    provider: { name: "acme", service: "7" },
  });
});
afterAll(() => panel.stop());

const serviceOf = (id: string) => panel.read((reader) => findService(reader, id))!;
const ids = ({ text }: Reply) =>
  [...text.matchAll(/<a href="\/services\/([^"?]+)"><bdi/g)].map(([, id]) => id!);
/** What the form of the page of confirmation carries, and nothing beside it. */
const hidden = ({ text }: Reply): Record<string, string> => {
  const form = /<form method="post" action="\/service-prices"[^]*?<\/form>/.exec(text)![0];
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, value!]));
};
/** The form as the page of confirmation sends it. */
const confirm = (path: string, page: Reply) => panel.post(path, hidden(page));

const TERMS = { name: "New", price: "2.5", per: "1000", min: "10", max: "100", kind: "public" };

describe("a price below what the provider charges", () => {
  const rate = (service: string, text: string, afterOrder = 0) =>
    panel.query(
      `INSERT INTO provider_rates (provider_id, provider_service, after_order, rate, unit, created_at, dripfeed)
        VALUES (1, ?, ?, ?, '1000', 1, 0)`,
      service,
      afterOrder,
      text,
    );
  const rowOf = ({ text }: Reply, id: string) =>
    new RegExp(`<tr>(?:(?!</tr>).)*"/services/${id}".*?</tr>`, "s").exec(text)![0];
  const cell = (row: string, heading: string) =>
    new RegExp(`data-label="${heading}"[^>]*>(.*?)</td>`, "s")
      .exec(row)![1]!
      .replace(/<[^>]+>/g, "");

  beforeAll(() => {
    panel.service({
      id: "loss",
      name: "Loss",
      price: "1",
      provider: { name: "acme", service: "8" },
    });
    panel.service({
      id: "gain",
      name: "Gain",
      price: "1",
      provider: { name: "acme", service: "9" },
    });
    rate("8", "0.5");
    rate("8", "1.2", 1);
    rate("9", "0.75");
    panel.run("grantService", { id: "gain", username: "alice", priceMicros: 600_000 });
  });

  test("has its rate, its margin and a warning in the list, at a reseller's prices too", async () => {
    const list = await panel.get("/services?provider=acme");
    const cells = (page: Reply, id: string) => {
      const row = rowOf(page, id);
      return [cell(row, "Rate USD"), cell(row, "Margin").trim()];
    };
    expect(cells(list, "loss")).toEqual(["1.20", "below cost -20.0 %"]);
    expect(cells(list, "gain")).toEqual(["0.75", "25.0 %"]);
    expect(cells(list, "views")).toEqual(["–", "–"]);
    const alices = await panel.get("/services?provider=acme&user=alice");
    expect(cells(alices, "gain")).toEqual(["0.75", "below cost -25.0 %"]);
  });

  test("has them on its page, for each route and each price of a reseller", async () => {
    const page = await panel.get("/services/loss");
    expect(page.text).toMatch(
      /class="notice bad">The price is below cost: acme charges <span class="money">1.20<\/span> USD per 1000/,
    );
    expect((await panel.get("/services/gain")).text).not.toContain("The price is below cost");
    panel.run("putRoute", { id: "gain", provider: "acme", providerService: "8", priority: null });
    const { text } = await panel.get("/services/gain");
    expect(text).toContain("The price is below cost: acme charges");
    expect(text).toMatch(
      /data-label="Its price USD"[^>]*><span class="money">0.60<\/span> <span class="badge bad">below cost/,
    );
    panel.run("removeRoute", { id: "gain", provider: "acme", providerService: "8" });
  });

  test("is warned of before many prices are changed", async () => {
    const shown = await panel.post("/service-prices", {
      service: "gain",
      percent: "-30",
      query: "",
    });
    expect(shown.text).toMatch(
      /data-label="New margin"[^>]*><span class="badge bad">below cost<\/span> -7.2 %/,
    );
  });

  test("is not warned of when the currency's exchange rate is unknown", async () => {
    panel.query("UPDATE providers SET foreign_currency = 'EUR'");
    const list = await panel.get("/services?provider=acme");
    expect(cell(rowOf(list, "loss"), "Margin")).toBe("–");
    panel.query("UPDATE providers SET foreign_currency = NULL, rate_to_usd = '0.5'");
    const halved = await panel.get("/services?provider=acme");
    expect(cell(rowOf(halved, "loss"), "Rate USD")).toBe("0.60");
    panel.query("UPDATE providers SET rate_to_usd = '1'");
    for (const id of ["gain", "loss"]) {
      if (id === "gain") panel.run("revokeService", { id, username: "alice" });
      panel.run("deleteService", { id });
    }
  });
});

describe("the list", () => {
  test("has every service in pages by name, and its filters in the address", async () => {
    const first = await panel.get("/services");
    const next = /href="([^"]+)" rel="next"/.exec(first.text)![1]!;
    const second = await panel.get(next);
    const all = [...ids(first), ...ids(second)];
    expect(all.length).toBe(56);
    expect(new Set(all).size).toBe(56);
    expect(second.text).not.toContain('rel="next"');
    expect(ids(await panel.get("/services?provider=acme"))).toEqual(["views"]);
    expect(ids(await panel.get("/services?search=VIEWS"))).toEqual(["views"]);
    expect(ids(await panel.get("/services?state=inactive"))).toEqual([]);
    expect((await panel.get("/services?provider=nobody")).text).toContain(
      "Provider must be one of",
    );
    expect(first.text).toContain("&lt;b>Views&lt;/b>");
  });
});

describe("a service", () => {
  test("is added, changed and deactivated; only what was changed counts as set by hand", async () => {
    const added = await panel.post("/services", { ...TERMS, id: "mine" });
    expect([added.status, added.headers.get("location")]).toEqual([303, "/services/mine"]);
    expect(serviceOf("mine")).toMatchObject({
      name: "New",
      priceMicros: 2_500_000,
      private: false,
    });
    panel.query(
      "UPDATE services SET name_by_hand = 0, price_by_hand = 0, min_by_hand = 0, max_by_hand = 0 WHERE id = 'views'",
    );
    const terms = {
      name: "<b>Views</b>",
      price: "1",
      per: "1000",
      min: "10",
      max: "10000",
      kind: "private",
    };
    const link = { provider: "acme", "provider-service": "8" };
    expect((await panel.post("/services/views", { ...terms, price: "1.25", ...link })).status).toBe(
      303,
    );
    expect(serviceOf("views")).toMatchObject({
      priceMicros: 1_250_000,
      priceByHand: true,
      nameByHand: false,
      minByHand: false,
      private: true,
      providerService: "8",
    });
    await panel.post("/services/views/deactivate");
    expect(serviceOf("views").active).toBe(false);
    await panel.post("/services/views/activate");
    expect(serviceOf("views").active).toBe(true);
    const { text } = await panel.get("/services/views");
    expect(text).toContain("Price history");
    expect(text).toMatch(/data-label="From USD"><span class="money">1\.00/);
    expect(text).toMatch(/data-label="To USD"><span class="money">1\.25/);
  });

  test("with a wrong field shows the error beside it, keeps the typed text, and changes nothing", async () => {
    const before = dumpOf(panel, services);
    const wrong = await panel.post("/services", { ...TERMS, id: "s01", min: "200" });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("Smallest order must not be above Largest order");
    const taken = await panel.post("/services", { ...TERMS, id: "s01" });
    expect(taken.text).toContain('id="services-id-error">A service has that id already');
    const priced = await panel.post("/services/views", { ...TERMS, price: "-1" });
    expect(priced.text).toContain("Price in USD must be a number from 0 to 1000000000");
    expect(priced.text).toContain('value="-1"');
    expect((await panel.post("/services", { ...TERMS, provider: "acme" })).text).toContain(
      "Service id at the provider is required",
    );
    expect((await panel.get("/services/nothing")).status).toBe(404);
    expect(dumpOf(panel, services)).toBe(before);
  });

  test("is granted and the grant revoked, with refusals beside the field", async () => {
    // Below the provider's rate of 1.20, as the catalogue's price is: a lower one asks first.
    const given = { username: "alice", price: "0.5" };
    expect((await panel.post("/services/views/grants", given)).text).toContain(
      "Sell to alice below cost",
    );
    expect((await panel.confirm("/services/views/grants", given)).status).toBe(303);
    expect((await panel.get("/services/views")).text).toMatch(
      /data-label="Its price USD"><span class="money">0\.50/,
    );
    const child = await panel.post("/services/views/grants", { username: "kid" });
    expect(child.text).toContain("A child user cannot hold a grant: give it to the parent");
    expect((await panel.post("/services/views/grants", { username: "nobody" })).text).toContain(
      "User not found",
    );
    await panel.post("/services/views/grants/revoke", { username: "alice" });
    expect((await panel.get("/services/views")).text).toContain("No reseller has a grant");
  });
});

describe("its routes", () => {
  const shown = async () =>
    [
      ...(await panel.get("/services/views")).text.matchAll(
        /data-label="Id at the provider"><code>([^<]*)/g,
      ),
    ].map(([, id]) => id);

  test("are listed as they are tried, added, given another priority and removed, with who did it in the audit log", async () => {
    const provider = { name: "bulk", protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
    panel.run("createProvider", provider);
    const first = await shown();
    expect(first.length).toBe(1);
    const route = { provider: "bulk", "provider-service": "88" };
    const saved = await panel.post("/services/views/routes", { ...route, priority: "3" });
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/services/views#routes"]);
    expect(await shown()).toEqual([...first, "88"]);
    const own = { provider: "acme", "provider-service": first[0]! };
    await panel.post("/services/views/routes", { ...own, priority: "4" });
    expect(await shown()).toEqual(["88", ...first]);
    expect(serviceOf("views").providerService).toBe("88");
    await panel.post("/services/views/routes/remove", route);
    expect(await shown()).toEqual(first);
    const { text } = await panel.get("/audit?subject=views");
    expect(text).toContain("Route set");
    expect(text).toContain("Route removed");
  });

  test("show errors beside the field, and name what is skipped", async () => {
    const wrong = await panel.post("/services/views/routes", {
      provider: "bulk",
      "provider-service": "",
      priority: "-1",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("Service id at the provider is required");
    expect(wrong.text).toContain("Priority must be a whole number from 0 to 1000000");
    const gone = { provider: "bulk", "provider-service": "404" };
    expect((await panel.post("/services/views/routes/remove", gone)).text).toContain(
      "The service has no such route",
    );
    await panel.post("/services/views/routes", { provider: "bulk", "provider-service": "89" });
    panel.run("setProviderActive", { name: "bulk", active: false });
    expect((await panel.get("/services/views")).text).toContain("skipped");
    await panel.post("/services/views/routes/remove", { ...gone, "provider-service": "89" });
  });
});

describe("switching services", () => {
  const activeOf = () =>
    new Map(
      panel
        .query<{ id: string; active: number }>("SELECT id, active FROM services")
        .map(({ id, active }) => [id, active === 1]),
    );

  test("in the list leads back to the list with its filters, and changes only that service", async () => {
    const before = activeOf();
    for (const verb of ["deactivate", "activate"] as const) {
      const reply = await panel.post(`/services/s00/${verb}`, {
        query: "search=i&provider=acme",
      });
      expect(reply.headers.get("location")).toBe("/services?search=i&provider=acme");
      const now = activeOf();
      expect(now.get("s00")).toBe(verb === "activate");
      before.set("s00", verb === "activate");
      expect(now).toEqual(before);
    }
    const outside = await panel.post("/services/s00/activate", { query: "//evil.example/" });
    expect(outside.headers.get("location")).toMatch(/^\/services\?/);
  });

  test.each([
    ["active", "off", "inactive"],
    ["inactive", "off", "active"],
    ["active", "on", "active"],
    ["inactive", "on", "inactive"],
  ] as const)(
    "to %p that are %s already or not: exactly the selected",
    async (state, kind, from) => {
      const [one, other] = ["s01", "s00"] as const;
      const wanted = state === "active";
      for (const id of [one, other]) {
        panel.run("setServiceActive", { id, active: from === "active" });
      }
      const before = activeOf();
      const body = new URLSearchParams([
        ["state", state],
        ["query", ""],
        ["service", one],
      ]);
      const isChange = (from === "active") !== wanted;
      expect(kind).toBe(isChange ? "off" : "on");
      const { status } = await panel.confirm("/service-states", body);
      expect(status).toBe(isChange ? 303 : 422);
      if (isChange) before.set(one, wanted);
      expect(activeOf()).toEqual(before);
      for (const id of [one, other]) panel.run("setServiceActive", { id, active: true });
    },
  );

  test("all that match the filters, after a confirmation that counts them", async () => {
    const form = { state: "inactive", query: "search=Service+3", all: "yes" };
    const before = activeOf();
    const asked = await panel.post("/service-states", form);
    expect([asked.status, activeOf()]).toEqual([200, before]);
    const { status, note } = await panel.confirm("/service-states", form);
    expect([status, note]).toEqual([303, "good 6 services switched to inactive."]);
    const matching = ["s03", "s13", "s23", "s33", "s43", "s53"];
    for (const [id, active] of activeOf()) {
      expect([id, active]).toEqual([id, matching.includes(id) ? false : before.get(id)!]);
    }
    await panel.confirm("/service-states", { ...form, state: "active" });
  });

  test.each([
    [1, 303, "busy 1 service switched to inactive. Not service s01: Service not found.", ""],
    [2, 422, "", "services s01, s02: Service not found"],
  ] as const)(
    "%d of two that fail are told apart from a success",
    async (failing, answer, says, shown) => {
      let left = failing;
      onCommand = (name) => {
        if (name === "setServiceActive" && left-- > 0) throw refusal("service_not_found");
      };
      const body = new URLSearchParams([
        ["state", "inactive"],
        ["query", "search=s0&sort=name"],
        ["service", "s01"],
        ["service", "s02"],
      ]);
      const { status, note, text } = await panel.confirm("/service-states", body);
      onCommand = () => {};
      expect([status, note]).toEqual([answer, says]);
      // If none was switched, the list with its filters says which and why.
      expect(text).toContain(shown);
      if (answer === 422) expect(text).toContain('name="search" value="s0"');
      for (const id of ["s01", "s02"]) panel.run("setServiceActive", { id, active: true });
    },
  );

  test("none, an unknown one and a wrong state are refused and change nothing", async () => {
    const before = activeOf();
    for (const form of [
      { state: "inactive", query: "" },
      { state: "inactive", query: "", service: "nowhere" },
      { state: "gone", query: "", service: "s01" },
    ] as Record<string, string>[]) {
      const { status } = await panel.post("/service-states", form);
      expect(status).toBe(422);
    }
    expect(activeOf()).toEqual(before);
  });
});

describe("prices of many", () => {
  test("are shown, then changed as they were shown", async () => {
    const body = new URLSearchParams([
      ["percent", "10"],
      ["query", "search=s0"],
      ["service", "s00"],
      ["service", "s01"],
    ]);
    const cookie = panel.session("tester");
    const shown = await panel.ask("/service-prices", {
      method: "POST",
      body,
      headers: { cookie, origin: panel.url },
    });
    expect(shown.text).toContain("Change 2 prices by 10 %");
    expect(shown.text).toMatch(/data-label="Present price USD"><span class="money">2\.32/);
    expect(shown.text).toMatch(/data-label="New price USD"><span class="money">2\.552/);
    expect(serviceOf("s00").priceMicros).toBe(2_320_000);
    const fields = hidden(shown);
    for (const name of ["plan", "once"]) body.set(name, fields[name]!);
    body.set("confirmed", fields["confirmed"]!);
    const done = await panel.ask("/service-prices", {
      method: "POST",
      body,
      headers: { cookie, origin: panel.url },
    });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/services?search=s0"]);
    expect([serviceOf("s00"), serviceOf("s01")].map(({ priceMicros }) => priceMicros)).toEqual([
      2_552_000, 2_552_000,
    ]);
  });

  test("are refused when one has changed since they were shown", async () => {
    const shown = await panel.post("/service-prices", { percent: "-50", service: "s02" });
    panel.run("updateService", { id: "s02", changes: { priceMicros: 7 } });
    const refused = await confirm("/service-prices", shown);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("The catalogue changed at the same time: nothing was changed");
    expect(serviceOf("s02").priceMicros).toBe(7);
  });

  test("lead back to their list, whatever its address was", async () => {
    const fields = { percent: "1", service: "s03", query: "search=x\r\nset-cookie: a=b" };
    const { text } = await panel.post("/service-prices", fields);
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const more = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
    const { status, headers } = await panel.post("/service-prices", { ...more, ...fields });
    expect([status, headers.get("location")]).toEqual([
      303,
      "/services?search=x%0D%0Aset-cookie%3A+a%3Db",
    ]);
  });

  test("need a percentage and a selection, which may be all services of the filters", async () => {
    const shown = await panel.post("/service-prices", {
      percent: "1",
      all: "yes",
      query: "search=Service+3",
    });
    expect(shown.text).toContain("Change 6 prices by 1 %");
    expect((await panel.post("/service-prices", { percent: "1" })).text).toContain(
      "Select services",
    );
    expect((await panel.post("/service-prices", { percent: "x", service: "s03" })).text).toContain(
      "percent must be a percentage from -100",
    );
    expect((await panel.post("/service-prices", { percent: "0", service: "s03" })).text).toContain(
      "No price would change",
    );
  });
});

describe("an import", () => {
  test("shows every row that is wrong with what was sent, and imports nothing", async () => {
    const before = dumpOf(panel, services);
    const csv = "name,price,min,max,id\nA,1,1,10,i1\nB,x,1,10,i2\nC,1,10,1,i3\n";
    const { status, text } = await panel.post("/import-services", { csv });
    expect(status).toBe(422);
    expect(text).toContain("2 rows are wrong: nothing was imported");
    expect(text).toContain("line 3");
    expect(text).toContain("price must be a number from 0 to 1000000000 with at most six decimals");
    expect(text).toContain("min must not be above max");
    expect(text).toContain("B,x,1,10,i2");
    expect((await panel.post("/import-services", { csv: "nothing" })).text).toContain(
      "unknown column nothing",
    );
    expect((await panel.post("/import-services", { csv: "" })).text).toContain(
      "List as CSV is required",
    );
    const taken = await panel.post("/import-services", {
      csv: "name,price,min,max,id\nA,1,1,10,s01\n",
    });
    expect(taken.text).toContain("id is taken by another service or an earlier row");
    expect(dumpOf(panel, services)).toBe(before);
  });

  test("adds all rows of a list that is right", async () => {
    const csv = "name,price,min,max,id,private\nA,1,1,10,i1,yes\nB,2,1,10,i2,no\n";
    const done = await panel.post("/import-services", { csv });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/services"]);
    expect(serviceOf("i1")).toMatchObject({ name: "A", private: true });
  });
});
