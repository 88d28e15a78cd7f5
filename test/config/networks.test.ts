// Networks and addresses: parsing, membership, rate limit groups.

import { expect, test } from "bun:test";
import {
  canonicalAddress,
  rateLimitGroup,
  formatNetwork,
  isWithin,
  type Network,
  parseNetwork,
} from "../../src/config/networks.ts";

const networks = (...texts: string[]): Network[] => texts.map((text) => parseNetwork(text)!);

test("networks parse in v4 and v6, and a single address is a network of one", () => {
  const printed = {
    "10.0.0.0/8": "10.0.0.0/8",
    "192.0.2.7": "192.0.2.7/32",
    "0.0.0.0/0": "0.0.0.0/0",
    "2001:db8::/32": "2001:db8::/32",
    "::1": "::1/128",
    "::ffff:192.0.2.7": "192.0.2.7/32",
  };
  for (const [text, network] of Object.entries(printed)) {
    expect(formatNetwork(parseNetwork(text)!)).toBe(network);
  }
});

test.each([
  "", "10.0.0.1/8", "10.0.0.0/33", "2001:db8::/129", "2001:db8::1/32", "10.1", "0x7f.0.0.1", "256.0.0.1",
  "010.0.0.1", "::ffff:010.0.0.1", "::192.0.2.7%1", "::192.0.2.256", "example.com", "10.0.0.0/", "10.0.0.0/-1", "fe80::1%eth0", "10.0.0.0/8/8", " 10.0.0.0/8",
])("%p is not a network", (text) => {
  expect(parseNetwork(text)).toBeNull();
}); // prettier-ignore

test("an address is in a network or not, v4 inside v6 included", () => {
  const allowed = networks("10.0.0.0/8", "2001:db8::/32");
  for (const address of ["10.255.0.1", "::ffff:10.0.0.1", "2001:db8:ffff::1"]) {
    expect(isWithin(address, allowed)).toBe(true);
  }
  for (const address of ["11.0.0.1", "::ffff:11.0.0.1", "2001:db9::1", "unknown", ""]) {
    expect(isWithin(address, allowed)).toBe(false);
  }
  expect(isWithin("2001:db8::1", networks("0.0.0.0/0"))).toBe(false);
});

test("only the mapped IPv6 form of an IPv4 address counts as that address", () => {
  const allowed = networks("10.1.1.1", "8.1.1.1");
  for (const mapped of ["::ffff:10.1.1.1", "::FFFF:a01:101", "0:0:0:0:0:ffff:10.1.1.1"]) {
    expect([mapped, isWithin(mapped, allowed), canonicalAddress(mapped)]).toEqual([
      mapped,
      true,
      "10.1.1.1",
    ]);
  }
  for (const other of [
    "::10.1.1.1",
    "::a01:101",
    "0:0:0:0:0:0:10.1.1.1",
    "::ffff:0:10.1.1.1",
    "64:ff9b::10.1.1.1",
    "2002:a01:101::",
    "010.1.1.1",
  ]) {
    expect([other, isWithin(other, allowed)]).toEqual([other, false]);
  }
  expect(canonicalAddress("::10.1.1.1")).toBe("::a01:101");
  expect(isWithin("::a01:101", networks("::10.1.1.1"))).toBe(true);
});

test("addresses have a canonical form; the rate limit group of an IPv6 address is its /64", () => {
  expect(canonicalAddress("2001:DB8:0::1")).toBe("2001:db8::1");
  expect(canonicalAddress("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("not one")).toBeNull();
  expect(rateLimitGroup("2001:db8::1")).toBe(rateLimitGroup("2001:db8::ffff:1"));
  expect(rateLimitGroup("2001:db8::1")).not.toBe(rateLimitGroup("2001:db8:0:1::1"));
  expect(rateLimitGroup("192.0.2.1")).toBe("192.0.2.1");
});
