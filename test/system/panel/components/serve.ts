// Serves the page of all components on this machine: `bun run components`. After a change, reload it.

import { ASSETS } from "../../../../src/web/server/assets.ts";
import { assetResponse, pageResponse, secured } from "../../../../src/web/server/response.ts";
import { componentsDocument } from "./page.tsx";

/** Serves the page. `port`: 0 for a free one. */
export function serveComponents(port: number) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch(request) {
      const { pathname } = new URL(request.url);
      const asset = ASSETS.find(({ path }) => path === pathname);
      const response = asset ? assetResponse(asset) : pageResponse(200, componentsDocument());
      return secured(response, false);
    },
  });
}

if (import.meta.main) {
  const server = serveComponents(8090);
  console.log(`The components: http://127.0.0.1:${server.port}/`);
}
