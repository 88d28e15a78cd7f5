// Facts about the server that the panel shows. The server provides them.

import type { PortalRegistration } from "../../config/settings.ts";

/** The portal of this server. */
export interface PortalFacts {
  /** Returns its address for browsers; null if the server does not serve the portal. */
  url(): string | null;
  /** Returns the address below which it takes notices of payments. */
  noticesUrl(): string;
  registration: PortalRegistration;
}

export interface SystemFacts {
  versions: Readonly<Record<string, string>>;
  /** The database's path or address, without a password. */
  database: string;
  /** The settings, with secrets masked. */
  configuration: readonly { name: string; value: string; origin: string }[];
  readiness(): Promise<{
    ready: boolean;
    checks: Record<string, { ok: boolean; detail?: string }>;
  }>;
  /** Number of live servers on the database. */
  servers(): number;
  /** Null if the database has its own backups (PostgreSQL). */
  backups: BackupFacts | null;
}

export interface BackupFacts {
  status(): {
    folder: string;
    isRunning: boolean;
    backups: readonly {
      name: string;
      begunAt: number;
      bytes: number;
      verified: { at: number; ok: boolean | null; detail: string } | null;
    }[];
  };
  backUpNow(): void;
  verify(name: string): boolean;
}
