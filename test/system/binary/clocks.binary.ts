// Servers of one PostgreSQL database whose machines' clocks differ by hours, or are set while they run.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, binaryJson, servingWith } from "../../support/binary.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { callApi } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { compileShim } from "../powercut/shim.ts";

const HOURS = 3;
const shim = await compileShim();

test.each([HOURS, -HOURS])(
  "a server whose clock jumps by %i hours leaves another's submission alone, and what it schedules is due in time",
  async (hours) => {
    const postgres = await cluster();
    const name = await postgres.createDatabase();
    const database = `postgres://postgres@127.0.0.1:${postgres.port}/${name}`;
    const rows = (text: string) => postgres.query(name, text);
    const folder = freshFolder();
    const admin = (...argv: string[]) =>
      binaryJson(folder, "admin", ...argv, "--database", database);
    const upstream = await startUpstream();
    await admin("user", "create", "anna");
    await admin("user", "credit", "anna", "100", "--yes");
    const { key } = await admin("key", "create", "--user", "anna", "--type", "order");
    const provider = [
      "acme",
      "--url",
      upstream.url,
      "--key-stdin",
      "--no-check",
      "--database",
      database,
    ];
    const { exitCode } = Bun.spawnSync([BINARY, "admin", "provider", "create", ...provider], {
      stdin: Buffer.from(PROVIDER_KEY),
      cwd: folder,
    });
    expect(exitCode).toBe(0);
    const terms = "--id likes --name Likes --price 1 --min 1 --max 10000";
    const route = "--provider acme --provider-service 7";
    await admin("service", "create", ...terms.split(" "), ...route.split(" "));

    const gate = join(folder, "jump");
    const clockSeconds = hours * 3600;
    const jumps = shim.environment(folder, { clockSeconds, gate });
    const flags = ["--database", database, "--place-wait", "10m"];
    const serve = (server: string, environment = {}) =>
      servingWith(environment, freshFolder(), "serve", ...flags, "--server", server);
    const [steady, jumping] = [await serve("one"), await serve("two", jumps)];
    const order = { service: "likes", link: "https://example.com/a", quantity: 1000 };
    const place = ({ url }: { url: string }) => callApi(url, "POST", "/orders", key, order);

    // The provider holds the reply back.
    upstream.next("add", "hang");
    void place(steady).catch(() => {});
    await until(async () => upstream.adds().length === 1);
    await Bun.write(gate, "");
    const lease = async () =>
      (await rows("SELECT lease_until FROM servers WHERE name = 'two'"))[0]!["lease_until"];
    const before = await lease();
    expect((await place(jumping)).body).toMatchObject({ order: { status: "PROCESSING" } });
    await until(async () => (await lease()) !== before);
    expect((await place(jumping)).body).toMatchObject({ order: { status: "PROCESSING" } });

    const placements = await rows("SELECT placement FROM orders ORDER BY order_id");
    expect(placements.map(({ placement }) => placement)).toEqual(["sending", "placed", "placed"]);
    const now = "extract(epoch FROM now()) * 1000";
    const [times] = await rows(`SELECT
      max(abs(created_at - ${now})) < 600000 AND max(abs(next_poll_at - ${now})) < 600000 AS right
      FROM orders`);
    expect(times).toEqual({ right: true });

    // Another one of its name, by a clock by which its lease has ended long ago.
    const second = serve("one", shim.environment(folder, { clockSeconds }));
    expect(await second.catch((error: Error) => error.message)).toContain(
      "a server named one already runs on this database",
    );
    for (const server of [steady, jumping]) server.kill("SIGKILL");
    await Promise.all([steady.ended, jumping.ended, upstream.stop()]);
  },
);
