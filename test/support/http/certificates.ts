// Certificates to test with, made without openssl: a machine that runs `check` may have none.

import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface CertificateFiles {
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 2;
const BIT_STRING = 3;
const OCTET_STRING = 4;
const OBJECT_ID = 6;
const UTF8_STRING = 12;
const UTC_TIME = 0x17;
const BOOLEAN = 1;
/** Tags of the parts of a certificate and of names in it that are told apart by their number. */
const numbered = (number: number, isConstructed: boolean) => (isConstructed ? 0xa0 : 0x80) + number;
const COMMON_NAME = objectId(0x55, 4, 3);
const ALTERNATIVE_NAMES = objectId(0x55, 0x1d, 17);
const BASIC_CONSTRAINTS = objectId(0x55, 0x1d, 19);
/** ecdsa-with-SHA256. */
const ALGORITHM = der(SEQUENCE, objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2));

/** A certificate for `name` and 127.0.0.1, or for `names`, as two PEM files in the folder. Signed by `ca`, or by itself. */
export function makeCertificate(
  folder: string,
  name: string,
  days = 30,
  ca?: CertificateFiles,
  names = "IP:127.0.0.1",
): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const content = der(
    SEQUENCE,
    der(numbered(0, true), der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.concat([Buffer.of(1), crypto.getRandomValues(Buffer.alloc(15))])),
    ALGORITHM,
    ca ? subjectOf(ca.cert) : subject(name),
    der(SEQUENCE, time(Date.now() - 1000), time(Date.now() + days * DAY_MS)),
    subject(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(numbered(3, true), der(SEQUENCE, authority(), alternativeNames(names))),
  );
  const signer = ca ? createPrivateKey(readFileSync(ca.key)) : privateKey;
  const signature = der(BIT_STRING, Buffer.of(0), sign("sha256", content, signer));
  const certificate = der(SEQUENCE, content, ALGORITHM, signature).toString("base64");
  const lines = certificate.match(/.{1,64}/g)!.join("\n");
  writeFileSync(files.cert, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  writeFileSync(files.key, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  return files;
}

function subject(name: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(name)))));
}

/** The subject of a certificate that makeCertificate made: its file is named after it. */
function subjectOf(file: string): Buffer {
  return subject(file.replace(/^.*\/|\.crt$/g, ""));
}

/** May sign others, so that it can be trusted by itself. */
function authority(): Buffer {
  const isAuthority = der(SEQUENCE, der(BOOLEAN, Buffer.of(0xff)));
  return extension(BASIC_CONSTRAINTS, isAuthority);
}

/** `names` as openssl has them: DNS:name and IP:address, with commas between. */
function alternativeNames(names: string): Buffer {
  const each = names.split(",").map((one) => {
    const [kind, value] = one.split(/:(.*)/) as ["DNS" | "IP", string];
    if (kind === "DNS") return der(numbered(2, false), Buffer.from(value));
    return der(numbered(7, false), Buffer.from(value.split(".").map(Number)));
  });
  return extension(ALTERNATIVE_NAMES, der(SEQUENCE, ...each));
}

function extension(id: Buffer, value: Buffer): Buffer {
  return der(SEQUENCE, id, der(OCTET_STRING, value));
}

/** YYMMDDHHMMSSZ. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().slice(2, 19).replaceAll(/[^\d]/g, "");
  return der(UTC_TIME, Buffer.from(`${digits}Z`));
}

function objectId(...bytes: number[]): Buffer {
  return der(OBJECT_ID, Buffer.from(bytes));
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}
