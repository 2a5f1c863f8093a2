// Writes the types of the server's requests from its OpenAPI document: node routes.mjs URL > src/api/routes.ts
// Only what the page may call is taken; scripts/check-page compares the file with the server that it tests.
const document = await (await fetch(process.argv[2] + "/api/v1/openapi.json")).json();

const typeOf = (schema) =>
  ({ integer: "number", boolean: "boolean", string: "string", array: "unknown[]" })[schema.type] ?? "object";

/** A line with the members of one part of a request; it may be left out if they all may. */
const line = (part, list) => {
  if (list.length === 0) return "";
  const members = list.map(([name, type, must]) => `${name}${must ? "" : "?"}: ${type}`).join("; ");
  return `    ${part}${list.some(([, , must]) => must) ? "" : "?"}: { ${members} };\n`;
};

const lines = [];
for (const [path, methods] of Object.entries(document.paths)) {
  if (!path.startsWith("/api/v1/")) continue;
  for (const [method, operation] of Object.entries(methods)) {
    const parameters = operation.parameters ?? [];
    const of = (part) =>
      line(part, parameters.filter((each) => each.in === part).map((each) => [each.name, typeOf(each.schema), each.required]));
    const schema = operation.requestBody?.content["application/json"].schema;
    const body = line(
      "body",
      Object.entries(schema?.properties ?? {}).map(([name, each]) => [name, typeOf(each), schema.required?.includes(name)]),
    );
    lines.push(`  "${method.toUpperCase()} ${path}": {\n${of("path")}${of("query")}${body}  };`);
  }
}
console.log(`// Made by tools/routes.mjs from the server's description of itself; do not edit.\n
/** What each request of the server's own API takes. */
export interface Routes {\n${lines.join("\n")}\n}`);
