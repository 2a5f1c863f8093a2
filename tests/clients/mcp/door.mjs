// Lets the conformance suite, which has no token, in at `praxis serve`: passes each request on with a token, as it is otherwise.
// Usage: node door.mjs URL TOKEN (prints the port)
import { createServer, request } from "node:http";

const { hostname, port } = new URL(process.argv[2]);
const authorization = `Bearer ${process.argv[3]}`;
createServer((asked, answer) => {
  const headers = { ...asked.headers, authorization };
  const onward = request({ hostname, port, path: asked.url, method: asked.method, headers }, (got) => {
    answer.writeHead(got.statusCode, got.headers);
    got.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  asked.pipe(onward);
}).listen(0, "127.0.0.1", function ready() { console.log(this.address().port); });
