// The client's address, for each way in which proxies write X-Forwarded-For.

import { expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { clientAddress, UNKNOWN_ADDRESS } from "../../../src/http/server/client-address.ts";

const TRUSTED = [parseNetwork("127.0.0.0/8")!, parseNetwork("2001:db8:1::/48")!];
const PROXY = "127.0.0.1";

const callerOf = (forwarded: string | null, connection: string | undefined = PROXY) =>
  clientAddress(connection, forwarded, TRUSTED);

test.each([
  ["8.8.8.8", "8.8.8.8"],
  ["8.8.8.8:1234", "8.8.8.8"],
  ["2001:db8::1", "2001:db8::1"],
  ["[2001:DB8::1]", "2001:db8::1"],
  ["[2001:db8::1]:1234", "2001:db8::1"],
  ["::ffff:8.8.8.8", "8.8.8.8"],
  ["[::ffff:8.8.8.8]:80", "8.8.8.8"],
  ["::8.8.8.8", "::808:808"],
  ["\t 8.8.8.8\t ", "8.8.8.8"],
  ["9.9.9.9, 8.8.8.8", "8.8.8.8"],
  ["garbage, 8.8.8.8", "8.8.8.8"],
  ["8.8.8.8:1234, 127.0.0.2:80, [2001:db8:1::9]:443", "8.8.8.8"],
  ["127.0.0.3, 127.0.0.2", "127.0.0.3"],
])("a trusted proxy's %p means %p", (forwarded, address) => {
  expect(callerOf(forwarded)).toBe(address);
});

test.each([
  "", " ", ",", "8.8.8.8,", "8.8.8.8, ", "unknown", "_hidden", "garbage", "proxy.internal", "8.8.8.8:", "8.8.8.8:123456",
  "8.8.8.8:http", "8.8.8", "010.0.0.1", "8.8.8.8/32", "[8.8.8.8", "[8.8.8.8]x", "2001:db8::1]:80", "[]", "[]:80",
  "fe80::1%eth0", "[fe80::1%25eth0]:80", '"[2001:db8::1]:80"', "for=8.8.8.8", "8.8.8.8 127.0.0.1", "8.8.8.8;127.0.0.1",
  "127.0.0.2, unknown", "8.8.8.8, unknown, 127.0.0.2",
])("a trusted proxy's %p is an unknown address, not the proxy's", (forwarded) => {
  expect(callerOf(forwarded)).toBe(UNKNOWN_ADDRESS);
}); // prettier-ignore

test("X-Forwarded-For of an untrusted peer is ignored, and without the header a proxy's own address counts", () => {
  expect(callerOf("8.8.8.8", "10.0.0.1")).toBe("10.0.0.1");
  expect(callerOf("garbage", "10.0.0.1")).toBe("10.0.0.1");
  expect(callerOf(null)).toBe(PROXY);
  expect(callerOf("8.8.8.8", "")).toBe(UNKNOWN_ADDRESS);
  expect(clientAddress(undefined, "8.8.8.8", TRUSTED)).toBe(UNKNOWN_ADDRESS);
});
