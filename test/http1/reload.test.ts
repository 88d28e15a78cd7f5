// A new certificate while the server runs.

import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import { expect, test } from "bun:test";
import { type Certificate, listen } from "../../src/http1/listen.ts";
import { makeCertificate } from "../support/http/certificates.ts";
import { rawRequest } from "../support/http/raw.ts";
import { freshFolder } from "../support/folders.ts";

const handler = {
  handle: () => new Response(),
  refuse: () => new Response(null, { status: 400 }),
  fail: () => new Response(null, { status: 500 }),
  bodyLimitBytes: 1000,
};

function certificate(name: string): Certificate {
  const { cert, key } = makeCertificate(freshFolder(), name);
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

/** The fingerprint of the certificate that a new connection is shown, once its request got a 200. */
function shown(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  socket.on("error", reject);
  socket.on("secureConnect", () => void socket.write(rawRequest("GET", "/")));
  socket.on("data", (bytes) => {
    expect(bytes.toString()).toStartWith("HTTP/1.1 200 OK\r\n");
    resolve(socket.getPeerCertificate().fingerprint256);
    socket.destroy();
  });
  socket.on("close", () => reject(new Error("closed without a response")));
  return promise;
}

test("every connection that is opened while the certificate is replaced is served, with the old one or the new one", async () => {
  const certificates = ["first", "second", "third"].map(certificate);
  const server = listen(handler, { hostname: "127.0.0.1", port: 0 }, certificates[0]!);
  const fingerprints = [await shown(server.port)];
  for (const next of certificates.slice(1)) {
    server.reload(next);
    fingerprints.push(await shown(server.port));
  }
  expect(new Set(fingerprints).size).toBe(3);

  const opened: Promise<string>[] = [];
  for (let round = 0; round < 60; round++) {
    for (let count = 0; count < 5; count++) opened.push(shown(server.port));
    server.reload(certificates[round % 3]!);
    await new Promise(setImmediate);
  }
  for (const each of await Promise.all(opened)) expect(fingerprints).toContain(each);
  server.reload(certificates[0]!);
  expect(await shown(server.port)).toBe(fingerprints[0]!);
  await server.stop();
});

test("a certificate whose key is another's is refused, and the present one stays in use", async () => {
  const [first, second] = [certificate("first"), certificate("second")];
  const server = listen(handler, { hostname: "127.0.0.1", port: 0 }, first);
  const before = await shown(server.port);
  expect(() => server.reload({ cert: second.cert, key: first.key })).toThrow();
  expect(await shown(server.port)).toBe(before);
  await server.stop();
});
