// The settings for e-mail: each value, and which of them belong together.

import { afterEach, describe, expect, test } from "bun:test";
import { mailAddress, mailFrom, mailServer, missingForMail } from "../../src/config/mail-values.ts";
import { reseller } from "../support/worlds/shop.ts";
import { freshFolder } from "../support/folders.ts";

const SECRET = "hunter2";

test.each([
  ["smtps://u@mail.example", { isTls: true, host: "mail.example", port: 465, user: "u" }],
  ["smtp://mail.example", { isTls: false, host: "mail.example", port: 587, user: null }],
  ["smtp://127.0.0.1:25/", { isTls: false, host: "127.0.0.1", port: 25, user: null }],
  ["smtp://[::1]:2525", { isTls: false, host: "::1", port: 2525, user: null }],
  [
    "smtps://u%40x.example@mail.example:1465",
    { isTls: true, host: "mail.example", port: 1465, user: "u@x.example" },
  ],
] as const)("the mail server %s, and as it is printed", (text, server) => {
  const parsed = mailServer.parse(text);
  expect(parsed).toEqual({ ...server, hasPassword: false });
  expect(mailServer.parse(mailServer.format(parsed))).toEqual(parsed);
});

test.each([
  "mail.example",
  "http://mail.example",
  "smtps://",
  "smtp://h/path",
  "smtp://h?x=1",
  "smtp://h:99999",
  "",
])("no mail server: %p", (text) => {
  expect(() => mailServer.parse(text)).toThrow("must be smtps://");
});

test("a password in the address is printed nowhere", () => {
  const server = mailServer.parse(`smtps://u:${SECRET}@mail.example`);
  expect(server.hasPassword).toBe(true);
  expect(JSON.stringify(server) + mailServer.format(server)).not.toContain(SECRET);
});

test.each([
  ["orders@shop.example", { name: null, address: "orders@shop.example" }],
  ["Shop <orders@shop.example>", { name: "Shop", address: "orders@shop.example" }],
  [' "Shop, Inc." <orders@shop.example> ', { name: "Shop, Inc.", address: "orders@shop.example" }],
  ["<orders@shop.example>", { name: null, address: "orders@shop.example" }],
])("the sender %p", (text, from) => {
  expect(mailFrom.parse(text)).toEqual(from);
  expect(mailFrom.parse(mailFrom.format(from))).toEqual(from);
});

test.each([
  "shop",
  "Shop <>",
  "a@b",
  "a@x.example, b@x.example",
  "Shop\r\nBcc: e@x.example <a@x.example>",
  "a@x.example\nBcc: e@x.example",
  "<a@x.example> <b@x.example>",
])("no address: %p", (text) => {
  expect(() => mailFrom.parse(text)).toThrow("must be an e-mail address");
  expect(() => mailAddress.parse(text)).toThrow("must be an e-mail address");
});

const server = mailServer.parse("smtps://mail.example");
const signedIn = mailServer.parse("smtps://u@mail.example");
const from = mailFrom.parse("a@x.example");
const NONE = { smtp: null, smtpPassword: null, mailFrom: null, mailOperator: null };

test.each([
  ["nothing", {}, null],
  ["a server and a sender", { smtp: server, mailFrom: from }, null],
  ["a user with its password", { smtp: signedIn, smtpPassword: SECRET, mailFrom: from }, null],
  ["only a server", { smtp: server }, "--mail-from"],
  ["only a sender", { mailFrom: from }, "without --smtp"],
  ["only the operator", { mailOperator: "a@x.example" }, "without --smtp"],
  ["a user without a password", { smtp: signedIn, mailFrom: from }, "RESELLER_SMTP_PASSWORD"],
  [
    "a password without a user",
    { smtp: server, smtpPassword: SECRET, mailFrom: from },
    "needs the user",
  ],
  [
    "a password in the address",
    { smtp: mailServer.parse(`smtps://u:${SECRET}@h`), mailFrom: from },
    "RESELLER_SMTP_PASSWORD",
  ],
] as const)("%s", (_, settings, missing) => {
  const said = missingForMail({ ...NONE, ...settings });
  if (missing === null) expect(said).toBe(null);
  else expect(said).toContain(missing);
  expect(said ?? "").not.toContain(SECRET);
});

describe("serve", () => {
  afterEach(() => {
    delete process.env["RESELLER_SMTP_PASSWORD"];
  });

  test.each([
    ["without a sender", ["--smtp", "smtp://127.0.0.1:25"], "--mail-from"],
    [
      "with a portal whose address is not known",
      [
        "--smtp",
        "smtp://127.0.0.1:25",
        "--mail-from",
        "a@x.example",
        "--portal",
        "--host",
        "0.0.0.0",
        "--tls-cert",
        "c",
        "--tls-key",
        "k",
      ],
      "--portal-url",
    ],
    ["with the password as a flag", ["--smtp-password", SECRET], "read command lines"],
  ] as const)("%s does not start", async (_, argv, message) => {
    const ran = await reseller("serve", ...argv, "--data", freshFolder(), "--port", "0");
    expect([ran.code, ran.stderr.includes(message)]).toEqual([2, true]);
    expect(ran.stderr).not.toContain(SECRET);
  });

  test("config show prints the settings without the password", async () => {
    process.env["RESELLER_SMTP_PASSWORD"] = SECRET;
    const { stdout } = await reseller("config", "show", "--smtp", "smtps://u@mail.example");
    expect(stdout).toContain("smtps://u@mail.example:465");
    expect(stdout).not.toContain(SECRET);
  });
});
