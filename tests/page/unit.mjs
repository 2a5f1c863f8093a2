// Bundles the tests of what the page computes and runs them: node tests/page/unit.mjs FOLDER
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const here = new URL(".", import.meta.url).pathname;
const { buildSync } = createRequire(join(here, "../../web/package.json"))("esbuild");
const tests = ["model", "long", "moments", "window", "decide"];
const out = (name) => join(process.argv[2], name + ".test.mjs");
// The router looks at the address of the page when it is loaded.
const banner = { js: "globalThis.location ??= { hash: '' }; globalThis.addEventListener ??= () => {};" };
for (const name of tests) {
  buildSync({ entryPoints: [join(here, name + ".test.ts")], bundle: true, platform: "node", format: "esm", outfile: out(name), banner, nodePaths: [join(here, "../../web/node_modules")], logLevel: "warning" });
}
process.exit(spawnSync(process.execPath, ["--test", ...tests.map(out)], { stdio: "inherit" }).status ?? 1);
