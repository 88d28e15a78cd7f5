/** Checks a Debian package against all rules of lintian; the package file follows. */
export const LINTIAN = ["lintian", "--allow-root", "--display-info", "--pedantic"];
