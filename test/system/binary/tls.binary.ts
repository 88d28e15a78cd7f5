// TLS over the compiled binary, called by openssl and curl: old versions refused, a new certificate on SIGHUP.

import { copyFileSync, writeFileSync } from "node:fs";
import { connect } from "node:tls";
import { expect, test } from "bun:test";
import { binary, binaryJson, type Serving, serving, stall, stop } from "../../support/binary.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

async function run(...argv: string[]): Promise<{ code: number; stdout: string }> {
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
  const stdout = await new Response(child.stdout).text();
  return { code: await child.exited, stdout };
}

/** What `openssl s_client` sees of the server's certificate; null when there is no handshake. */
async function subjectSeen(server: Serving, ...flags: string[]): Promise<string | null> {
  const { host } = new URL(server.url);
  const { stdout } = await run("openssl", "s_client", "-connect", host, ...flags);
  return /subject=CN = (\S+)/.exec(stdout)?.[1] ?? null;
}

async function serveTls(folder: string, ...flags: string[]) {
  const files = makeCertificate(folder, "first");
  const tls = ["--tls-cert", files.cert, "--tls-key", files.key];
  return { files, server: await serving(folder, "serve", ...tls, ...flags) };
}

test("openssl and curl speak TLS 1.2 and 1.3 to it, nothing older and no plain HTTP; health still works", async () => {
  const folder = freshFolder();
  const { files, server } = await serveTls(folder);
  expect(server.url).toStartWith("https://127.0.0.1:");
  expect(await subjectSeen(server, "-tls1_3")).toBe("first");
  expect(await subjectSeen(server, "-tls1_2")).toBe("first");
  expect(await subjectSeen(server, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")).toBeNull();
  const curl = await run("curl", "-si", "--cacert", files.cert, `${server.url}/livez`);
  expect(curl.stdout).toContain("200 OK");
  expect(curl.stdout.toLowerCase()).toContain("strict-transport-security: max-age=31536000");
  const plain = await run("curl", "-s", "-m", "5", server.url.replace("https:", "http:"));
  expect(plain.code).not.toBe(0);
  expect(await binaryJson(folder, "health")).toMatchObject({ healthy: true, url: server.url });
  await stop(server);
});

test("routes are the same over TLS", async () => {
  const folder = freshFolder();
  const files = makeCertificate(folder, "first");
  const flags = ["--tls-cert", files.cert, "--tls-key", files.key];
  const { server, key } = await stall(folder, ...flags);
  const ask = async (method: string, target: string, host = "127.0.0.1") => {
    const headers = ["-H", `host: ${host}`, "-H", `x-api-key: ${key}`];
    const url = server.url + target;
    const { stdout } = await run("curl", "-ksi", "--path-as-is", "-X", method, ...headers, url);
    return [stdout.split(" ")[1], /^allow: (.*)\r$/im.exec(stdout)?.[1] ?? null];
  };
  expect(await ask("GET", "/api/v1/balance")).toEqual(["200", null]);
  expect(await ask("DELETE", "/api/v1/balance")).toEqual(["405", "GET"]);
  expect(await ask("PATCH", "/api/v1/orders/1", "api")).toEqual(["405", "GET"]);
  expect(await ask("TRACE", "/api/v1/orders?x=/y", "api.example.com")).toEqual([
    "405",
    "POST, GET",
  ]);
  expect(await ask("GET", "/api/v1/%62alance", "api")).toEqual(["200", null]);
  expect(await ask("DELETE", "/api/v1/%62alance")).toEqual(["405", "GET"]);
  expect(await ask("GET", "/api/v1/nowhere")).toEqual(["404", null]);
  await stop(server);
});

/** A request over TLS whose body is sent later. */
async function beginPost(server: Serving, key: string, body: string) {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  const answer = Promise.withResolvers<string>();
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString()));
  socket.on("close", () => answer.resolve(received));
  socket.on("error", answer.reject);
  await new Promise<void>((resolve) => socket.once("secureConnect", resolve));
  const head = [
    "POST /api/v1/orders HTTP/1.1",
    "host: localhost",
    "connection: close",
    `x-api-key: ${key}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 1)}`);
  return {
    finish() {
      socket.write(body.slice(1));
      return answer.promise;
    },
  };
}

