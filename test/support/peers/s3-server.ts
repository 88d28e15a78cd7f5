// A real S3 server as a process of its own: s3rver, with a bucket `backups`. Prints its port.
// Usage: bun s3-server.ts FOLDER

import { createRequire } from "node:module";
import { ACCESS_KEY, BUCKET } from "./s3.ts";

interface Canonical {
  uri: string;
}
interface Signatures {
  getStringToSign: (canonical: Canonical, request: unknown) => string;
}
interface Listing {
  objects: { key: string }[];
  isTruncated: boolean;
}
interface Stored {
  listObjects: (bucket: string, options: { maxKeys?: number }) => Promise<Listing>;
}
interface Server {
  run(): Promise<{ port: number }>;
}

const require = createRequire(import.meta.url);
const signatures = require("@20minutes/s3rver/lib/signature/v4") as Signatures;
const Stored = require("@20minutes/s3rver/lib/stores/filesystem") as { prototype: Stored };
const S3rver = require("@20minutes/s3rver") as new (options: object) => Server;

// It deviates from S3 in four ways that matter here. It lists in the order of the file system, so that the pages of a
// long listing overlap: corrected below. It signs the path of a bucket without the slash that was sent, so that no listing
// of Bun's client would be let in: corrected here. Its ETag of an upload in parts is the MD5 of the whole. And it shows
// an object while it is still being written, so that an upload that is cut off leaves a part of it under its name.
const { getStringToSign } = signatures;
signatures.getStringToSign = (canonical, request) => {
  const isBucket = /^\/[^/]+$/.test(canonical.uri);
  return getStringToSign(
    isBucket ? { ...canonical, uri: `${canonical.uri}/` } : canonical,
    request,
  );
};

// Its tokens for the next page of a listing are encrypted with DES, which current cryptographic libraries lack.
type Ciphers = Pick<typeof import("node:crypto"), "createCipheriv" | "createDecipheriv">;
const ciphers = require("node:crypto") as Ciphers;
const { createCipheriv, createDecipheriv } = ciphers;
const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes]);
Object.assign(ciphers, {
  createCipheriv: (_: "des", key: Buffer, iv: Buffer) =>
    createCipheriv("aes-128-ctr", twice(key), twice(iv)),
  createDecipheriv: (_: "des", key: Buffer, iv: Buffer) =>
    createDecipheriv("aes-128-ctr", twice(key), twice(iv)),
});

const { listObjects } = Stored.prototype;
Stored.prototype.listObjects = async function (bucket, options) {
  const { maxKeys = Infinity } = options;
  const all = await listObjects.call(this, bucket, { ...options, maxKeys: Infinity });
  const objects = all.objects.toSorted((one, other) => (one.key < other.key ? -1 : 1));
  return { ...all, objects: objects.slice(0, maxKeys), isTruncated: objects.length > maxKeys };
};

const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory: process.argv[2]!,
  configureBuckets: [{ name: BUCKET }],
});
const { port } = await server.run();
process.stdout.write(`${port} ${ACCESS_KEY}\n`);
