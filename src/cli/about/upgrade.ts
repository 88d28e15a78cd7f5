// `upgrade --check`: asks whether there is a newer release. Nothing else of this program ever asks.

import { type Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { settingOption } from "../../config/flags.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { CommandFailure, type CommonOptions, declare } from "../kernel/command.ts";
import { EXIT } from "../kernel/exit-codes.ts";
import { print } from "../output/output.ts";
import { verifiedComment } from "./minisign.ts";

const TIMEOUT_MS = 10_000;
/** Maximum length of the sums and of their signature. */
const LENGTH_LIMIT_BYTES = 64 * 1024;
/** The trusted comment that `bun run release` writes. */
const COMMENT = /^reseller (\d+)\.(\d+)\.(\d+)$/;

type UpgradeOptions = CommonOptions & { releaseUrl: string | null; releaseKey: string | null };
type Version = readonly [major: number, minor: number, patch: number];

export function declareUpgrade(program: Command): void {
  declare(
    program,
    "upgrade",
    "ask whether there is a newer release; installs nothing",
    "reseller upgrade --check",
  )
    .requiredOption("--check", "look at the newest release, and exit 3 if it is newer")
    .addOption(settingOption("release-url"))
    .addOption(settingOption("release-key"))
    .action(async ({ releaseUrl, releaseKey, json }: UpgradeOptions) => {
      if (releaseUrl === null || releaseKey === null) {
        throw new CommandFailure(
          "this build names no releases: set --release-url to the folder of the newest release and --release-key to the key that signs it",
        );
      }
      const newest = await newestAt(releaseUrl, releaseKey);
      const current = packageJson.version;
      const order = compare(newest, parse(current));
      const isNewer = order > 0;
      const release = newest.join(".");
      print(json, { current, newest: release, isNewer, url: releaseUrl }, () =>
        isNewer
          ? `reseller ${release} is available at ${releaseUrl}; this is ${current}. Make a backup, then install it as you installed this`
          : order === 0
            ? `reseller ${current} is the newest release`
            : `reseller ${current} is newer than ${release}, the newest release at ${releaseUrl}`,
      );
      if (isNewer) process.exitCode = EXIT.newerExists;
    });
}

/** Returns the version that the signature of the release states. Throws CommandFailure. */
async function newestAt(url: string, key: string): Promise<Version> {
  const folder = url.replace(/\/$/, "");
  const [sums, signature] = await Promise.all([
    download(`${folder}/SHA256SUMS`),
    download(`${folder}/SHA256SUMS.minisig`),
  ]);
  const comment = verifiedComment(sums, Buffer.from(signature).toString(), key);
  if (comment === null) {
    throw new CommandFailure(
      `the release at ${url} is not signed by the key of releases: do not install it`,
    );
  }
  if (!COMMENT.test(comment)) {
    throw new CommandFailure(`the signature at ${url} names no version of reseller`);
  }
  return parse(comment.split(" ")[1]!);
}

async function download(url: string): Promise<Uint8Array> {
  let why: string;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return await readStart(response);
    why = `HTTP ${response.status}`;
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    why = isLate ? `no answer within ${TIMEOUT_MS / 1000} s` : errorCode(error) || String(error);
  }
  throw new CommandFailure(
    `${url} cannot be read (${why}): it is not known whether there is a newer release`,
  );
}

/** Reads no more than the limit. A longer file is cut, and so its signature is wrong. */
async function readStart(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > LENGTH_LIMIT_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, LENGTH_LIMIT_BYTES);
}

function parse(version: string): Version {
  const [major, minor, patch] = version.split(".").map(Number);
  return [major!, minor!, patch!];
}

function compare(a: Version, b: Version): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
