// An agent by the official SDK of the Agent Client Protocol, for agents of Praxis that use it as a tool. The SDK checks
// every message of the client by its schema.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { agent, client } = acp.methods;
const toolCall = {
  toolCallId: "call-1", title: "Write note.txt", kind: "edit", rawInput: { path: "note.txt" },
  locations: [{ path: "/note.txt" }],
};
const options = [
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

acp.agent({ name: "worker" })
  .onRequest(agent.initialize, () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(agent.session.new, () => ({ sessionId: "session-1" }))
  .onRequest(agent.session.prompt, async ({ params, client: praxis }) => {
    const { sessionId, prompt } = params;
    const say = (update) => praxis.notify(client.session.update, { sessionId, update });
    await say({ sessionUpdate: "tool_call", ...toolCall, status: "pending" });
    const { outcome } = await praxis.request(client.session.requestPermission, {
      sessionId, toolCall: { toolCallId: toolCall.toolCallId }, options,
    });
    const text = `${prompt[0].text}: ${outcome.outcome} ${outcome.optionId}`;
    await say({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
