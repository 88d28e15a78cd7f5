// An S3 store for tests: the server of s3-server.ts behind a proxy that can fail in the ways of networks and stores.

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { StoreSettings } from "../../../src/offsite/store.ts";
import { freshFolder } from "../folders.ts";

export const BUCKET = "backups";
/** The only key that the server knows, and its secret. */
export const ACCESS_KEY = "S3RVER";

const SERVER = new URL("s3-server.ts", import.meta.url).pathname;

/**
 * `cut`: half the request reaches the store, then both connections are reset. `cut-response`: half the response comes.
 * `full`: refused for lack of room. `denied`: the key is not valid any more. `busy`: 503. `corrupt`: the store keeps other bytes than it was sent. `hang`: no
 * response ever. `skewed`: the clocks differ. `region`: the store is in another one.
 */
export type Fault =
  "cut" | "cut-response" | "full" | "denied" | "busy" | "corrupt" | "hang" | "skewed" | "region";

export interface Call {
  method: string;
  /** With its query. */
  path: string;
}

export interface S3 {
  /** http://127.0.0.1:port of the proxy. */
  endpoint: string;
  /** Where the server keeps its objects. */
  directory: string;
  settings: StoreSettings;
  /** The variables of a process that uses the store. */
  environment: Record<string, string>;
  calls: Call[];
  /** Decides about each call; null: it is passed on. */
  fail(decide: ((call: Call) => Fault | null) | null): void;
  stop(): Promise<void>;
}

export async function startS3(prefix = "shop/one"): Promise<S3> {
  const directory = freshFolder();
  const server = Bun.spawn([process.execPath, SERVER, directory], { stdout: "pipe" });
  process.on("exit", () => server.kill("SIGKILL"));
  const port = Number((await firstLine(server.stdout)).split(" ")[0]);
  const calls: Call[] = [];
  let decide: (call: Call) => Fault | null = () => null;
  const proxy = createServer((from, to) => {
    const call = { method: from.method!, path: from.url! };
    calls.push(call);
    void answer(port, decide(call), from, to);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    endpoint,
    directory,
    settings: {
      bucket: BUCKET,
      prefix,
      endpoint,
      region: "us-east-1",
      accessKey: ACCESS_KEY,
      secretKey: ACCESS_KEY,
    },
    environment: {
      RESELLER_BACKUP_TO: `s3://${BUCKET}/${prefix}`,
      RESELLER_S3_ENDPOINT: endpoint,
      RESELLER_S3_ACCESS_KEY: ACCESS_KEY,
      RESELLER_S3_SECRET_KEY: ACCESS_KEY,
    },
    calls,
    fail: (next) => (decide = next ?? (() => null)),
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      server.kill();
      await server.exited;
    },
  };
}

async function answer(
  port: number,
  fault: Fault | null,
  from: IncomingMessage,
  to: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of from) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (fault === "hang") return;
  if (fault === "full") return refuse(to, 507, "QuotaExceeded", "the bucket is full");
  if (fault === "denied") return refuse(to, 403, "InvalidAccessKeyId", "the key does not exist");
  if (fault === "busy") return refuse(to, 503, "SlowDown", "reduce your request rate");
  if (fault === "skewed") return refuse(to, 403, "RequestTimeTooSkewed", "the clocks differ");
  if (fault === "region") return refuse(to, 400, "AuthorizationHeaderMalformed", "another region");
  if (fault === "corrupt" && body.length > 0) body[body.length >> 1]! ^= 1;
  const options = {
    host: "127.0.0.1",
    port,
    method: from.method,
    path: from.url,
    headers: from.headers,
    // One that the store has just closed for idleness would fail the next call: each has a connection of its own.
    agent: false as const,
  };
  const forwarded = request(options, (reply) => {
    const parts: Buffer[] = [];
    reply.on("data", (part: Buffer) => parts.push(part));
    reply.on("error", () => to.destroy());
    reply.on("end", () => {
      const content = Buffer.concat(parts);
      to.writeHead(reply.statusCode!, reply.headers);
      if (fault !== "cut-response") return to.end(content);
      to.write(content.subarray(0, content.length >> 1), () => to.destroy());
    });
  });
  forwarded.on("error", () => to.destroy());
  if (fault !== "cut") return void forwarded.end(body);
  forwarded.write(body.subarray(0, body.length >> 1), () => {
    forwarded.destroy();
    to.destroy();
  });
}

function refuse(to: ServerResponse, status: number, code: string, message: string): void {
  to.writeHead(status, { "content-type": "application/xml" });
  to.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value);
    if (done || text.includes("\n")) return text;
  }
}
