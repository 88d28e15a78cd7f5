// The texts of the portal with the operator's own, for pages and e-mails. Loaded only with the portal or --smtp.

import type { Config } from "../config/settings.ts";
import { readSmallFile } from "../config/small-files.ts";
import { createTexts, parseOverrides, type Texts } from "../portal/texts/texts.ts";
import { readPortalFile } from "./portal-files.ts";

const LIMIT_BYTES = 1024 * 1024;

/** Throws PortalFileError if the operator's texts cannot be used. */
export function readTexts({ portalTexts }: Pick<Config, "portalTexts">): Texts {
  if (!portalTexts) return createTexts();
  const read = (path: string) => parseOverrides(readSmallFile(path, LIMIT_BYTES));
  return createTexts(readPortalFile("portal-texts", portalTexts, read));
}
