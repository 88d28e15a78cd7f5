// Which addresses webhooks may go to, in every spelling.

import { describe, expect, test } from "bun:test";
import { parseNetwork } from "../../src/config/networks.ts";
import { findTarget, isPublic, type TargetPolicy } from "../../src/webhooks/targets.ts";
import { SPELLINGS } from "./spellings.ts";

const CLOSED: TargetPolicy = { allow: [], allowHttp: true };
const open = (...networks: string[]): TargetPolicy => ({
  allow: networks.map((network) => parseNetwork(network)!),
  allowHttp: true,
});
const never = () => Promise.reject(new Error("an address was looked up as a name"));

/** First and last address of each range, and the public neighbours. */
const REFUSED = [
  ..."0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255".split(" "),
  ..."127.0.0.0 127.0.0.1 127.255.255.255 169.254.0.0 169.254.169.254 169.254.255.255".split(" "),
  ..."172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255".split(" "),
  ..."192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255".split(" "),
  ..."198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255".split(" "),
  ..."240.0.0.0 255.255.255.254 255.255.255.255".split(" "),
  ...":: ::1 ::2 ::127.0.0.1 ::8.8.8.8 fe80:: fe80::1 febf:ffff::1 fec0::1 fc00:: fdff::1".split(
    " ",
  ),
  ..."ff00:: ff02::1 ffff::1 2001:db8:: 2001:db8:ffff:ffff::1 3fff:: 3fff:fff:ffff::1".split(" "),
  ..."100:: 100::ffff 100:0:0:1:: 2002:: 2002:7f00:1:: 2002:808:808::1 2001:: 2001:1ff::1".split(
    " ",
  ),
  ..."64:ff9b:: 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1:: 64:ff9b:1:ffff::1 5f00:: 5f00::1".split(
    " ",
  ),
  ..."::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.1.2.3 ::ffff:169.254.169.254 ::ffff:0.0.0.0".split(
    " ",
  ),
  ..."0:0:0:0:0:ffff:127.0.0.1 ::ffff:0:127.0.0.1 fe80::1%eth0 2600::1%eth0".split(" "),
];
const PUBLIC = [
  ..."1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0".split(" "),
  ..."126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0".split(" "),
  ..."192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0".split(" "),
  ..."198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255".split(" "),
  ..."2000:: 2001:200:: 2001:db7:ffff::1 2001:db9:: 2003:: 2600::1 2606:4700::1111".split(" "),
  ..."3ffe:ffff::1 3fff:1000:: ::ffff:8.8.8.8".split(" "),
];

describe("an address", () => {
  test.each(REFUSED)("that is special is not public: %s", (address) => {
    expect(isPublic(address)).toBe(false);
  });

  test.each(PUBLIC)("beside the special ones is public: %s", (address) => {
    expect(isPublic(address)).toBe(true);
  });

  test("an invalid address is not public", () => {
    for (const text of ["", "localhost", "127.1", "0177.0.0.1", "2130706433", "0x7f000001"]) {
      expect([text, isPublic(text)]).toEqual([text, false]);
    }
  });
});

describe("a URL of an address", () => {
  test.each(SPELLINGS)("is refused in every spelling, without a look-up: %s", async (host) => {
    expect(await findTarget(`http://${host}/`, CLOSED, never)).toEqual({
      refused: "blocked_address",
    });
  });

  test("is that address, once its network is allowed: IPv4-mapped as IPv4", async () => {
    const loopback = open("127.0.0.0/8");
    for (const host of ["0x7f.1", "2130706433", "[::ffff:7f00:1]"]) {
      const target = await findTarget(`http://${host}/`, loopback, never);
      expect(target).toEqual({ address: "127.0.0.1" });
    }
    const refused = { refused: "blocked_address" };
    expect(await findTarget("http://[::1]/", loopback, never)).toEqual(refused as never);
    expect(await findTarget("http://10.0.0.1/", loopback, never)).toEqual(refused as never);
    expect(await findTarget("http://[::1]/", open("::1/128"), never)).toEqual({ address: "::1" });
  });
});

describe("a URL of a name", () => {
  const target = (addresses: string[], policy = CLOSED) =>
    findTarget("https://hooks.example/", policy, async () => addresses);

  test("is refused if any of its addresses is special, wherever that stands", async () => {
    const refused = { refused: "blocked_address" } as const;
    expect(await target(["127.0.0.1"])).toEqual(refused);
    expect(await target(["8.8.8.8", "127.0.0.1"])).toEqual(refused);
    expect(await target(["2600::1", "8.8.8.8", "::ffff:10.0.0.1"])).toEqual(refused);
    expect(await target(["8.8.8.8", "not an address"])).toEqual(refused);
    expect(await target(["8.8.8.8", "127.0.0.1"], open("127.0.0.0/8"))).toHaveProperty("address");
  });

  test("leads to one of its addresses, an IPv4 one if there is any", async () => {
    expect(await target(["2600::1", "8.8.8.8", "1.1.1.1"])).toEqual({ address: "8.8.8.8" });
    expect(await target(["2600::1", "2600::2"])).toEqual({ address: "2600::1" });
  });

  test("without addresses, or that cannot be looked up, is `dns`", async () => {
    expect(await target([])).toEqual({ refused: "dns" });
    expect(await findTarget("https://hooks.example/", CLOSED, never)).toEqual({ refused: "dns" });
  });

  test("is looked up without the root's dot, by the system's hosts too", async () => {
    expect(await findTarget("https://localhost./", CLOSED)).toEqual({ refused: "blocked_address" });
  });

  test("that may not be requested is `url_not_allowed`, before any look-up", async () => {
    for (const url of ["http://a.example/", "https://u@a.example/", "nonsense"]) {
      const found = await findTarget(url, { allow: [], allowHttp: false }, never);
      expect(found).toEqual({ refused: "url_not_allowed" });
    }
  });
});
