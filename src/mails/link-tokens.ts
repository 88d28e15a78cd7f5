// The secrets of links in mails. They are made when a mail is taken and only their hash is stored, so that the database
// and its backups hold none: docs/decisions/0086-secrets-of-links-in-mails.md.

import { newToken } from "../web/sessions/tokens.ts";

/** Limit for the mails whose token is kept for further attempts. The oldest beyond it get a new link. */
const KEPT = 1000;

export interface LinkTokens {
  /** Makes tokens, and returns their hashes and those that earlier attempts used. */
  offer(count: number): { hashes: string[]; known: { mailId: number; hash: string }[] };
  /** Returns the token with this hash, and keeps it for further attempts of the mail. The rest of the offer is dropped. */
  use(taken: readonly { mailId: number; linkHash: string | null }[]): Map<number, string>;
  /** Forgets the token of a mail that ended. */
  forget(mailId: number): void;
}

export function createLinkTokens(): LinkTokens {
  const kept = new Map<number, { hash: string; token: string }>();
  let offered = new Map<string, string>();
  return {
    offer(count) {
      const made = Array.from({ length: count }, newToken);
      offered = new Map(made.map(({ token, invitationHash }) => [invitationHash, token]));
      const known = [...kept].map(([mailId, { hash }]) => ({ mailId, hash }));
      return { hashes: [...offered.keys()], known };
    },
    use(taken) {
      const found = new Map<number, string>();
      for (const { mailId, linkHash: hash } of taken) {
        if (hash === null) continue;
        const token = offered.get(hash) ?? kept.get(mailId)!.token;
        found.set(mailId, token);
        kept.delete(mailId);
        kept.set(mailId, { hash, token });
        if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
      }
      offered.clear();
      return found;
    },
    forget: (mailId) => void kept.delete(mailId),
  };
}
