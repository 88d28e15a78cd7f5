// E-mails by the compiled program: sent from the queue and by hand, by a server with TLS and a password, killed and
// started again.

import { afterEach, expect, test } from "bun:test";
import { binary, binaryJson, binaryWith, servingWith, type Serving } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import {
  localCertificate,
  type MailServerPeer,
  type MailServerSettings,
  startMailServer,
} from "../../support/peers/mail-server.ts";
import { until } from "../../support/until.ts";

const login = { user: "u@nova.example", password: "hunter2" };
let peer: MailServerPeer | undefined;
let server: Serving | undefined;
afterEach(async () => {
  server?.kill("SIGKILL");
  await server?.ended;
  await peer?.close();
});

async function mailServer(settings: MailServerSettings = {}): Promise<MailServerPeer> {
  return (peer = await startMailServer({ tls: "implicit", login, ...settings }));
}

const environment = (port: number) => ({
  RESELLER_SMTP: `smtps://${encodeURIComponent(login.user)}@127.0.0.1:${port}`,
  RESELLER_SMTP_PASSWORD: login.password,
  RESELLER_MAIL_FROM: "Nova <orders@nova.example>",
  NODE_EXTRA_CA_CERTS: localCertificate().cert,
});

async function invite(folder: string, name: string): Promise<void> {
  await binaryJson(folder, "admin", "portal", "invite", "alice", "--email", `${name}@x.example`);
}

test("an invitation is sent over TLS with a link to the portal, and the test says what was answered", async () => {
  const folder = freshFolder();
  const { port, received } = await mailServer();
  server = await servingWith(environment(port), folder, "serve", "--portal");
  await binaryJson(folder, "admin", "user", "create", "alice", "--name", "Alice");
  await invite(folder, "ann");
  await until(() => received.length === 1);
  const [{ mail, isSecure, user, raw }] = received as [(typeof received)[number]];
  expect([isSecure, user, mail.subject]).toEqual([true, login.user, "Your invitation to Nova"]);
  const link = new RegExp(`${server.url}/portal/set-up#[\\w-]{43}`).exec(mail.text!)![0];
  expect((await fetch(link)).status).toBe(200);
  expect(raw).not.toContain(login.password);
  const tested = await binaryWith(
    environment(port),
    folder,
    "admin",
    "mail",
    "test",
    "you@x.example",
  );
  expect([tested.code, tested.stderr]).toEqual([0, ""]);
  expect(received[1]!.mail.subject).toBe("Nova: test");
  const { stdout } = await binary(folder, "admin", "mail", "list");
  expect(stdout).toMatch(/ann@x\.example\s.*sent/);
  for (const text of [server.stdout(), server.stderr(), stdout, tested.stdout])
    expect(text).not.toContain(login.password);
  expect(server.stdout() + server.stderr()).not.toContain(link.split("#")[1]!);
});

test("a server that is killed while it sends loses no mail, and starts again without --smtp", async () => {
  const folder = freshFolder();
  let isHanging = true;
  const { port, received } = await mailServer({ judge: () => (isHanging ? "hang" : null) });
  server = await servingWith(environment(port), folder, "serve", "--portal");
  await binaryJson(folder, "admin", "user", "create", "alice", "--name", "Alice");
  for (const name of ["ann", "bob", "carl"]) await invite(folder, name);
  const states = async () =>
    ((await binaryJson(folder, "admin", "mail", "list")) as { state: string }[]).map(
      ({ state }) => state,
    );
  await until(async () => (await states()).includes("sending"));
  server.kill("SIGKILL");
  await server.ended;
  isHanging = false;
  server = await servingWith(environment(port), folder, "serve", "--portal");
  await until(async () => (await states()).every((state) => state === "sent"));
  expect(received.map(({ to }) => to).toSorted()).toEqual(
    ["ann", "bob", "carl"].map((name) => `${name}@x.example`),
  );
  server.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);
  server = await servingWith({}, folder, "serve", "--portal");
  const { stdout } = await binary(
    folder,
    "admin",
    "portal",
    "invite",
    "alice",
    "--email",
    "dora@x.example",
  );
  expect(stdout).toContain("/portal/set-up#");
});
