// What a demo that anybody may use allows each visitor, and what its servers get to know of them.

import { expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { createVisitorLimits } from "../../../src/http/server/visitor-limits.ts";
import { IncomingRequest } from "../../../src/http1/request.ts";
import { Message } from "../../../src/http1/parser.ts";

const PROXY = "127.0.0.1";
const limits = () => createVisitorLimits([parseNetwork(PROXY)!]);

function from(visitor: string, method = "GET", path = "/"): IncomingRequest {
  const fields = ["x-forwarded-for", visitor];
  return new IncomingRequest(new Message(method, path, fields, false, false, 1000), PROXY);
}

test("a visitor may have 32 requests answered at once, whatever others do; each that ends makes room", () => {
  const admit = limits();
  const admitted = Array.from({ length: 32 }, () => admit(from("198.18.0.1")));
  const [first] = admitted;
  if (admitted.some((each) => "refused" in each) || !("end" in first!)) throw new Error("refused");
  const one = admit(from("198.18.0.1"));
  expect("refused" in one && (one.refused as Response).status).toBe(429);
  expect("refused" in admit(from("198.18.0.2"))).toBe(false);
  first.end();
  expect("refused" in admit(from("198.18.0.1"))).toBe(false);
  expect("refused" in admit(from("198.18.0.1"))).toBe(true);
});

test("a visitor may make 120 changes at once, and HEAD is none", () => {
  const admit = limits();
  const refusedOf = (method: string, visitor: string) =>
    Array.from({ length: 150 }, () => {
      const admission = admit(from(visitor, method));
      if ("end" in admission) admission.end();
      return "refused" in admission;
    }).filter((isRefused) => isRefused).length;
  expect(refusedOf("GET", "198.18.0.1")).toBe(0);
  expect(refusedOf("HEAD", "198.18.0.2")).toBe(0);
  for (const [at, method] of ["POST", "DELETE", "QUERY"].entries())
    expect([method, refusedOf(method, `198.18.0.${3 + at}`)]).toEqual([method, 30]);
});

test("servers see one invented address for each visitor, and a /64 is one visitor", () => {
  const admit = limits();
  const seen = (visitor: string) => {
    const admission = admit(from(visitor));
    if ("refused" in admission) throw new Error("refused");
    return admission.request.address;
  };
  const [one, other] = [seen("203.0.113.7"), seen("203.0.113.8")];
  expect(one).toMatch(/^2001:db8:[0-9a-f]{1,4}:[0-9a-f]{1,4}::1$/);
  expect(seen("203.0.113.7")).toBe(one);
  expect(other).not.toBe(one);
  expect(seen("2606:4700:1:2::3")).toBe(seen("2606:4700:1:2:3:4:5:6"));
  expect(seen("2606:4700:1:2::3")).not.toBe(seen("2606:4700:1:3::3"));
  // Not even who has the program can work it out.
  expect(limits()(from("203.0.113.7"))).not.toMatchObject({ request: { address: one } });
});
