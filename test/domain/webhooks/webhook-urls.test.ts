// The URL of an endpoint, judged only by its text.

import { describe, expect, test } from "bun:test";
import { parseWebhookUrl } from "../../../src/domain/webhooks/webhook-urls.ts";

const HTTPS = "an https URL";

describe("a webhook's URL", () => {
  const REFUSED: readonly [string, string][] = [
    ["", HTTPS],
    ["hooks.example", HTTPS],
    ["http://hooks.example/", HTTPS],
    ["ftp://hooks.example/", HTTPS],
    ["file:///etc/passwd", HTTPS],
    ["javascript:alert(1)", HTTPS],
    ["https://", HTTPS],
    ["https://hooks.example:99999/", HTTPS],
    [" https://hooks.example/", HTTPS],
    ["https://hooks.ex\nample/", HTTPS],
    ["https://hooks.example/\0", HTTPS],
    ["https://user@hooks.example/", "a URL without user and password"],
    ["https://user:word@hooks.example/", "a URL without user and password"],
    ["https://@hooks.example/", "a URL without user and password"],
    ["https:\\\\user@hooks.example/", "a URL without user and password"],
    ["https:user@hooks.example/", "a URL without user and password"],
    ["https://hooks.example/#part", "a URL without a fragment"],
    ["https://hooks.example/#", "a URL without a fragment"],
    [`https://hooks.example/${"a".repeat(2048)}`, "at most 2048 characters"],
    // As it is requested, with each letter in two bytes as %C3%A4.
    [`https://hooks.example/${"ä".repeat(1000)}`, "at most 2048 characters"],
  ];
  for (const [text, must] of REFUSED) {
    test(`must be ${must}: ${JSON.stringify(text.slice(0, 60))}`, () => {
      expect(parseWebhookUrl(text, false)).toEqual({ must });
    });
  }

  test("is stored in the form in which it is requested", () => {
    const of = (text: string) => parseWebhookUrl(text, false);
    expect(of("HTTPS://Hooks.Example:443")).toEqual({ url: "https://hooks.example/" });
    expect(of("https://hooks.example/a?b=@#".slice(0, -1))).toEqual({
      url: "https://hooks.example/a?b=@",
    });
    expect(of("https://bücher.example/")).toEqual({ url: "https://xn--bcher-kva.example/" });
    expect(of(`https://h.example/${"a".repeat(2030)}`)).toHaveProperty("url");
  });

  test("may be http only where the operator allows it", () => {
    expect(parseWebhookUrl("http://hooks.example/", true)).toEqual({
      url: "http://hooks.example/",
    });
    expect(parseWebhookUrl("ftp://hooks.example/", true)).toEqual({
      must: "an http or https URL",
    });
  });
});
