// Options for the store of off-site backups, and the progress shown while it is used.

import { type Command, Option } from "commander";
import { settingOption } from "../../config/flags.ts";
import { type Config, REMOTE_FLAGS } from "../../config/settings.ts";
import { missingForRemote, type RemoteFolder } from "../../config/remote-values.ts";
import { readSmallFile } from "../../config/small-files.ts";
import { mebibytes } from "../../storage/file/files.ts";
import { openStore, type Store } from "../../offsite/store.ts";
import { CommandFailure, type CommonOptions } from "../kernel/command.ts";
import { type Progress, startProgress } from "../output/progress.ts";

const IDENTITY_LIMIT_BYTES = 64 * 1024;

type RemoteConfig = Pick<
  Config,
  "backupTo" | "s3Endpoint" | "s3Region" | "s3AccessKey" | "s3SecretKey"
>;
export type RemoteOptions = CommonOptions & RemoteConfig & { identity?: string };

export function addRemoteOptions(command: Command): Command {
  for (const flag of REMOTE_FLAGS) command.addOption(settingOption(flag));
  return command;
}

export function identityOption(): Option {
  return new Option("--identity <FILE>", "file of the age identity, for an encrypted copy");
}

/** Returns the text of the file given by --identity, or null without --identity. */
export function readIdentities({ identity }: RemoteOptions): string | null {
  if (identity === undefined) return null;
  try {
    return readSmallFile(identity, IDENTITY_LIMIT_BYTES);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`--identity: cannot use ${identity}: ${why}`);
  }
}

/** Opens the store. `folder` replaces --backup-to. */
export function openRemote(options: RemoteConfig, folder = options.backupTo): Store {
  return openStore({
    ...requireRemote({ ...options, backupTo: folder }),
    endpoint: options.s3Endpoint,
  });
}

function requireRemote(options: RemoteConfig): RemoteFolder & {
  region: string;
  accessKey: string;
  secretKey: string;
} {
  const { backupTo, s3Region: region, s3AccessKey: accessKey, s3SecretKey: secretKey } = options;
  if (backupTo === null) {
    throw new CommandFailure(
      "off-site backups are not configured: set --backup-to s3://BUCKET/PREFIX",
    );
  }
  const missing = missingForRemote(options);
  if (missing !== null || accessKey === null || secretKey === null) {
    throw new CommandFailure(missing ?? "");
  }
  return { ...backupTo, region, accessKey, secretKey };
}

/** Starts a progress line in MiB. The first update gives the total. */
export function startTransfer(what: string): {
  update: (bytes: number, all: number) => void;
  end: () => void;
} {
  let progress: Progress | null = null;
  return {
    update(bytes, all) {
      progress ??= startProgress(`MiB ${what}:`, mebibytes(all));
      progress.update(mebibytes(bytes));
    },
    end: () => progress?.end(),
  };
}
