// The operator of a service that runs under the unit: starts it and runs its commands there.

import { join } from "node:path";
import { expect } from "bun:test";
import { runBinary, type ServerProcess, startServerProcess } from "../../support/binary.ts";
import type { Confined } from "./unit.ts";

const SERVERS: ServerProcess[] = [];

/** Ends what a test has left. */
export async function killServers(): Promise<void> {
  for (const server of SERVERS.splice(0)) await server.kill();
}

/** The binary under the unit, on a data directory of its own. */
export function operatorOf(
  { program, folder }: Confined,
  name: string,
  environment: Record<string, string> = {},
) {
  const data = join(folder, name);
  return {
    data,
    async serve(...flags: string[]): Promise<ServerProcess> {
      const server = await startServerProcess({
        data,
        binary: program,
        arguments: flags,
        environment,
      });
      SERVERS.push(server);
      return server;
    },
    /** What a command printed as JSON. */
    async run(line: string, stdin?: string) {
      const argv = [...line.split(" "), "--data", data, "--json"];
      const ended = await runBinary(argv, {
        binary: program,
        environment,
        ...(stdin ? { stdin } : {}),
      });
      const { exitCode, stderr } = ended;
      expect({ line, exitCode, stderr }).toEqual({ line, exitCode: 0, stderr: "" });
      return JSON.parse(ended.stdout);
    },
    /** A reseller with 100 USD, a service `s`; returns a key. */
    async fill(): Promise<string> {
      await this.run("admin user create alice");
      await this.run("admin user credit alice 100");
      await this.run("admin service create --id s --name S --price 1 --min 1 --max 10");
      const { key } = await this.run("admin key create --user alice --type order");
      return key;
    },
  };
}
