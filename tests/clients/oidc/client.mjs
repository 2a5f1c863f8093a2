// Usage: client.mjs SERVER ISSUER. Gets access tokens of oidc-provider and uses `praxis serve` with them.
const [server, issuer] = process.argv.slice(2);

function expect(condition, what) {
  if (condition) return;
  console.error(`oidc-provider: ${what}`);
  process.exit(1);
}
async function tokenOf(client, scope, resource) {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { Authorization: "Basic " + btoa(`${client}:secret-of-${client}`) },
    body: new URLSearchParams({ grant_type: "client_credentials", scope, resource }),
  });
  const { access_token: token } = await response.json();
  expect(response.status === 200 && token.split(".").length === 3, `no JWT for ${client}: HTTP ${response.status}`);
  return token;
}
async function call(token, path, body) {
  const options = { headers: { Authorization: `Bearer ${token}` }, ...(body && { method: "POST", body: JSON.stringify(body) }) };
  const response = await fetch(server + path, options);
  return { status: response.status, body: await response.json() };
}

for (const algorithm of ["RS256", "ES256", "EdDSA"]) {
  const admin = await tokenOf("admin", "praxis:admin", `urn:praxis:${algorithm}`);
  const run = await call(admin, "/api/v1/runs", { agent: "chat", prompt: "Hi" });
  expect(run.status === 201, `${algorithm}: a run was not started: ${JSON.stringify(run)}`);
  const reader = await tokenOf("reader", "praxis:read", `urn:praxis:${algorithm}`);
  expect((await call(reader, `/api/v1/runs/${run.body.id}`)).status === 200, `${algorithm}: the reader cannot read`);
  const refused = await call(reader, "/api/v1/runs", { agent: "chat", prompt: "Hi" });
  expect(refused.status === 403 && refused.body.right === "run", `${algorithm}: the reader may run`);
  const stranger = await call(await tokenOf("stranger", "", `urn:praxis:${algorithm}`), "/api/v1/runs");
  expect(stranger.status === 403 && stranger.body.kind === "no_role", `${algorithm}: a stranger has a role`);
  const changed = await call(admin.slice(0, -6) + "AAAAAA", "/api/v1/runs");
  expect(changed.status === 401, `${algorithm}: a changed signature is taken`);
}
const other = await call(await tokenOf("admin", "praxis:admin", "urn:other:RS256"), "/api/v1/runs");
expect(other.status === 401 && other.body.detail.includes("another audience"), "a token for another service is taken");
console.log("oidc-provider: its JWTs by RS256, ES256 and EdDSA have the roles that the rules give, and those for others are refused");
