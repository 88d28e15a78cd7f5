// Where the newest release of this program is, as its own release was built (deploy/compile.ts).

declare const RELEASE_URL: string | undefined;
declare const RELEASE_KEY: string | undefined;

/** The folder with the files of the newest release; null for a build that was not released. */
export const RELEASE_URL_DEFAULT: string | null =
  typeof RELEASE_URL === "string" && RELEASE_URL !== "" ? RELEASE_URL : null;
/** The public key that signs releases, as minisign prints it. */
export const RELEASE_KEY_DEFAULT: string | null =
  typeof RELEASE_KEY === "string" && RELEASE_KEY !== "" ? RELEASE_KEY : null;
