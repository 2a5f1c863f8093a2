// The description of the API is valid by a public validator, and a client that a public generator makes from it
// creates a run and reads its result.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";

const [url, token] = process.argv.slice(2);
const here = name => fileURLToPath(new URL(name, import.meta.url));

const description = await (await fetch(url + "/api/v1/openapi.json")).json();
const validator = new Validator();
const validity = await validator.validate(description);
assert.ok(validity.valid, JSON.stringify(validity.errors));
assert.equal(validator.version, "3.1");
assert.ok(!(await new Validator().validate({...description, paths: {"/a": {get: {responses: 7}}}})).valid);

writeFileSync(here("openapi.json"), JSON.stringify(description));
execFileSync(process.execPath, [here("node_modules/oazapfts/dist/cli.js"), here("openapi.json"), here("generated.mts")]);
const client = await import("./generated.mts");
client.defaults.baseUrl = url;
client.defaults.headers = {Authorization: "Bearer " + token};

const created = await client.postApiV1Runs({agent: "chat", prompt: "Hi"});
assert.equal(created.status, 201, JSON.stringify(created.data));
let run;
do {
  run = await client.getApiV1RunsId(created.data.id);
} while (run.data.status === "running" && await new Promise(done => setTimeout(done, 20, true)));
assert.equal(run.data.status, "completed");
assert.equal(run.data.result, "Hello there.");
const listed = await client.getApiV1Runs({q: created.data.id, limit: 1});
assert.equal(listed.data.runs[0].id, created.data.id);
const missing = await client.getApiV1RunsId("no-such-run");
assert.equal(missing.status, 404);
console.log("openapi: valid; a generated client creates a run and reads its result");
