// TLS to the database: with verify-full a certificate that is not of the given authority, or of another host, is refused.

import { beforeAll, describe, expect, test } from "bun:test";
import { chownSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeAddress, parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { readConditions } from "../../../src/db/postgres/connection/conditions.ts";
import { weaknesses } from "../../../src/db/postgres/schema/weaknesses.ts";
import { databaseOpenErrorOf } from "../../../src/db/postgres/connection/open-error.ts";
import { makeCertificate } from "../../support/http/certificates.ts";
import { type Cluster, cluster, startCluster } from "../../support/databases/postgres.ts";

let server: Cluster;
let ca: string;
let otherCa: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "reseller-tls-"));
  const authority = makeCertificate(folder, "authority");
  const { cert, key } = makeCertificate(folder, "database", 30, authority);
  ca = authority.cert;
  otherCa = makeCertificate(folder, "other").cert;
  if (process.getuid?.() === 0) {
    const [, , uid, gid] = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((line) => line.startsWith("postgres:"))!
      .split(":");
    for (const file of [folder, cert, key]) chownSync(file, Number(uid), Number(gid));
  }
  server = await startCluster({
    fsync: "off",
    ssl: "on",
    ssl_cert_file: cert,
    ssl_key_file: key,
  });
});

/** `host`: 127.0.0.1 is in the certificate, localhost is not. */
function addressOf(parameters: string, host = "127.0.0.1") {
  const { port } = server;
  return parseAddress(`postgres://postgres@${host}:${port}/postgres${parameters}`);
}

async function refusal(parameters: string, host?: string): Promise<string> {
  const address = addressOf(parameters, host);
  try {
    await readConditions(address, Date.now);
    return "connected";
  } catch (error) {
    return databaseOpenErrorOf(error, describeAddress(address))?.message ?? String(error);
  }
}

describe("sslmode=verify-full", () => {
  test("connects to a host whose certificate is of the given authority, encrypted", async () => {
    const { isEncrypted } = await readConditions(
      addressOf(`?sslmode=verify-full&sslrootcert=${ca}`),
      Date.now,
    );
    expect(isEncrypted).toBe(true);
  });

  test.each([
    ["of another authority", () => refusal(`?sslmode=verify-full&sslrootcert=${otherCa}`)],
    ["of an authority that the system does not know", () => refusal("?sslmode=verify-full")],
    ["of another host", () => refusal(`?sslmode=verify-full&sslrootcert=${ca}`, "localhost")],
  ])("refuses a certificate %s", async (_, attempt) => {
    expect(await attempt()).toContain("has an untrusted certificate");
  });

  test("refuses a server without TLS", async () => {
    const { port } = await cluster();
    const address = parseAddress(
      `postgres://postgres@127.0.0.1:${port}/postgres?sslmode=verify-full&sslrootcert=${ca}`,
    );
    const error = await readConditions(address, Date.now).catch((thrown: unknown) => thrown);
    expect(databaseOpenErrorOf(error, describeAddress(address))?.message).toContain(
      "does not offer TLS",
    );
  });
});

test("an unencrypted or unverified connection to another machine is a weakness", async () => {
  const of = async (parameters: string) => {
    const address = addressOf(parameters);
    const conditions = await readConditions(address, Date.now);
    const elsewhere = { ...address, hosts: [{ hostname: "db.example", port: 5432 }] };
    const found = (each: typeof address) =>
      weaknesses(each, conditions).filter((text) => text.includes("sslmode"));
    expect(found(address)).toEqual([]);
    return found(elsewhere);
  };
  expect(await of("")).toEqual([expect.stringContaining("is not encrypted")]);
  expect(await of("?sslmode=require")).toEqual([expect.stringContaining("is not checked")]);
  expect(await of(`?sslmode=verify-full&sslrootcert=${ca}`)).toEqual([]);
});
