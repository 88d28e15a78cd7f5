// A panel in this process on a fresh database, asked over real HTTP by an administrator of some role.

import type { Role } from "../../src/domain/administrators.ts";
import type { Server } from "../../src/http1/listen.ts";
import { createActivityCounter } from "../../src/monitoring/activity.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { startPanel } from "../../src/panel/listener.ts";
import { freshDatabase, openServerDatabase, type TestDatabase } from "./service.ts";

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface TestPanel extends TestDatabase {
  url: string;
  get(path: string): Promise<Reply>;
  /** A form of the panel's own page. */
  post(path: string, fields?: Record<string, string>): Promise<Reply>;
  stop(): Promise<void>;
}

export async function freshPanel(role: Role = "owner"): Promise<TestPanel> {
  const database = freshDatabase();
  const opened = await openServerDatabase(database);
  const { store, writer } = opened;
  const server: Server = startPanel(
    {
      store,
      writer,
      log: createLog("silent"),
      now: Date.now,
      activity: createActivityCounter(store),
      system: () => ({}),
      authenticate: () => Promise.resolve({ name: "tester", role }),
      onInternalError(error) {
        throw error;
      },
    },
    { hostname: "127.0.0.1", port: 0 },
    null,
  );
  const url = `http://127.0.0.1:${server.port}`;
  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const response = await fetch(url + path, { redirect: "manual", ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    ...database,
    url,
    get: (path) => ask(path),
    post: (path, fields = {}) =>
      ask(path, { method: "POST", body: new URLSearchParams(fields), headers: { origin: url } }),
    async stop() {
      await server.stop();
      await opened.close();
      database.close();
    },
  };
}
