// The visitor who sent a request, for forms and the log. Each site adds how its visitors sign in.

import { type Network, rateLimitGroup } from "../../config/networks.ts";
import { USER_AGENT_LIMIT } from "../../domain/sign-ins/sign-ins.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { clientAddress, FORWARDED_HEADER } from "../../http/server/client-address.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { ENGLISH, type SiteWords } from "../server/words.ts";

/** Header of the script's automatic refresh, which does not count as use of the session. */
const REFRESH = "x-refresh";

export abstract class Visitor {
  readonly address: string;

  constructor(
    readonly request: Pick<IncomingRequest, "headers" | "address">,
    /** The proxies whose X-Forwarded-For is trusted. */
    trustedProxy: readonly Network[],
  ) {
    const forwarded = request.headers.get(FORWARDED_HEADER);
    this.address = clientAddress(request.address, forwarded, trustedProxy);
  }

  /** Name of the account that the visitor is signed in to. Throws if nobody is signed in. */
  abstract get name(): string;
  /** Returns the author of what the visitor changes. Throws if nobody is signed in. */
  abstract actor(): Actor;
  /** Returns whether a password or a code was given recently, at sign-in or later. */
  abstract hasProved(now: number): boolean;
  /** Checks the password or a code. Refuses: sign_in_refused, code_wrong, sign_in_limited. */
  abstract prove(proof: string): Promise<void>;

  /** The side of the site that the request is for (Site.sides); empty: none. */
  readonly side: string = "";

  /** The words of the pages that the visitor sees. */
  get words(): SiteWords {
    return ENGLISH;
  }

  isRefresh(): boolean {
    return this.request.headers.has(REFRESH);
  }

  get userAgent(): string {
    const given = this.request.headers.get("user-agent") ?? "";
    return given.slice(0, USER_AGENT_LIMIT).toWellFormed();
  }

  /** The network for which the visitor's failures are counted. */
  get network(): string {
    return rateLimitGroup(this.address);
  }
}
