// The bill of materials of a release, in CycloneDX: the packages that are in the binary, as deploy/licenses.ts finds them.

import packageJson from "../package.json" with { type: "json" };
import { type License, licensesJson } from "./licenses.ts";

/** `date`: in seconds since 1970. */
export function billOfMaterials(date: number): string {
  const components = (JSON.parse(licensesJson()) as License[]).map(
    ({ name, version, license }) => ({
      type: name === "bun" ? "platform" : "library",
      "bom-ref": purl(name, version),
      name,
      version,
      licenses: [{ license: { id: license } }],
      purl: purl(name, version),
    }),
  );
  const main = purl(packageJson.name, packageJson.version);
  return `${JSON.stringify(
    {
      bomFormat: "CycloneDX",
      specVersion: "1.6",
      version: 1,
      metadata: {
        timestamp: new Date(date * 1000).toISOString(),
        component: {
          type: "application",
          "bom-ref": main,
          name: packageJson.name,
          version: packageJson.version,
          description: packageJson.description,
        },
      },
      components,
      dependencies: [{ ref: main, dependsOn: components.map(({ purl: ref }) => ref) }],
    },
    null,
    2,
  )}\n`;
}

function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
