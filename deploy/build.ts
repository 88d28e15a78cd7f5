// `bun run build`: compiles the program for this machine into dist/reseller.

import { join } from "node:path";
import { compile, ROOT } from "./compile.ts";

const program = join(ROOT, "dist/reseller");
await compile(null, program);
console.log(`built: ${program}`);