test("SIGHUP: the next connection sees the new certificate, and a request in flight gets its response over the old", async () => {
  const folder = freshFolder();
  const files = makeCertificate(folder, "first");
  const { server, key } = await stall(folder, "--tls-cert", files.cert, "--tls-key", files.key);
  const second = makeCertificate(folder, "second");
  const post = await beginPost(server, key, '{"service":"s","link":"x","quantity":1}');
  // Its head must have arrived: a later request over another connection has.
  expect(await subjectSeen(server)).toBe("first");
  copyFileSync(second.cert, files.cert);
  copyFileSync(second.key, files.key);
  server.kill("SIGHUP");
  await until(() => server.stderr().includes("certificate reloaded"));
  for (let seen = 0; seen < 5; seen++) expect(await subjectSeen(server)).toBe("second");
  expect(await post.finish()).toStartWith("HTTP/1.1 200 OK");
  await stop(server);
});

test("SIGHUP under load refuses and resets no connection", async () => {
  const folder = freshFolder();
  const { server } = await serveTls(folder);
  let asking = true;
  let answered = 0;
  let failed = 0;
  const ask = async () => {
    while (asking) {
      const url = `${server.url}/livez`;
      const request = fetch(url, { tls: { rejectUnauthorized: false }, keepalive: false });
      const status = await request.then(({ status }) => status).catch(() => 0);
      if (status === 200) answered++;
      else failed++;
    }
  };
  const lanes = Array.from({ length: 8 }, ask);
  for (let reloads = 1; reloads <= 3; reloads++) {
    const enough = answered + 100;
    await until(() => answered >= enough);
    server.kill("SIGHUP");
    await until(() => server.stderr().split("certificate reloaded").length > reloads);
  }
  asking = false;
  await Promise.all(lanes);
  expect(failed).toBe(0);
  await stop(server);
});

test("a certificate that cannot be used leaves the old one in place and says why", async () => {
  const folder = freshFolder();
  const { files, server } = await serveTls(folder);
  writeFileSync(files.cert, "no certificate");
  server.kill("SIGHUP");
  await until(() => server.stderr().includes("certificate not reloaded"));
  expect(server.stderr()).toContain("does not contain a PEM certificate");
  expect(await subjectSeen(server)).toBe("first");
  await stop(server);
});

test("SIGHUP without a certificate does not end the server", async () => {
  const folder = freshFolder();
  const server = await serving(folder, "serve");
  server.kill("SIGHUP");
  await until(() => server.stderr().includes("nothing to reload"));
  await stop(server);
});

test("a TLS port that is taken is refused", async () => {
  const folder = freshFolder();
  const { files, server } = await serveTls(folder);
  const { port } = new URL(server.url);
  const other = freshFolder();
  const flags = ["--tls-cert", files.cert, "--tls-key", files.key, "--port", port];
  const { code, stderr } = await binary(other, "serve", ...flags);
  expect([code, stderr.includes("cannot listen on")]).toEqual([1, true]);
  await stop(server);
});

test("files that do not belong together or are missing: exit 1 with their names", async () => {
  const folder = freshFolder();
  const [one, other] = [makeCertificate(folder, "one"), makeCertificate(folder, "other")];
  const start = (cert: string, key: string) =>
    binary(folder, "serve", "--port", "0", "--tls-cert", cert, "--tls-key", key);
  const mixed = await start(one.cert, other.key);
  expect([mixed.code, mixed.stderr]).toEqual([
    1,
    expect.stringContaining("does not match the certificate"),
  ]);
  const missing = await start("/nowhere.crt", one.key);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("/nowhere.crt")]);
});
