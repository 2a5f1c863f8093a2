// Writes the types of the server's own API from its OpenAPI document: node routes.mjs OPENAPI.json > routes.ts
// A test of the server compares that document with what the server answers, so a member that changes there breaks
// the check of types here.
import { readFileSync } from "node:fs";

const { paths, components } = JSON.parse(readFileSync(process.argv[2], "utf8"));

const simple = { integer: "number", number: "number", boolean: "boolean", string: "string", object: "object" };
const nameOf = (schema) => schema.$ref.split("/").at(-1);
const typeOf = (schema) => {
  if (schema.$ref) return nameOf(schema);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.type === "null") return "null";
  if (schema.type === "array") return schema.items ? `${typeOf(schema.items)}[]` : "unknown[]";
  return simple[schema.type] ?? "unknown";
};

/** A line with the members of one part of a request; it may be left out if they all may. */
const line = (part, list) => {
  if (list.length === 0) return "";
  const members = list.map(([name, type, must]) => `${name}${must ? "" : "?"}: ${type}`).join("; ");
  return `    ${part}${list.some(([, , must]) => must) ? "" : "?"}: { ${members} };\n`;
};

const requests = [];
const answers = [];
for (const [path, methods] of Object.entries(paths)) {
  if (!path.startsWith("/api/v1/")) continue;
  for (const [method, operation] of Object.entries(methods)) {
    const name = `"${method.toUpperCase()} ${path}"`;
    const parameters = operation.parameters ?? [];
    const of = (part) =>
      line(part, parameters.filter((each) => each.in === part).map((each) => [each.name, typeOf(each.schema), each.required]));
    const body = operation.requestBody?.content["application/json"]?.schema; // the page sends nothing else
    const members = Object.entries(body?.properties ?? {}).map(([key, each]) => [key, typeOf(each), body.required?.includes(key)]);
    requests.push(`  ${name}: {\n${of("path")}${of("query")}${line("body", members)}  };`);
    const success = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
    const answer = Object.values(success[1].content)[0].schema;
    if (answer.$ref) answers.push(`  ${name}: ${nameOf(answer)};`);
  }
}
const shapes = Object.entries(components.schemas).map(([name, schema]) => {
  const members = Object.entries(schema.properties).map(([key, each]) => `  ${key}${schema.required.includes(key) ? "" : "?"}: ${typeOf(each)};`);
  return `export interface ${name} {\n${members.join("\n")}\n}`;
});
console.log(`// Made by tools/routes.mjs from the server's description of itself; do not edit.\n
${shapes.join("\n\n")}

/** What each request of the server's own API takes. */
export interface Routes {\n${requests.join("\n")}\n}

/** What the server answers to it. */
export interface Answers {\n${answers.join("\n")}\n}`);
