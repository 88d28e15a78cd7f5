// Monitoring of providers over the compiled binary: submissions in the metrics, polls in readiness, their creation in
// the audit log, and their key nowhere.

import { expect, test } from "bun:test";
import { binaryJson, stall, stop } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";

const BINARY = new URL("../../../dist/reseller", import.meta.url).pathname;

async function createProvider(folder: string, name: string, url: string): Promise<string> {
  const child = Bun.spawn(
    [BINARY, ...`admin provider create ${name} --url ${url} --key-stdin --json`.split(" ")],
    { cwd: folder, stdin: Buffer.from(PROVIDER_KEY), stdout: "pipe", stderr: "pipe" },
  );
  const printed = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(0);
  return printed.join("");
}

test("submissions are counted by outcome, polls are on time, and the provider's key appears nowhere", async () => {
  const folder = freshFolder();
  const upstream = await startUpstream();
  const flags = ["--log-level", "debug", "--metrics-listen", "127.0.0.1:0", "--place-wait", "10m"];
  const { server, key } = await stall(folder, ...flags);
  const made = await createProvider(folder, "north", upstream.url);
  const update = "admin service update s --provider north --provider-service 1";
  await binaryJson(folder, ...update.split(" "));
  const place = () =>
    callApi(server.url, "POST", "/orders", key, { service: "s", link: "x", quantity: 1 });
  expect((await place()).body.order.status).toBe("PROCESSING");
  upstream.next("add", { body: `{"error":"no funds for ${PROVIDER_KEY}"}` });
  expect((await place()).status).toBe(502);
  upstream.next("add", { status: 500, body: PROVIDER_KEY });
  expect((await place()).body.order.status).toBe("PENDING");

  await until(() => server.stderr().includes("submission outcome unknown"));
  const url = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  const metrics = await (await fetch(url)).text();
  for (const outcome of ["accepted", "refused", "unknown"]) {
    expect(metrics).toMatch(
      new RegExp(`^reseller_placements_total\\{provider="\\w+",outcome="${outcome}"\\} 1$`, "m"),
    );
  }
  expect(metrics).toMatch(/^reseller_oldest_unchecked_order_seconds\{provider="\w+"\} \d/m);
  const ready = await (await fetch(`${server.url}/readyz`)).json();
  expect(ready).toMatchObject({ status: "ok", checks: { pollers: { ok: true } } });

  await binaryJson(folder, "admin", "order", "settle", "3", "--not-placed");
  const audit = await binaryJson(folder, "admin", "audit", "list");
  const actions = audit.map(({ action }: { action: string }) => action);
  expect(actions.slice(0, 3)).toEqual(["order.move", "service.update", "provider.create"]);
  expect(audit[2]).toMatchObject({ subject: "north", before: null, after: { url: upstream.url } });
  await stop(server);
  await upstream.stop();
  const written = made + metrics + JSON.stringify(audit) + server.stdout() + server.stderr();
  expect(written).not.toContain(PROVIDER_KEY);
});
