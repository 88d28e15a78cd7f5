// Codes of the second factor, judged by another implementation of RFC 6238.

import fc from "fast-check";
import { Secret, TOTP } from "otpauth";
import { expect, test } from "bun:test";
import {
  base32,
  codeOf,
  hashRecoveryCode,
  recoveryCode,
  stepAt,
  stepOfCode,
} from "../../../src/domain/sign-ins/second-factor.ts";

const STEP = 30_000;

test("base32 and codes are those of RFC 4648 and RFC 6238", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 10, maxLength: 32 }),
      fc.integer({ min: 0, max: 4e12 }),
      (bytes, now) => {
        const secret = base32(bytes);
        expect(secret).toBe(new Secret({ buffer: new Uint8Array(bytes).buffer }).base32);
        const judge = new TOTP({ secret: Secret.fromBase32(secret) });
        expect(codeOf(secret, stepAt(now))).toBe(judge.generate({ timestamp: now }));
      },
    ),
  );
});

test("a code is taken one step early and one step late, and no further", () => {
  const secret = base32(new Uint8Array(20).fill(7));
  const now = 1_800_000_000_000;
  const judge = new TOTP({ secret: Secret.fromBase32(secret) });
  for (const steps of [-3, -2, -1, 0, 1, 2, 3]) {
    const code = judge.generate({ timestamp: now + steps * STEP });
    const expected = Math.abs(steps) <= 1 ? stepAt(now) + steps : null;
    expect([steps, stepOfCode(secret, code, now, 0)]).toEqual([steps, expected]);
  }
});

test("no code is taken twice, nor one of an earlier step than the last", () => {
  const secret = base32(new Uint8Array(20).fill(9));
  const now = 1_800_000_000_000;
  const step = stepAt(now);
  const codes = [-1, 0, 1].map((each) => codeOf(secret, step + each));
  expect(codes.map((code) => stepOfCode(secret, code, now, step))).toEqual([null, null, step + 1]);
});

test("a recovery code counts however it is written, and only that one", () => {
  const code = recoveryCode(new Uint8Array(10).fill(200));
  expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  const ways = [
    code,
    code.toUpperCase(),
    code.replaceAll("-", ""),
    ` ${code.replaceAll("-", " ")} `,
  ];
  expect(new Set(ways.map(hashRecoveryCode)).size).toBe(1);
  expect(hashRecoveryCode(recoveryCode(new Uint8Array(10).fill(201)))).not.toBe(
    hashRecoveryCode(code),
  );
});
