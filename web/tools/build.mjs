// Bundles the page, compresses each file and packs all of them into one that the program embeds:
// node tools/build.mjs FOLDER
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const firstLoad = 60 * 1024;
const everything = 220 * 1024;
const out = process.argv[2];
const web = new URL("..", import.meta.url).pathname;
mkdirSync(out, { recursive: true });

const result = await build({
  entryPoints: { main: join(web, "src/main.tsx"), style: join(web, "src/style.css") },
  outdir: join(out, "assets"),
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  legalComments: "none",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  metafile: true,
  write: false,
  logLevel: "warning",
});

// Licences of what is bundled must come along.
const licences = ["preact", "@preact/signals", "@preact/signals-core", "marked", "@cfworker/json-schema"].map((name) => {
  const folder = join(web, "node_modules", name);
  const file = ["LICENSE", "LICENSE.md"].map((each) => join(folder, each)).find((each) => { try { readFileSync(each); return true; } catch { return false; } });
  return `${name}\n\n${file ? readFileSync(file, "utf8") : ""}`;
});

// The run as a file: script and style are inside, and the policy names them by their hashes.
const alone = await build({
  entryPoints: [join(web, "src/file.tsx")],
  bundle: true,
  format: "iife",
  minify: true,
  legalComments: "none",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  banner: { js: "/*\n" + licences.filter((text) => !text.startsWith("@cfworker/")).join("\n\n----\n\n") + "\n*/" },
  write: false,
  logLevel: "warning",
});
const style = result.outputFiles.find((file) => basename(file.path).startsWith("style-")).text;
// Within literals only: what the parser of HTML would take for the begin of something else.
const script = alone.outputFiles[0].text.replace(/<(?=!--|\/?script)/gi, "\\x3C");
if (/<!--|<\/?script|@RUN@/i.test(script) || /<\//.test(style)) throw new Error("a script or style cannot be inside of a page");
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const runFile = readFileSync(join(web, "src/file.html"), "utf8")
  .replace("SCRIPT-HASH", () => hashOf(script))
  .replace("STYLE-HASH", () => hashOf(style))
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);

const files = result.outputFiles.map((file) => ({ path: "/assets/" + basename(file.path), bytes: Buffer.from(file.contents), cache: "immutable" }));
const named = (begin) => files.find((file) => file.path.startsWith("/assets/" + begin)).path;
const html = readFileSync(join(web, "src/index.html"), "utf8")
  .replace("/assets/STYLE", named("style-"))
  .replace("/assets/SCRIPT", named("main-"));
files.unshift({ path: "/", bytes: Buffer.from(html), cache: "check" });
files.push({ path: "/run.html", bytes: Buffer.from(runFile), cache: "check" });
files.push({ path: "/assets/licences.txt", bytes: Buffer.from(licences.join("\n\n----\n\n")), cache: "check" });

const types = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", txt: "text/plain; charset=utf-8" };
const parts = [];
let size = 0;
const put = (bytes) => {
  const place = { begin: size, size: bytes.length };
  parts.push(bytes);
  size += bytes.length;
  return place;
};
const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
const sizes = {};
const index = files.map(({ path, bytes, cache }) => {
  const br = brotli(bytes);
  sizes[path] = br.length;
  return {
    path,
    cache,
    type: types[path.split(".").pop()] ?? "text/html; charset=utf-8",
    etag: createHash("sha256").update(bytes).digest("hex").slice(0, 24),
    bodies: { br: put(br), gzip: put(gzipSync(bytes, { level: 9 })), identity: put(bytes) },
  };
});
writeFileSync(join(out, "page.pack"), Buffer.concat([Buffer.from(JSON.stringify({ files: index }) + "\n"), ...parts]));
rmSync(join(out, "assets"), { recursive: true, force: true });
mkdirSync(join(out, "assets"));
for (const { path, bytes } of files) writeFileSync(join(out, path === "/" ? "index.html" : path), bytes);

// What the first view loads: the page, its style, its script, and what that imports at once.
const outputs = Object.fromEntries(Object.entries(result.metafile.outputs).map(([path, about]) => ["/assets/" + basename(path), about]));
const first = new Set(["/", named("style-")]);
const need = (path) => {
  if (first.has(path)) return;
  first.add(path);
  for (const each of outputs[path].imports) if (each.kind === "import-statement") need("/assets/" + basename(each.path));
};
need(named("main-"));
const sum = (paths) => [...paths].reduce((total, path) => total + sizes[path], 0);
const all = sum(Object.keys(sizes).filter((path) => !path.endsWith("licences.txt")));
console.log(`page: first load ${sum(first)} bytes, all ${all} bytes (brotli), ${files.length} files`);
if (sum(first) > firstLoad || all > everything) {
  console.error(`page: too large; the first load may have ${firstLoad} bytes, all ${everything}`);
  process.exit(1);
}
