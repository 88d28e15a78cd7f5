// The one path of the protocol, with and without a slash at its end: a redirect would turn a POST into a GET.

import type { MountedRoute } from "../http/server.ts";
import { type ActionDeps, ACTIONS } from "./actions.ts";
import { actionRoute, panelEndpoint, refuseMethod } from "./endpoint.ts";

/** The routes as the metrics have them. */
export const PANEL_ROUTES: readonly string[] = ACTIONS.map(actionRoute);

export function panelRoutes(deps: ActionDeps): MountedRoute[] {
  const handle = panelEndpoint(deps);
  const refuse = refuseMethod(deps);
  return ["/api/v2", "/api/v2/"].map((path) => {
    return { method: "POST", path, handle, refuseMethod: refuse };
  });
}
