// The panel as a site: who may see which route, and the head of its pages.

/** @jsxImportSource preact */

import type { Role } from "../../domain/administrators/administrators.ts";
import { mayAct } from "../../domain/administrators/administrators.ts";
import type { ConnectionPool } from "../../http1/connection-pool.ts";
import type { Address, Certificate, Server } from "../../http1/listen.ts";
import { startSite } from "../../web/server/listener.ts";
import { failureOf } from "../../web/server/render.tsx";
import { redirect } from "../../web/server/response.ts";
import type { Site } from "../../web/server/site.ts";
import { type ImportParts, ImportRuns } from "../imports/import-runs.ts";
import { UPLOAD_PATH } from "../imports/moving-in.tsx";
import { ENROLMENT } from "../administrators/second-factor.tsx";
import type { Call } from "./call.ts";
import { Header } from "./header.tsx";
import { links } from "./navigation.ts";
import type { Panel } from "./panel.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./routes.ts";
import { COOKIE, Visitor } from "./visitor.ts";

/** Creates the panel's import from another panel, which is loaded with the panel. */
export function createImports(parts: ImportParts): ImportRuns {
  return new ImportRuns(parts);
}

type PanelSite = Site<Visitor, Panel, Role>;

/** Starts the panel. Throws if it cannot listen on the address. */
export function startPanel(
  panel: Panel,
  address: Address,
  tls: Certificate | null,
  connections?: ConnectionPool,
): Server {
  const navigation = links();
  const site: PanelSite = {
    name: "panel",
    prefix: "",
    brand: { name: "reseller", logo: null, style: null },
    assets: [],
    cookie: COOKIE,
    streamed: { path: UPLOAD_PATH, limitBytes: panel.imports.parts.limitBytes },
    unknownHost:
      "The panel does not answer to this host name. Use its IP address, or start the server with --panel-url and the address that you use.",
    parts: panel,
    routes: ROUTES,
    visitorOf: (request) => new Visitor(panel, request),
    admit: (route, call) => admit(site, route, call),
    recognize: (visitor) => visitor.authenticate(),
    zone: (visitor) => (visitor.isSignedIn() ? visitor.administrator.timeZone : null),
    header: (visitor, path) =>
      visitor?.isSignedIn() && (
        <Header
          administrator={visitor.administrator}
          path={path}
          navigation={navigation}
          waiting={{
            "/requests": { count: visitor.waitingRequests, text: "Requests that wait for you" },
            "/payments": { count: visitor.waitingPayments, text: "Payments that wait for you" },
            "/members": {
              count: visitor.waitingRegistrations,
              text: "Registrations that wait for you",
            },
          }}
        />
      ),
  };
  return startSite(site, address, tls, connections);
}

/** Returns the response for a visitor who may not see the route, or null for one who may. */
async function admit(
  site: PanelSite,
  route: Route,
  { visitor, path, filters }: Call,
): Promise<Response | null> {
  const { settings } = site.parts;
  const identity = await visitor.authenticate();
  if (route.role === "anyone") return null;
  if (!identity || identity.session.awaitsCode) {
    if (visitor.isRefresh()) return new Response(null, { status: 401 });
    if (identity) return redirect("/sign-in/code");
    const asked = `${path}${filters.values.size > 0 ? `?${filters.values}` : ""}`;
    const next =
      route.method === "GET" && path !== "/" ? `?${new URLSearchParams({ next: asked })}` : "";
    return redirect(`/sign-in${next}`);
  }
  const { role, totpSecret } = identity.person;
  if (!mayAct(role, route.role))
    return failureOf(site, 403, "Your role does not allow this.", visitor);
  const mustEnrol = settings.needsSecondFactor && role === "owner" && totpSecret === null;
  if (mustEnrol && !ENROLMENT.includes(route.path)) return redirect(ENROLMENT[0]!);
  return null;
}
