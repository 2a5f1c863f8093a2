// Bundles the engines into FOLDER/engines.js, in the language that Duktape has: node build.mjs FOLDER
import babel from "@babel/core";
import { build } from "esbuild";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

const old = { babelrc: false, configFile: false, comments: false, sourceType: "script", plugins: ["@babel/plugin-transform-unicode-property-regex", "@babel/plugin-transform-unicode-regex"] };
const lower = {
  name: "lower",
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /liquidjs.*\.js$|prompts.engines.*\.js$/ }, ({ path }) => ({ contents: babel.transformSync(readFileSync(path, "utf8"), old).code })),
};
const out = join(process.argv[2], "engines.js");
await build({
  entryPoints: [join(import.meta.dirname, "engines.js")], outfile: out, bundle: true, format: "iife", target: "es5", minify: true,
  platform: "browser", mainFields: ["main"], legalComments: "none", plugins: [lower], banner: { js: "var globalThis=this;" },
});
// The licences ask to be where the code is.
for (const name of ["core-js", "handlebars", "liquidjs", "mustache"]) {
  const licence = readFileSync(join(import.meta.dirname, "node_modules", name, "LICENSE"), "utf8");
  appendFileSync(out, `/* ${name}\n${licence.replaceAll("*/", "")}*/\n`);
}
