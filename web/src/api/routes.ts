// Made by tools/routes.mjs from the server's description of itself; do not edit.

/** What each request of the server's own API takes. */
export interface Routes {
  "POST /api/v1/login": {
    body: { code: string };
  };
  "GET /api/v1/openapi.json": {
  };
  "GET /api/v1/agents": {
  };
  "POST /api/v1/runs": {
    body: { agent?: string; prompt: string; model?: string; limits?: object; schema?: object };
  };
  "GET /api/v1/runs": {
    query?: { limit?: number; before?: string; agent?: string; status?: string; q?: string };
  };
  "GET /api/v1/runs/{id}": {
    path: { id: string };
  };
  "GET /api/v1/runs/{id}/messages": {
    path: { id: string };
  };
  "POST /api/v1/runs/{id}/messages": {
    path: { id: string };
    body: { prompt: string; schema?: object };
  };
  "GET /api/v1/runs/{id}/events": {
    path: { id: string };
    query?: { after?: string; deltas?: boolean; event?: string; below?: boolean };
  };
  "GET /api/v1/runs/{id}/tree": {
    path: { id: string };
  };
  "GET /api/v1/tree": {
    query?: { all?: boolean };
  };
  "GET /api/v1/runs/{id}/export": {
    path: { id: string };
  };
  "POST /api/v1/runs/{id}/commands": {
    path: { id: string };
    body: { commands: unknown[] };
  };
  "POST /api/v1/runs/{id}/steps/{step}": {
    path: { id: string; step: string };
    body: { decision: string; text?: string; arguments?: object };
  };
  "POST /api/v1/runs/{id}/resume": {
    path: { id: string };
  };
  "POST /api/v1/runs/{id}/fork": {
    path: { id: string };
    body?: { seq?: number; prompt?: string };
  };
  "POST /api/v1/runs/{id}/rewind": {
    path: { id: string };
    body: { turn: string };
  };
  "POST /api/v1/runs/{id}/replay": {
    path: { id: string };
  };
  "GET /api/v1/events": {
    query?: { after?: string; deltas?: boolean; event?: string };
  };
  "GET /api/v1/runs/{id}/compare/{other}": {
    path: { id: string; other: string };
  };
  "GET /api/v1/usage": {
    query?: { from?: string; until?: string; agent?: string; model?: string };
  };
  "GET /api/v1/blobs/{digest}": {
    path: { digest: string };
  };
  "GET /api/v1/pending": {
  };
}
