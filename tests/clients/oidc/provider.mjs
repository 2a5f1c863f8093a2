// An identity provider by oidc-provider, on a free port of 127.0.0.1, which it prints: JWT access tokens by client_credentials.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const key = (type, options, alg) => ({ ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }), alg, use: "sig", kid: alg });
const jwks = { keys: [key("rsa", { modulusLength: 2048 }, "RS256"), key("ec", { namedCurve: "P-256" }, "ES256"), key("ed25519", {}, "EdDSA")] };

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks,
    clients: ["admin", "reader", "stranger"].map((client_id) => ({
      client_id, client_secret: `secret-of-${client_id}`, grant_types: ["client_credentials"], redirect_uris: [], response_types: [],
    })),
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256", "EdDSA"] },
    scopes: ["praxis:admin", "praxis:read"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // The resource is named urn:praxis:ALGORITHM; urn:other is another service.
        getResourceServerInfo: (_, resource) => ({
          scope: "praxis:admin praxis:read",
          audience: resource.startsWith("urn:praxis") ? "urn:praxis" : resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: resource.split(":")[2] ?? "RS256" } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
