// The value types of the settings for off-site backups, and the rule that says which of these settings belong together.

import { InvalidArgumentError } from "commander";
import type { ValueKind } from "./values.ts";

/** A folder of a bucket that holds the copies of backups as objects. */
export interface RemoteFolder {
  bucket: string;
  /** Without leading or trailing slash; empty for the bucket itself. */
  prefix: string;
}

const SCHEME = "s3://";
/** An s3:// address with a bucket name as Amazon allows it, and an optional prefix. */
const FOLDER = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/=+@,-]*))?$/;

/** Returns whether a text is meant as an address of off-site backups. */
export function isRemote(text: string): boolean {
  return text.startsWith(SCHEME);
}

export function formatRemote({ bucket, prefix }: RemoteFolder): string {
  return `${SCHEME}${bucket}${prefix === "" ? "" : `/${prefix}`}`;
}

/** Parses s3://bucket/prefix. Returns null for any other text. */
export function parseRemote(text: string): RemoteFolder | null {
  const [, bucket, path = ""] = FOLDER.exec(text) ?? [];
  const prefix = path.replace(/\/$/, "");
  if (bucket === undefined || (prefix !== "" && prefix.split("/").includes(""))) return null;
  return { bucket, prefix };
}

export const remoteFolder: ValueKind<RemoteFolder> = {
  placeholder: "S3-URL",
  parse(given) {
    const folder = parseRemote(given);
    if (folder) return folder;
    throw new InvalidArgumentError("must be a bucket and a prefix, such as s3://backups/reseller.");
  },
  format: formatRemote,
};

export const httpUrl: ValueKind<string> = {
  placeholder: "URL",
  parse(given) {
    const url = URL.parse(given);
    if (url && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "")
      return url.origin;
    throw new InvalidArgumentError("must be a URL without a path, such as https://s3.example.com.");
  },
  format: (value) => value,
};

export const region: ValueKind<string> = {
  placeholder: "NAME",
  parse(given) {
    if (/^[a-z0-9-]{1,64}$/.test(given)) return given;
    throw new InvalidArgumentError("must be a region name, such as eu-central-1.");
  },
  format: (value) => value,
};

/** An age recipient. Only its shape is checked here; its checksum is checked on use. */
export const recipient: ValueKind<string> = {
  placeholder: "RECIPIENT",
  parse(given) {
    if (/^age1[02-9ac-hj-np-z]{20,4000}$/.test(given)) return given;
    throw new InvalidArgumentError("must be an age recipient, which begins with age1.");
  },
  format: (value) => value,
};

/** A secret. It is never shown, neither in messages nor by `config show`. */
export const secret: ValueKind<string> = {
  placeholder: "SECRET",
  parse(given) {
    // Only an empty value is refused, because the message about a wrong value repeats the value.
    if (given.trim() === "") throw new InvalidArgumentError("must not be empty.");
    return given;
  },
  format: () => "(set)",
};

export interface RemoteSettings {
  backupTo: RemoteFolder | null;
  s3AccessKey: string | null;
  s3SecretKey: string | null;
}

/** Returns a sentence about what --backup-to still needs, or null if it has everything. */
export function missingForRemote(settings: RemoteSettings): string | null {
  if (settings.backupTo === null) return null;
  if (settings.s3AccessKey !== null && settings.s3SecretKey !== null) return null;
  return "--backup-to needs access keys: set RESELLER_S3_ACCESS_KEY and RESELLER_S3_SECRET_KEY, or their _FILE variants";
}
