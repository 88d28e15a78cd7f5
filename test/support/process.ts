// `reseller serve` as a process of its own.

import { bundledProgram } from "./bundles.ts";

export interface ServeProcess {
  url: string;
  /** Resolves once it has ended, with everything it wrote. */
  ended(): Promise<Ended>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Ended>;
  /** Ends it between two instructions. */
  kill(): Promise<Ended>;
}

export interface Ended {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Resolves once it says where it listens. */
export async function spawnServe(data: string, ...flags: string[]): Promise<ServeProcess> {
  const serve = Bun.spawn(
    [
      ...(await bundledProgram()),
      "serve",
      "--data",
      data,
      "--port",
      "0",
      "--rate-limit",
      "0",
      ...flags,
    ],
    {
      stdout: "pipe",
      stderr: "pipe",
      cwd: data,
    },
  );
  const stderr = new Response(serve.stderr).text();
  const reader = serve.stdout.getReader();
  const decoder = new TextDecoder();
  let stdout = "";
  const read = async () => {
    const { done, value } = await reader.read();
    stdout += decoder.decode(value);
    return !done;
  };
  const LISTENING = /^listening on (http:\/\/\S+)$/m;
  while (!LISTENING.test(stdout)) {
    if (!(await read())) throw new Error(`serve ended before it listened: ${await stderr}`);
  }
  const ended = async () => {
    while (await read());
    return { exitCode: await serve.exited, stdout, stderr: await stderr };
  };
  return {
    url: LISTENING.exec(stdout)![1]!,
    ended,
    stop() {
      serve.kill("SIGTERM");
      return ended();
    },
    kill() {
      serve.kill("SIGKILL");
      return ended();
    },
  };
}
