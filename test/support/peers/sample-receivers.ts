// The receivers of docs/samples, unchanged, as processes of their own.

import { join } from "node:path";
import { freePort } from "../ports.ts";

const SAMPLES = new URL("../../../docs/samples", import.meta.url).pathname;

/** How each is started. */
export const WEBHOOK_SAMPLES: Record<string, (file: string, port: number) => string[]> = {
  "webhook.mjs": (file) => ["node", file],
  "webhook.py": (file) => ["python3", file],
  "webhook.php": (file, port) => ["php", "-S", `127.0.0.1:${port}`, file],
};

export interface SampleReceiver {
  url: string;
  /** The lines that it has printed about events. */
  lines(): string[];
  stop(): Promise<void>;
}

/** Resolves once it answers. */
export async function startSample(file: string, secret: string): Promise<SampleReceiver> {
  const port = freePort();
  const child = Bun.spawn(WEBHOOK_SAMPLES[file]!(join(SAMPLES, file), port), {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port), WEBHOOK_SECRET: secret },
    stdout: "pipe",
    stderr: "ignore",
  });
  let printed = "";
  const gathering = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) printed += decoder.decode(chunk, { stream: true });
  })();
  const url = `http://127.0.0.1:${port}/`;
  while ((await statusOf(url)) === null) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    await Bun.sleep(20);
  }
  return {
    url,
    lines: () => printed.split("\n").filter((line) => /^(order |[a-z]+\.[a-z]+$)/.test(line)),
    async stop() {
      child.kill();
      await Promise.all([child.exited, gathering]);
    },
  };
}

/** An unsigned request: a sample answers it with 401. */
async function statusOf(url: string): Promise<number | null> {
  try {
    return (await fetch(url, { method: "POST", body: "{}" })).status;
  } catch {
    return null;
  }
}
