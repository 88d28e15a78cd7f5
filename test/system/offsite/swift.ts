// OpenStack Swift with its S3 interface, which checks the signatures of requests: one replica in a folder of its own, all on
// 127.0.0.1. Needs Debian's packages swift-proxy, swift-account, swift-container, swift-object and memcached, but none of their services.

import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder } from "../../support/folders.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/until.ts";

const PROGRAMS = {
  "swift-ring-builder": "swift",
  "swift-proxy-server": "swift-proxy",
  "swift-account-server": "swift-account",
  "swift-container-server": "swift-container",
  "swift-object-server": "swift-object",
  memcached: "memcached",
};
const KINDS = ["account", "container", "object"] as const;
const USER = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();

export const REGION = "us-east-1";
export const ACCESS_KEY = "shop:backup";
/** With the characters that are encoded in addresses. */
export const SECRET_KEY = "a+secret/with=signs";
/** Objects in a page of a listing, so that a listing has several. */
const PAGE = 3;

export interface Proxy {
  port: number;
  endpoint: string;
  /** Resolves once it is gone. */
  kill(): Promise<void>;
}

export interface Swift {
  /** Where it keeps its objects. */
  devices: string;
  proxy: Proxy;
  /** One more, with a clock that differs by so many seconds. */
  startProxy(skewSeconds?: number): Promise<Proxy>;
  createBucket(name: string): Promise<void>;
  /** The names of what is in a container; those of parts are in BUCKET+segments. */
  objectsIn(container: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startSwift(): Promise<Swift> {
  requirePrograms();
  const folder = freshFolder();
  const devices = join(folder, "devices");
  mkdirSync(join(devices, "d1"), { recursive: true });
  const settings = `[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n`;
  writeFileSync(join(folder, "swift.conf"), settings);
  const running: Bun.Subprocess[] = [];
  const start = (command: string[], environment: Record<string, string> = {}) => {
    const log = openSync(join(folder, "log"), "a");
    const env = { ...process.env, ...environment };
    // They end with this process, however it ends.
    const child = Bun.spawn(["setpriv", "--pdeathsig", "KILL", ...command], {
      cwd: folder,
      env,
      stdout: log,
      stderr: log,
    });
    running.push(child);
    return child;
  };
  const cache = freePort();
  start(["memcached", "-l", "127.0.0.1", "-p", String(cache), "-U", "0", "-u", USER]);
  for (const kind of KINDS) {
    const port = freePort();
    buildRing(folder, kind, port);
    writeFileSync(join(folder, `${kind}.conf`), storageServer(folder, devices, kind, port));
    start([`swift-${kind}-server`, `${kind}.conf`]);
  }
  const startProxy = async (skewSeconds = 0): Promise<Proxy> => {
    const port = freePort();
    const file = join(folder, `proxy-${port}.conf`);
    writeFileSync(file, proxyServer(folder, port, cache));
    const modules = join(folder, `modules-${port}`);
    mkdirSync(modules);
    writeFileSync(
      join(modules, "sitecustomize.py"),
      `import time\nclock = time.time\ntime.time = lambda: clock() + ${skewSeconds}\n`,
    );
    const child = start(["swift-proxy-server", file], { PYTHONPATH: modules });
    const endpoint = `http://127.0.0.1:${port}`;
    await until(async () => (await signIn(endpoint)) !== null);
    return {
      port,
      endpoint,
      async kill() {
        child.kill("SIGKILL");
        await child.exited;
      },
    };
  };
  const proxy = await startProxy();
  const { url, token } = (await signIn(proxy.endpoint))!;
  const headers = { "x-auth-token": token };
  const createBucket = (name: string) =>
    until(async () => (await fetch(`${url}/${name}`, { method: "PUT", headers })).ok);
  // The storage servers may start after the proxy.
  await createBucket("first");
  return {
    devices,
    proxy,
    startProxy,
    createBucket,
    async objectsIn(container) {
      const text = await (await fetch(`${url}/${container}?limit=10000`, { headers })).text();
      return text.split("\n").filter((name) => name !== "");
    },
    async stop() {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(running.map(({ exited }) => exited));
    },
  };
}

function requirePrograms(): void {
  const missing = Object.entries(PROGRAMS).filter(([program]) => Bun.which(program) === null);
  if (missing.length === 0) return;
  throw new Error(
    `install what is missing: apt-get install ${missing.map(([, name]) => name).join(" ")}`,
  );
}

function buildRing(folder: string, kind: string, port: number): void {
  const steps = [
    ["create", "4", "1", "1"],
    ["add", `r1z1-127.0.0.1:${port}/d1`, "1"],
    ["rebalance"],
  ];
  for (const step of steps) {
    const command = ["swift-ring-builder", `${kind}.builder`, ...step];
    const { exitCode, stdout } = Bun.spawnSync(command, { cwd: folder });
    if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stdout.toString()}`);
  }
}

function storageServer(folder: string, devices: string, kind: string, port: number): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
mount_check = false
devices = ${devices}
swift_dir = ${folder}
user = ${USER}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`;
}

function proxyServer(folder: string, port: number, cache: number): string {
  const filters = "catch_errors cache listing_formats bulk s3api tempauth slo dlo".split(" ");
  const settings: Record<string, string> = {
    cache: `memcache_servers = 127.0.0.1:${cache}`,
    s3api: `s3_acl = false\nlocation = ${REGION}\nmax_bucket_listing = ${PAGE}`,
    tempauth: `user_${ACCESS_KEY.replace(":", "_")} = ${SECRET_KEY} .admin`,
  };
  const sections = filters.map((name) => {
    const program = name === "cache" ? "memcache" : name;
    return `[filter:${name}]\nuse = egg:swift#${program}\n${settings[name] ?? ""}\n`;
  });
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
swift_dir = ${folder}
user = ${USER}
[pipeline:main]
pipeline = ${filters.join(" ")} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
${sections.join("")}`;
}

/** Null while the server does not answer. */
async function signIn(endpoint: string): Promise<{ url: string; token: string } | null> {
  const headers = { "x-storage-user": ACCESS_KEY, "x-storage-pass": SECRET_KEY };
  const reply = await fetch(`${endpoint}/auth/v1.0`, { headers }).catch(() => null);
  if (!reply?.ok) return null;
  const { headers: given } = reply;
  return { url: given.get("x-storage-url")!, token: given.get("x-auth-token")! };
}
