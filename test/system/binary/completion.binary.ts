// Completion in real shells, and the conventions of the command line: help, version, errors for programs, colours, and
// where an installed program keeps its data.

import { chmodSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { binary, BINARY, binaryJson, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

function ran(command: string[], folder: string, environment: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "xterm", ...environment },
  });
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** The script that the binary prints for a shell, in a file of a fresh folder. */
async function scriptOf(shell: string, name = `reseller.${shell}`): Promise<string> {
  const folder = freshFolder();
  const { code, stdout } = await binary(folder, "completion", shell);
  expect(code).toBe(0);
  writeFileSync(join(folder, name), stdout);
  return folder;
}

/** What may follow; every shell is asked the same. */
const CASES: [line: string, completed: string[]][] = [
  ["reseller admin us", ["user"]],
  ["reseller admin user cr", ["create", "credit"]],
  ["reseller --vers", ["--version"]],
  ["reseller serve --data x --backup-t", ["--backup-to"]],
  ["reseller serve --s3-", ["--s3-endpoint", "--s3-region"]],
  ["reseller admin order list --status COMP", ["COMPLETED"]],
  ["reseller admin order list --user alice --plac", ["--placement"]],
  ["reseller completion f", ["fish"]],
  ["reseller backup ch", ["check"]],
];

test("bash completes commands, flags and the values of flags, and never a secret's", async () => {
  const folder = await scriptOf("bash");
  for (const [line, completed] of CASES) {
    const script = `. ./reseller.bash; COMP_WORDS=(${line}); COMP_CWORD=${line.split(" ").length - 1}; _reseller; echo "\${COMPREPLY[@]}"`;
    expect([line, ran(["bash", "-c", script], folder)]).toMatchObject([
      line,
      { stdout: `${completed.join(" ")}\n`, stderr: "" },
    ]);
  }
  const split = `. ./reseller.bash; COMP_WORDS=(reseller admin order list --status = PEN); COMP_CWORD=6; _reseller; echo "\${COMPREPLY[@]}"`;
  expect(ran(["bash", "-c", split], folder).stdout).toBe("PENDING\n");
  const file = `. ./reseller.bash; COMP_WORDS=(reseller admin service import cat); COMP_CWORD=4; _reseller; echo "\${#COMPREPLY[@]}"; complete -p reseller`;
  expect(ran(["bash", "-c", file], folder).stdout).toBe(
    "0\ncomplete -o default -F _reseller reseller\n",
  );
});

test("zsh completes them on its own line editor", async () => {
  const folder = await scriptOf("zsh", "_reseller");
  // A key that completes the word before the cursor, prints the line, and ends the shell.
  writeFileSync(
    join(folder, ".zshrc"),
    `fpath=(${folder} $fpath); autoload -U compinit; compinit -u -D
finish() { zle complete-word; print -r -- "<$BUFFER>"; exit }
zle -N finish; bindkey '^X' finish; PS1='ready '`,
  );
  const ask = (line: string) => {
    const script = `zmodload zsh/zpty; zpty z "ZDOTDIR=${folder} zsh -d -i"; zpty -r -m z got '*ready*'
zpty -w -n z ${JSON.stringify(line)}$'\\C-x'; zpty -r -m z got '*<*>*'; print -r -- "\${\${got##*<}%%>*}"`;
    return ran(["zsh", "-f", "-c", script], folder).stdout.trim();
  };
  for (const [line, completed] of CASES.filter(([, { length }]) => length === 1)) {
    expect(ask(line)).toBe([...line.split(" ").slice(0, -1), completed[0]].join(" "));
  }
  // What several have in common.
  expect(ask("reseller admin user cr")).toBe("reseller admin user cre");
});

test("fish completes them with their descriptions", async () => {
  const folder = await scriptOf("fish");
  for (const [line, completed] of CASES) {
    const script = `source reseller.fish; complete -C '${line}'`;
    const { stdout, stderr } = ran(["fish", "--no-config", "-c", script], folder);
    const words = stdout.split("\n").map((found) => found.split("\t")[0]!);
    expect([line, stderr, words.filter((word) => word !== "").toSorted()]).toEqual([
      line,
      "",
      completed.toSorted(),
    ]);
  }
  const described = ran(
    ["fish", "--no-config", "-c", "source reseller.fish; complete -C 'reseller admin us'"],
    folder,
  );
  expect(described.stdout).toContain("user\tresellers, child users and their balances");
});

