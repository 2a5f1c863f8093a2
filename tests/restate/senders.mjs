// Makes requests that are signed in many ways, right and wrong, and writes for each whether the official core of Restate's SDKs
// takes it, one line of JSON each, for the test RestateOracle.
import { generateKeyPairSync, sign } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nameOf } from "./identity_key.mjs";

const [modules, examplesWanted] = process.argv.slice(2);
const core = await import(pathToFileURL(join(modules,
  "@restatedev/restate-sdk/dist/endpoint/handlers/vm/sdk_shared_core_wasm_bindings.js")));

const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/// What is changed in a request that is right otherwise. Moments are far from now, so that no slow machine changes the answer.
const changes = [
  () => {},
  () => {},
  (request) => (request.scheme = null),
  (request) => (request.scheme = "unsigned"),
  (request) => (request.scheme = "v2"),
  (request) => (request.token = null),
  (request) => (request.signer = generateKeyPairSync("ed25519")),
  (request) => (request.header.alg = "HS256"),
  (request) => (request.header.alg = "none"),
  (request) => delete request.header.alg,
  (request) => delete request.header.typ,
  (request) => (request.claims.aud = "/invoke/praxis/other"),
  (request) => (request.claims.aud = 1),
  (request) => delete request.claims.aud,
  (request) => (request.claims.exp -= 7200),
  (request) => (request.claims.exp = String(request.claims.exp)),
  (request) => delete request.claims.exp,
  (request) => (request.claims.nbf += 7200),
  (request) => delete request.claims.nbf,
  (request) => (request.claims.sub = "praxis"),
  (request) => (request.change = (token) => token.slice(0, -1)),
  (request) => (request.change = (token) => `${token}A`),
  (request) => (request.change = (token) => `${token}==`),
  (request) => (request.change = (token) => token.replace(".", "..")),
  (request) => (request.change = (token) => token.replace(/[A-Za-z]/, (letter) => (letter === "A" ? "B" : "A"))),
  (request) => (request.change = (token) => token.split(".").slice(0, 2).join(".")),
];

for (let done = 0; done < Number(examplesWanted); ++done) {
  const pair = generateKeyPairSync("ed25519"), now = Date.now(), seconds = Math.floor(now / 1000);
  const path = done % 3 === 0 ? "/discover" : `/invoke/praxis/${done % 3 === 1 ? "run" : "wake"}`;
  const request = { scheme: "v1", signer: pair, header: { typ: "JWT", alg: "EdDSA", kid: nameOf(pair.publicKey) },
    claims: { aud: path, exp: seconds + 3600, iat: seconds, nbf: seconds - 3600 }, change: (token) => token };
  changes[done % changes.length](request);
  const text = `${encode(request.header)}.${encode(request.claims)}`;
  if (request.token !== null)
    request.token = request.change(`${text}.${sign(null, Buffer.from(text), request.signer.privateKey).toString("base64url")}`);
  const headers = [];
  if (request.scheme !== null) headers.push(new core.WasmHeader("x-restate-signature-scheme", request.scheme));
  if (request.token !== null) headers.push(new core.WasmHeader("x-restate-jwt-v1", request.token));
  let known = true;
  try {
    new core.WasmIdentityVerifier([nameOf(pair.publicKey)]).verify_identity(path, headers);
  } catch {
    known = false;
  }
  console.log(JSON.stringify({ key: nameOf(pair.publicKey), path, scheme: request.scheme, token: request.token, now, known }));
}
