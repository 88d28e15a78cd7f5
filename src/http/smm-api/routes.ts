// The protocol's only path, with and without a trailing slash: a redirect would turn a POST into a GET.

import type { MountedRoute } from "../server/server.ts";
import { ACTIONS } from "./actions.ts";
import type { ActionDeps } from "./call.ts";
import { actionRoute, smmApiEndpoint, refuseMethod } from "./endpoint.ts";

/** The routes as the metrics name them. */
export const SMM_API_ROUTES: readonly string[] = ACTIONS.map(actionRoute);

export function smmApiRoutes(deps: ActionDeps): MountedRoute[] {
  const handle = smmApiEndpoint(deps);
  const refuse = refuseMethod(deps);
  return ["/api/v2", "/api/v2/"].map((path) => {
    return { method: "POST", path, handle, refuseMethod: refuse };
  });
}
