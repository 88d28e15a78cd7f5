// What is sent to a store is signed as AWS says: by a verifier that agrees with the examples that AWS publishes.

import { describe, expect, test } from "bun:test";
import { openStore } from "../../src/offsite/store.ts";
import { refusalOf, type SignedRequest } from "./sigv4.ts";

const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const TEXT = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";

function example(
  method: string,
  path: string,
  headers: Record<string, string>,
  signature: string,
  body = "",
): SignedRequest {
  const all: Record<string, string> = {
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-date": "20130524T000000Z",
    ...headers,
  };
  const names = Object.keys(all).toSorted().join(";");
  const credential = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names},Signature=${signature}`;
  return { method, path, headers: { ...all, authorization }, body: Buffer.from(body) };
}

/** "Examples: Signature Calculations" of the documentation of Amazon S3. */
const EXAMPLES: [string, SignedRequest][] = [
  [
    "GET Object",
    example(
      "GET",
      "/test.txt",
      { range: "bytes=0-9", "x-amz-content-sha256": EMPTY },
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ),
  ],
  [
    "PUT Object",
    example(
      "PUT",
      "/test$file.text",
      {
        date: "Fri, 24 May 2013 00:00:00 GMT",
        "x-amz-content-sha256": TEXT,
        "x-amz-storage-class": "REDUCED_REDUNDANCY",
      },
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
      "Welcome to Amazon S3.",
    ),
  ],
  [
    "GET Bucket Lifecycle",
    example(
      "GET",
      "/?lifecycle",
      { "x-amz-content-sha256": EMPTY },
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ),
  ],
  [
    "List Objects",
    example(
      "GET",
      "/?max-keys=2&prefix=J",
      { "x-amz-content-sha256": EMPTY },
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ),
  ],
];

describe("the verifier", () => {
  const secretOf = (key: string) => (key === "AKIAIOSFODNN7EXAMPLE" ? SECRET : undefined);

  test.each(EXAMPLES)("accepts AWS's example %s, and refuses it with any change", (_, request) => {
    expect(refusalOf(request, secretOf)).toBeNull();
    const { headers, path, body } = request;
    const later = { ...headers, "x-amz-date": "20130524T000001Z" };
    const more = { ...headers, "x-amz-acl": "public-read" };
    for (const changed of [
      { ...request, method: "DELETE" },
      { ...request, path: path.includes("?") ? `${path}&a=b` : `${path}?a=b` },
      { ...request, path: path.replace("/", "/x") },
      { ...request, headers: later },
      { ...request, headers: more },
      { ...request, body: Buffer.concat([body, Buffer.from("x")]) },
    ]) {
      expect(refusalOf(changed, secretOf)).toBeString();
    }
    expect(refusalOf(request, () => `${SECRET}x`)).toBe("SignatureDoesNotMatch");
    expect(refusalOf(request, () => undefined)).toBe("InvalidAccessKeyId");
  });
});

test("requests that list, write, read and remove are signed as the verifier expects", async () => {
  const judged: (string | null)[][] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, headers, url } = request;
      const body = await request.bytes();
      const path = url.slice(new URL(url).origin.length);
      const all = Object.fromEntries(headers.entries());
      const refused = refusalOf({ method, path, headers: all, body }, () => SECRET);
      judged.push([method, refused]);
      return new Response(path.includes("list-type") ? "<ListBucketResult/>" : "text");
    },
  });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const key = { accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: SECRET, region: "us-east-1" };
  const store = openStore({ bucket: "backups", prefix: "shop/one", endpoint, ...key });
  await store.list();
  await store.putText("reseller-2026.json", "{}");
  await store.getText("reseller-2026.json");
  await store.remove("reseller-2026.json");
  await server.stop(true);
  expect(judged).toEqual(["GET", "PUT", "GET", "DELETE"].map((method) => [method, null]));
});
