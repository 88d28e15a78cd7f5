// Reading a list to its end, page by page, as a client does.

import { expect } from "bun:test";
import type { Body } from "./api.ts";
import type { TestService } from "../worlds/service.ts";

const PAGES_LIMIT = 1000;

/** Every element of the list at `path`. `between` runs after each page but the last. */
export async function readAll(
  service: TestService,
  key: string,
  path: string,
  member: "orders" | "transactions",
  between: () => Promise<void> = async () => {},
): Promise<Body[]> {
  const all: Body[] = [];
  let cursor: string | null = "";
  for (let page = 0; cursor !== null; page++) {
    expect(page).toBeLessThan(PAGES_LIMIT);
    const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { status, body } = await service.call("GET", `${path}${more}`, key);
    expect([status, body.status]).toEqual([200, "success"]);
    all.push(...body[member]);
    cursor = body.nextCursor;
    if (cursor !== null) await between();
  }
  return all;
}
