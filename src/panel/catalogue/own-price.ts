// Asks before a reseller's own price falls below cost.

import { paidPrice } from "../../db/catalogue/grants.ts";
import { findService } from "../../db/catalogue/services.ts";
import { findUser } from "../../db/users/users.ts";
import type { Submission } from "../server/call.ts";
import { confirmBelowCost } from "./margins.tsx";

/**
 * `priceMicros`: null for the catalogue's price, which needs no confirmation. An unknown service or user is not refused
 * here: the command does that.
 */
export async function confirmOwnPrice(
  submission: Submission,
  { id, username, priceMicros }: { id: string; username: string; priceMicros: number | null },
): Promise<void> {
  submission.form.check();
  if (priceMicros === null) return;
  await confirmBelowCost(submission, `Sell to ${username} below cost`, (reader) => {
    const service = findService(reader, id);
    const user = findUser(reader, username);
    if (!service || !user) return [];
    const before = { ...service, priceMicros: paidPrice(reader, service, user) };
    return [{ name: service.name, before, after: { ...service, priceMicros } }];
  });
}
