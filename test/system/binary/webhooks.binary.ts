// Webhooks of the compiled binary: what a receiver gets over HTTP and TLS, after a kill too, and what gets no connection.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import {
  binary,
  binaryJson,
  type Serving,
  serving,
  stall,
  stallWith,
  stop,
} from "../../support/binary.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { startSample, WEBHOOK_SAMPLES } from "../../support/peers/sample-receivers.ts";
import { OK, type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";
import { until } from "../../support/until.ts";
import { SPELLINGS } from "../../webhooks/spellings.ts";

const FLAGS = ["--webhook-allow", "127.0.0.0/8,::1/128", "--webhook-allow-http"];

const create = (folder: string, url: string) =>
  binaryJson(folder, "admin", "webhook", "create", "--user", "alice", "--url", url, ...FLAGS);

const place = (server: Serving, key: string) =>
  callApi(server.url, "POST", "/orders", key, { service: "s", link: "x", quantity: 1 });

describe("a receiver", () => {
  const folder = freshFolder();
  let server: Serving;
  let key: string;
  beforeAll(async () => {
    ({ server, key } = await stall(folder, ...FLAGS));
  });
  afterAll(() => stop(server));

  test("gets each transition of an order, signed, whoever made it", async () => {
    const receiver = await startReceiver();
    const url = `http://127.0.0.1:${receiver.port}/hook`;
    const { secret, id } = await create(folder, url);
    const { orderId } = (await place(server, key)).body["order"];
    await binaryJson(folder, "admin", "order", "complete", String(orderId));
    await binaryJson(folder, "admin", "order", "refund", String(orderId));
    await until(() => receiver.received.length === 2);
    const events = receiver.received.map(({ body, headers }) => {
      const event = new Webhook(String(secret)).verify(body, headers);
      return event as { type: string; data: { order: { status: string }; sequence: number } };
    });
    const told = events.map(({ type, data }) => `${data.sequence} ${type} ${data.order.status}`);
    const expected = ["1 order.completed COMPLETED", "2 order.refunded REFUNDED"];
    expect(told.toSorted((a, b) => a.localeCompare(b))).toEqual(expected);
    const listed = async () => binaryJson(folder, "admin", "webhook", "deliveries", String(id));
    await until(async () => (await listed()).length === 2);
    expect((await listed())[0]).toMatchObject({ attempt: 1, httpStatus: 200, error: null });
    await binaryJson(folder, "admin", "webhook", "delete", String(id));
    await receiver.stop();
  });

  for (const file of Object.keys(WEBHOOK_SAMPLES)) {
    test(`like the sample ${file} verifies what the binary sends, with the new and the old secret`, async () => {
      // Started with the secret that `create` shows, so on a port that is known before.
      const placeholder = await startReceiver();
      const { secret, id } = await create(folder, `http://127.0.0.1:${placeholder.port}/`);
      await placeholder.stop();
      const sample = await startSample(file, String(secret));
      const admin = (...argv: string[]) => binaryJson(folder, "admin", "webhook", ...argv);
      await admin("update", String(id), "--url", sample.url, ...FLAGS);
      const { orderId } = (await place(server, key)).body["order"];
      await binaryJson(folder, "admin", "order", "complete", String(orderId));
      await until(() => sample.lines().length === 1);
      await admin("rotate", String(id), "--grace", "1h");
      await admin("test", String(id));
      await until(() => sample.lines().length === 2);
      expect(sample.lines()).toEqual([`order ${orderId} is COMPLETED`, "webhook.test"]);
      await admin("delete", String(id));
      await sample.stop();
    });
  }

  test("that a killed server was sending to gets the same event from the next one", async () => {
    const own = freshFolder();
    const first = await stall(own, ...FLAGS);
    const receiver = await startReceiver(() => {});
    const { secret } = await create(own, `http://127.0.0.1:${receiver.port}/`);
    const { orderId } = (await place(first.server, first.key)).body["order"];
    await binaryJson(own, "admin", "order", "cancel", String(orderId));
    await until(() => receiver.received.length === 1);
    first.server.kill("SIGKILL");
    await first.server.ended;
    receiver.answer = OK;
    const second = await serving(own, "serve", ...FLAGS);
    await until(() => receiver.received.length >= 2);
    const [before, after] = receiver.received as [Receiver["received"][0], Receiver["received"][0]];
    expect(after.body).toBe(before.body);
    expect(after.headers["webhook-id"]).toBe(before.headers["webhook-id"]!);
    for (const { body, headers } of [before, after])
      new Webhook(String(secret)).verify(body, headers);
    await stop(second);
    await receiver.stop();
  });
});

test("over TLS the certificate must match the name, and only a checked address is used", async () => {
  const certificates = freshFolder();
  const [right, wrong] = ["localhost", "other.test"].map((name) => {
    const files = makeCertificate(certificates, name, 30, undefined, `DNS:${name}`);
    const [cert, key] = [readFileSync(files.cert, "utf8"), readFileSync(files.key, "utf8")];
    return { cert, key };
  }) as [TlsFiles, TlsFiles];
  const bundle = `${certificates}/bundle.pem`;
  await Bun.write(bundle, right.cert + wrong.cert);
  const folder = freshFolder();
  const environment = { NODE_EXTRA_CA_CERTS: bundle };
  const { server } = await stallWith(environment, folder, ...FLAGS);
  const good = await startReceiver(OK, { tls: right });
  const bad = await startReceiver(OK, { tls: wrong });
  const ids: string[] = [];
  for (const { port } of [good, bad]) {
    const { id } = await create(folder, `https://localhost:${port}/`);
    ids.push(String(id));
    await binaryJson(folder, "admin", "webhook", "test", String(id));
  }
  const errors = async () => {
    const lists = ids.map((id) => binaryJson(folder, "admin", "webhook", "deliveries", id));
    return (await Promise.all(lists)).map(([delivery]) => delivery?.error);
  };
  await until(async () => !(await errors()).includes(undefined));
  expect(await errors()).toEqual([null, "tls"]);
  expect(good.received[0]).toMatchObject({ serverName: "localhost", address: "127.0.0.1" });
  expect(bad.received).toEqual([]);
  await stop(server);
  await Promise.all([good.stop(), bad.stop()]);
});

test("a special address in any spelling is refused when it is given and at each attempt, without a connection", async () => {
  const folder = freshFolder();
  const { server, key } = await stall(folder, "--webhook-allow-http");
  const v4 = await startReceiver(OK, { host: "0.0.0.0" });
  const v6 = await startReceiver(OK, { host: "::1" });
  for (const host of [...SPELLINGS, "localhost", "LOCALHOST."]) {
    for (const { port } of [v4, v6]) {
      const given = await callApi(server.url, "POST", "/webhooks", key, {
        url: `http://${host}:${port}/`,
      });
      expect([host, given.status, given.body["message"]]).toEqual([
        host,
        400,
        "url must be a URL whose addresses are all public",
      ]);
    }
  }
  // Registered on a command line that allows it, sent by a server that does not.
  const { id } = await create(folder, `http://localhost:${v4.port}/`);
  await binaryJson(folder, "admin", "webhook", "test", String(id));
  const listed = () => binaryJson(folder, "admin", "webhook", "deliveries", String(id));
  await until(async () => (await listed()).length === 1);
  expect((await listed())[0]).toMatchObject({ error: "blocked_address", httpStatus: null });
  expect([v4.connections(), v6.connections()]).toEqual([0, 0]);
  await stop(server);
  await Promise.all([v4.stop(), v6.stop()]);
});

test("an endpoint that failures disabled is on the list of the operator, in the metrics and named by doctor", async () => {
  const folder = freshFolder();
  const flags = [...FLAGS, "--metrics-listen", "127.0.0.1:0"];
  const { server, key } = await stall(folder, ...flags);
  const gone = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
  const receiver = await startReceiver(gone);
  const { id } = await create(folder, `http://127.0.0.1:${receiver.port}/`);
  const { orderId } = (await place(server, key)).body["order"];
  await binaryJson(folder, "admin", "order", "cancel", String(orderId));
  const shown = () => binaryJson(folder, "admin", "webhook", "show", String(id));
  await until(async () => (await shown()).disabledReason === "gone");
  const [listed] = await binaryJson(folder, "admin", "webhook", "list");
  expect(listed.attention).toEqual([expect.stringMatching(/^disabled since 20\S+Z: gone$/)]);
  const metricsUrl = /"metrics":"(http[^"]+)"/.exec(server.stderr())![1]!;
  const metrics = await (await fetch(metricsUrl)).text();
  expect(metrics).toContain('reseller_webhooks_disabled{reason="gone"} 1');
  expect(metrics).toContain('reseller_webhook_deliveries_total{outcome="status"} 1');
  expect(server.stderr()).toContain("a webhook was disabled");
  await stop(server);
  const { stdout } = await binary(folder, "doctor");
  expect(stdout).toContain("A webhook failed and is disabled");
  await receiver.stop();
});

interface TlsFiles {
  cert: string;
  key: string;
}
