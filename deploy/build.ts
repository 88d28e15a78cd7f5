// `bun run build`: compiles the program for this machine into dist/reseller.

import { join } from "node:path";
import { compile, ROOT } from "./compile.ts";

await compile(null, join(ROOT, "dist/reseller"));
