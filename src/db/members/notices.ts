// Notices of the operator on the first page of the portal.

import type { NoticeTexts } from "../../domain/members/notices.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { portalNotices } from "../tables/members.ts";

export interface Notice {
  id: string;
  texts: NoticeTexts;
  untilAt: number | null;
  createdAt: number;
}

const ALL = query({
  columns: fields(portalNotices),
  text: `SELECT ${select(portalNotices)} FROM portal_notices ORDER BY created_at DESC, id`,
});

/** All notices, those too that have ended and are not deleted yet; the newest first. There are few. */
export function listNotices(reader: Reader): Notice[] {
  return reader
    .all(ALL)
    .map(({ texts, ...notice }) => ({ ...notice, texts: JSON.parse(texts) as NoticeTexts }));
}