test("-v and -V print the version; help for an unknown command exits 2 and suggests similar names", async () => {
  const folder = freshFolder();
  const version = await binary(folder, "--version");
  expect(version).toMatchObject({ code: 0, stderr: "" });
  for (const flag of ["-v", "-V"]) expect(await binary(folder, flag)).toEqual(version);
  expect(await binary(folder, "help")).toEqual(await binary(folder, "--help"));
  for (const argv of [
    ["help", "usr"],
    ["help", "admin", "usr"],
    ["admin", "usr", "--help"],
    ["help", "serve", "more"],
    ["help", "backup", "lst"],
  ]) {
    const { code, stdout, stderr } = await binary(folder, ...argv);
    expect([argv, code, stdout]).toEqual([argv, 2, ""]);
    expect(stderr).toStartWith("error: unknown command '");
  }
  const near = await binary(folder, "help", "admin", "usr");
  expect(near.stderr).toContain("Did you mean user?");
  // On the wrong side of `admin`.
  for (const [argv, meant] of [
    [["user", "list"], "reseller admin user"],
    [["order", "--help"], "reseller admin order"],
    [["admin", "report", "--by", "day"], "reseller report"],
    [["help", "admin", "backup"], "reseller backup"],
  ] as const) {
    const { code, stdout, stderr } = await binary(folder, ...argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`(Did you mean ${meant}?)`);
  }
});

test("with --json an error is one JSON document with a code, on stderr", async () => {
  const folder = freshFolder();
  const failure = async (...argv: string[]) => {
    const { code, stdout, stderr } = await binary(folder, ...argv, "--json");
    expect(stdout).toBe("");
    return { exit: code, ...JSON.parse(stderr) };
  };
  expect(await failure("admin", "user", "show", "nobody")).toMatchObject({
    exit: 1,
    status: "error",
    code: "database_error",
    message: expect.stringContaining("no database at"),
  });
  expect(await failure("admin", "user", "show", "a b")).toMatchObject({
    exit: 2,
    code: "wrong_usage",
    message: expect.stringMatching(/^USERNAME must be .*, not "a b"$/),
  });
  expect(await failure("serve", "--tls-cert", "x")).toMatchObject({ exit: 2, code: "wrong_usage" });
  const { server } = await stall(folder);
  expect(await failure("admin", "user", "show", "nobody")).toMatchObject({
    exit: 1,
    code: "user_not_found",
    message: expect.stringContaining("user not found"),
  });
  // Behind `--` it is no flag.
  const { stderr } = await binary(folder, "admin", "user", "show", "--", "--json");
  expect(stderr).toStartWith("error: user not found");
  await stop(server);
});

test("NO_COLOR: the log on a terminal has no colours, and nothing else ever has", async () => {
  expect(await servedOnTerminal()).toContain("\u001b[3");
  expect(await servedOnTerminal({ NO_COLOR: "" })).toContain("\u001b[3");
  expect(await servedOnTerminal({ NO_COLOR: "1" })).not.toContain("\u001b[");
});

/** What `serve` shows on a terminal up to the line that says it has started. */
async function servedOnTerminal(environment: Record<string, string> = {}): Promise<string> {
  // script(1) makes a terminal; what it shows goes to stdout. Its end closes the terminal, which stops the server.
  const child = Bun.spawn(["script", "-qec", `${BINARY} serve --port 0`, "/dev/null"], {
    cwd: freshFolder(),
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ...environment },
    stdin: "pipe",
    stdout: "pipe",
  });
  let shown = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    shown += decoder.decode(chunk, { stream: true });
    if (shown.includes("started")) child.kill();
  }
  await child.exited;
  return shown;
}

test("a child user's balance is the same to a person in `user show` and `user list`", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  await binaryJson(folder, ..."admin user create kid --parent alice".split(" "));
  await binaryJson(folder, ..."admin user credit kid 5.5".split(" "));
  const list = (await binary(folder, "admin", "user", "list")).stdout;
  expect(list).toMatch(/^USERNAME +NAME +BALANCE USD +PARENT +ACTIVE +ID$/m);
  expect(list).toMatch(/^kid +kid +5\.50 +alice +yes +[a-z0-9]{24}$/m);
  const show = (await binary(folder, "admin", "user", "show", "kid")).stdout;
  expect(show).toMatch(
    /^username +kid\nname +kid\nbalance usd +5\.50\nparent +alice\nactive +yes\nid +[a-z0-9]{24}\ndiscount +0 %\n$/,
  );
  await stop(server);
});

test("an installed program finds its data without --data where its package says so", async () => {
  const folder = freshFolder();
  const { server } = await stall(folder);
  await stop(server);
  const prefix = freshFolder();
  for (const name of ["bin", "lib", "lib/reseller"]) mkdirSync(join(prefix, name));
  const installed = join(prefix, "bin/reseller");
  linkOrCopy(installed);
  writeFileSync(join(prefix, "lib/reseller/data"), `${folder}/data\n`);
  const elsewhere = freshFolder();
  const users = (environment: Record<string, string>, ...more: string[]) =>
    ran([installed, "admin", "user", "list", ...more], elsewhere, environment);
  expect(users({}).stdout).toContain("alice");
  expect(users({ RESELLER_DATA: "/nowhere" }).stderr).toContain("/nowhere/reseller.db");
  expect(users({}, "--data", "there").stderr).toContain(`${elsewhere}/there/reseller.db`);
  expect(ran([installed, "verify", "--help"], elsewhere).stdout).toContain(`${folder}/data`);
});

/** Another file system than that of dist/ takes no link. */
function linkOrCopy(to: string): void {
  try {
    linkSync(BINARY, to);
  } catch {
    ran(["cp", BINARY, to], "/");
  }
  chmodSync(to, 0o755);
}
