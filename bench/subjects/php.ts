// The peer nginx + PHP-FPM + MariaDB: Debian's, with MariaDB's default settings. Its code is in bench/peers/php.

import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd, startChild } from "../tools/children.ts";
import { KEYS, peerEnvironment } from "./peers.ts";
import type { Subject } from "./subject.ts";
import { freePort } from "./postgres.ts";

const CODE = join(import.meta.dir, "../peers/php");
const PHP_FPM = "/usr/sbin/php-fpm8.2";
/** Of 4, 8, 16 and 32, this many placed the most orders on two cores. */
const PHP_PROCESSES = 4;

export const nginxPhp: Subject = {
  name: "nginx + PHP + MariaDB",
  async start(env) {
    if (!existsSync(PHP_FPM) || !Bun.which("nginx") || !Bun.which("mariadbd")) {
      throw new Error("missing: apt-get install nginx-light mariadb-server php-fpm php-mysql");
    }
    const folder = freshFolder();
    chmodSync(folder, 0o755);
    const [data, socket, fpm] = ["data", "mariadb.sock", "fpm.sock"].map((name) =>
      join(folder, name),
    );
    await runToEnd([
      "mariadb-install-db",
      "--no-defaults",
      "--user=root",
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
      `--datadir=${data}`,
    ]);
    const mariadb = await startChild(
      ["sh", "-c", `exec "$@" 2>&1`, "sh", "mariadbd", "--no-defaults", "--user=root"].concat(
        `--datadir=${data}`,
        `--socket=${socket}`,
        "--skip-networking",
      ),
      { env, ready: /ready for connections/ },
    );
    await runToEnd([
      "mariadb",
      "--no-defaults",
      `--socket=${socket}`,
      "-u",
      "root",
      "-e",
      "CREATE DATABASE peer",
    ]);
    await runToEnd(["php", join(CODE, "fill.php")], {
      ...peerEnvironment(folder),
      SOCKET: socket!,
    });
    const port = await freePort();
    writeFileSync(join(folder, "fpm.conf"), fpmSettings(folder, fpm!, socket!));
    writeFileSync(join(folder, "nginx.conf"), nginxSettings(folder, fpm!, port));
    const php = await startNow([PHP_FPM, "-F", "-R", "-y", join(folder, "fpm.conf")], env);
    const nginx = await startNow(["nginx", "-c", join(folder, "nginx.conf")], env);
    const url = `http://127.0.0.1:${port}`;
    await untilItAnswers(`${url}/api/v1/balance`);
    return {
      url,
      keys: KEYS,
      pids: [mariadb.pid, php.pid, nginx.pid],
      async stop() {
        await nginx.stop();
        await php.stop();
        await mariadb.stop();
        removeFolder(folder);
      },
    };
  },
};

function fpmSettings(folder: string, listen: string, socket: string): string {
  return `[global]
daemonize = no
error_log = ${folder}/fpm.log
[peer]
user = root
group = root
listen = ${listen}
listen.backlog = 1024
pm = static
pm.max_children = ${PHP_PROCESSES}
env[SOCKET] = ${socket}
env[HOME] = ${folder}
`;
}

function nginxSettings(folder: string, fpm: string, port: number): string {
  return `user root;
worker_processes 2;
daemon off;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body;
  fastcgi_temp_path ${folder}/fastcgi;
  upstream php { server unix:${fpm}; keepalive ${PHP_PROCESSES}; }
  server {
    listen 127.0.0.1:${port};
    location / {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME ${CODE}/index.php;
      fastcgi_pass php;
    }
  }
}
`;
}

/** Starts a process that does not say when it is ready. */
function startNow(command: string[], env: Record<string, string> | undefined) {
  return startChild(["sh", "-c", `echo started; exec "$@"`, "sh", ...command], {
    env,
    ready: /started/,
  });
}

/** Waits until PHP refuses a request without a key. */
async function untilItAnswers(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 401) return;
    if (tries === 100) throw new Error(`${url}: ${status}`);
    await Bun.sleep(50);
  }
}
