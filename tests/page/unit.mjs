// Bundles the tests of web/src/model and runs them: node tests/page/unit.mjs FOLDER
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const here = new URL(".", import.meta.url).pathname;
const { buildSync } = createRequire(join(here, "../../web/package.json"))("esbuild");
const out = join(process.argv[2], "model.test.mjs");
// The router looks at the address of the page when it is loaded.
const banner = { js: "globalThis.location ??= { hash: '' }; globalThis.addEventListener ??= () => {};" };
buildSync({ entryPoints: [join(here, "model.test.ts")], bundle: true, platform: "node", format: "esm", outfile: out, banner, nodePaths: [join(here, "../../web/node_modules")], logLevel: "warning" });
process.exit(spawnSync(process.execPath, ["--test", out], { stdio: "inherit" }).status ?? 1);
