// The portal as a site: who may see which route, and the head of its pages. It has a listener of its own, or is below
// its prefix on the API's.

/** @jsxImportSource preact */

import { type MemberPermission, mayMember } from "../../domain/members/members.ts";
import type { ConnectionPool } from "../../http1/connection-pool.ts";
import type { Address, Certificate, Server } from "../../http1/listen.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { siteHandler, startSite } from "../../web/server/listener.ts";
import { failureOf } from "../../web/server/render.tsx";
import { redirect } from "../../web/server/response.ts";
import type { Site } from "../../web/server/site.ts";
import { demoRoutes } from "../payments/demo-payment.tsx";
import { ENROLMENT } from "../members/second-factor.tsx";
import type { Call } from "./call.ts";
import { INSPECTION, InspectionBanner } from "../members/inspections.tsx";
import { Header, TestBanner } from "./header.tsx";
import { links } from "./navigation.ts";
import type { Portal } from "./portal.ts";
import type { Route } from "./route.ts";
import { LIVE_PATHS, ROUTES } from "./routes.ts";
import { COOKIE, TEST_SIDE, Visitor } from "./visitor.ts";

type PortalSite = Site<Visitor, Portal, MemberPermission>;

/** Starts the portal on a listener of its own. Throws if it cannot listen on the address. */
export function startPortal(
  portal: Portal,
  address: Address,
  tls: Certificate | null,
  connections?: ConnectionPool,
): Server {
  return startSite(siteOf(portal), address, tls, connections);
}

/** Returns what answers the requests below the portal's prefix. */
export function portalHandler(portal: Portal): (request: IncomingRequest) => Promise<Response> {
  return siteHandler(siteOf(portal));
}

function siteOf(portal: Portal): PortalSite {
  const navigation = links();
  const site: PortalSite = {
    name: "portal",
    cookie: COOKIE,
    prefix: portal.prefix,
    sides: [TEST_SIDE],
    brand: portal.brand,
    assets: portal.assets,
    unknownHost: portal.texts.en("site.unknownHost"),
    parts: portal,
    routes: portal.demo ? [...ROUTES, ...demoRoutes] : ROUTES,
    visitorOf: (request, side) => new Visitor(portal, request, side),
    admit: (route, call) => admit(site, route, call),
    recognize: (visitor) => visitor.authenticate(),
    isReadOnly: (visitor) => visitor.inspection !== null,
    banner: (visitor) =>
      visitor && (
        <>
          {visitor.inspection && <InspectionBanner visitor={visitor} of={visitor.inspection} />}
          {visitor.isTest && <TestBanner visitor={visitor} />}
        </>
      ),
    header: (visitor, path) =>
      visitor?.isInside() && (
        <Header
          visitor={visitor}
          path={path}
          navigation={navigation}
          contact={portal.settings.contact}
        />
      ),
  };
  return site;
}

/** Returns the response for a visitor who may not see the route, or null for one who may. */
async function admit(
  site: PortalSite,
  route: Route,
  { visitor, path, filters }: Call,
): Promise<Response | null> {
  const { settings } = site.parts;
  const identity = await visitor.authenticate();
  const refused = refuseInspector(site, route, visitor);
  if (refused) return refused;
  if (route.role === "anyone") return visitor.isTest ? redirect(`/..${path}`) : null;
  if (!identity || identity.session.awaitsCode) {
    if (visitor.isRefresh()) return new Response(null, { status: 401 });
    if (identity) return redirect("/../sign-in/code");
    const from = visitor.side + path;
    const asked = `${from}${filters.values.size > 0 ? `?${filters.values}` : ""}`;
    const next =
      route.method === "GET" && from !== "/" ? `?${new URLSearchParams({ next: asked })}` : "";
    return redirect(`/../sign-in${next}`);
  }
  if (visitor.isTest && !visitor.hasTestSide()) return redirect("/../");
  if (visitor.isTest && LIVE_PATHS.has(route.path)) return redirect(`/..${path}`);
  const { role, totpSecret } = identity.person;
  if (!mayMember(role, route.role)) {
    return failureOf(site, 403, visitor.t("site.roleTooLow"), visitor);
  }
  const mustEnrol =
    settings.needsSecondFactor && totpSecret === null && visitor.inspection === null;
  if (mustEnrol && !ENROLMENT.includes(route.path)) return redirect(ENROLMENT[0]!);
  return null;
}

/**
 * Returns the response for an administrator who inspects the portal; null if the route may be used. No form does
 * anything. The cookie of an inspection that has ended leads to the page that says so: a member who is signed in to the
 * same browser must not act unawares.
 */
function refuseInspector(site: PortalSite, route: Route, visitor: Visitor): Response | null {
  if (INSPECTION.includes(route.path)) return null;
  if (visitor.inspection === null) {
    if (!visitor.hasInspectionCookie()) return null;
    if (visitor.isRefresh()) return new Response(null, { status: 401 });
    return redirect("/../inspection/ended");
  }
  if (route.method === "GET") return null;
  return failureOf(site, 403, visitor.t("inspection.refused"), visitor);
}
