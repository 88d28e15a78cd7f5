// Signature Version 4 of AWS, as a store checks it: written from its specification, and held against AWS's published examples
// (test/offsite/signatures.test.ts). https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html

import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  method: string;
  /** With its query, as it was sent. */
  path: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/;
const UNSIGNED = "UNSIGNED-PAYLOAD";

/** Why a request is not let in; null when it is. `secretOf`: undefined for an unknown access key. */
export function refusalOf(
  request: SignedRequest,
  secretOf: (accessKey: string) => string | undefined,
): string | null {
  const { headers } = request;
  const match = AUTHORIZATION.exec(headers["authorization"] ?? "");
  if (!match) return "AccessDenied";
  const [, accessKey, day, region, signedNames, signature] = match as unknown as string[];
  const secret = secretOf(accessKey!);
  if (secret === undefined) return "InvalidAccessKeyId";
  const names = signedNames!.split(";");
  const mustBeSigned = Object.keys(headers).filter((name) => /^(host|x-amz-.*)$/.test(name));
  if (!mustBeSigned.every((name) => names.includes(name))) return "AccessDenied";
  const content = headers["x-amz-content-sha256"] ?? "";
  if (content !== UNSIGNED && content !== sha256(request.body)) return "XAmzContentSHA256Mismatch";
  const date = headers["x-amz-date"] ?? "";
  if (!date.startsWith(day!)) return "SignatureDoesNotMatch";
  const canonical = canonicalRequest(request, names, content);
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`;
  const key = [day!, region!, "s3", "aws4_request"].reduce<string | Buffer>(
    (before, part) => hmac(before, part),
    `AWS4${secret}`,
  );
  return hmac(key, text).toString("hex") === signature ? null : "SignatureDoesNotMatch";
}

function canonicalRequest(
  { method, path, headers }: SignedRequest,
  names: readonly string[],
  content: string,
): string {
  const [uri, query = ""] = path.split("?") as [string, string?];
  const lines = names.map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}`);
  return [
    method,
    uri
      .split("/")
      .map((part) => encoded(decodeURIComponent(part)))
      .join("/"),
    canonicalQuery(query),
    `${lines.join("\n")}\n`,
    names.join(";"),
    content,
  ].join("\n");
}

function canonicalQuery(query: string): string {
  const pairs = query === "" ? [] : query.split("&");
  return pairs
    .map((pair) => pair.split("=").map((part) => encoded(decodeURIComponent(part))))
    .map(([name, value = ""]) => `${name}=${value}`)
    .toSorted()
    .join("&");
}

/** Every byte but the unreserved characters, in capitals. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
