// A remote agent by the server of @a2a-js/sdk, on a free port of 127.0.0.1, which it prints: it asks for a size, then answers.
import { createServer } from "node:http";
import { AgentCard, Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";

const part = (text) => ({ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" });
const said = (context, text) => ({
  messageId: crypto.randomUUID(), contextId: context.contextId, taskId: context.taskId, role: Role.ROLE_AGENT, parts: [part(text)],
  metadata: undefined, extensions: [], referenceTaskIds: [],
});
const executor = {
  async execute(context, bus) {
    const { taskId, contextId, userMessage, task } = context;
    const status = (state, text) => ({ state, message: text ? said(context, text) : undefined, timestamp: new Date().toISOString() });
    const update = (state, text) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }));
    if (!task) {
      bus.publish(AgentEvent.task({ id: taskId, contextId, status: status(TaskState.TASK_STATE_WORKING), artifacts: [], history: [userMessage], metadata: undefined }));
      update(TaskState.TASK_STATE_INPUT_REQUIRED, "Which size?");
    } else {
      update(TaskState.TASK_STATE_WORKING, "sewing");
      bus.publish(AgentEvent.artifactUpdate({
        taskId, contextId, append: false, lastChunk: true, metadata: undefined,
        artifact: { artifactId: "a", name: "shirt", description: "", parts: [part(`A shirt of size ${userMessage.parts[0].content.value}.`)], metadata: undefined, extensions: [] },
      }));
      update(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  },
  async cancelTask() {},
};

let handler, card;
const server = createServer(async (request, response) => {
  if (request.url.endsWith("/.well-known/agent-card.json")) return response.setHeader("Content-Type", "application/json").end(JSON.stringify(AgentCard.toJSON(card)));
  let body = "";
  for await (const piece of request) body += piece;
  const answer = await handler.handle(JSON.parse(body), new ServerCallContext({ requestedVersion: request.headers["a2a-version"] }));
  if (!answer[Symbol.asyncIterator]) return response.setHeader("Content-Type", "application/json").end(JSON.stringify(answer));
  response.setHeader("Content-Type", "text/event-stream");
  for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  card = AgentCard.fromJSON({
    name: "Tailor", description: "Sews", version: "1", skills: [], defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
    capabilities: { streaming: true },
    supportedInterfaces: [{ url: `http://127.0.0.1:${port}/agent`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });
  handler = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor));
  console.log(port);
});
