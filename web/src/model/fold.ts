// How each event changes a run. A fold, so the same code shows the present and any past moment.
import type { ParkedStep, Part, RunEvent, Usage } from "../api/types.ts";
import { text, type Agent, type CallState, type NoteItem, type RunState } from "./run_state.ts";

/** Changes the run by the event that comes next. */
export function apply(run: RunState, event: RunEvent): void {
  const agent = run.agentOf(event);
  agent.version++;
  if (event.id !== undefined) run.changes++;
  agent.updated = event.time;
  agent.seq = Math.max(agent.seq, event.seq);
  agent.step = Math.max(agent.step, event.step);
  handlers[event.event]?.(run, agent, event);
}

type Handle = (run: RunState, agent: Agent, event: RunEvent) => void;

function note(agent: Agent, event: RunEvent, tone: NoteItem["tone"], words: string): void {
  agent.items.push({ kind: "note", version: 0, seq: event.seq, time: event.time, tone, text: words });
}

function whole(kind: "text" | "reasoning"): Handle {
  return (_, agent, event) => {
    agent.live.clear();
    agent.items.push({ kind, version: 0, seq: event.seq, time: event.time, text: text(event.text), live: false });
  };
}

function piece(kind: "text" | "reasoning"): Handle {
  return (_, agent, event) => {
    const number = Number(event.item ?? 0);
    const item = agent.live.get(number);
    if (item !== undefined && item.kind === kind) {
      item.text += text(event.text);
      item.version++;
    } else {
      agent.live.set(number, { kind, version: 0, seq: event.seq, time: event.time, text: text(event.text), live: true });
    }
  };
}

function settled(state: CallState): Handle {
  return (run, agent, event) => {
    const item = run.callOf(agent, event);
    const error = event.error as { message?: string } | undefined;
    item.state = state;
    item.settled = event.seq;
    item.args = event.arguments ?? item.args;
    item.result = text(event.text) || (event.value === undefined ? "" : JSON.stringify(event.value, null, 2));
    if (error?.message) item.result = error.message;
    if (event.event === "tool.timed_out") item.result = `no result within ${event.limit_ms} ms`;
    item.ms = event.duration_ms as number | undefined;
    run.end(agent, "tool " + item.call, event);
  };
}

function ended(status: string): Handle {
  return (run, agent, event) => {
    agent.live.clear();
    agent.waits = [];
    agent.status = status;
    run.endAll(agent, event);
    const result = (event.result ?? {}) as { termination?: string; result?: string; errors?: { message: string }[] };
    const said = agent.items.at(-1)?.kind === "text";
    const why = result.errors?.map((each) => each.message).join("; ") ?? "";
    if (status === "completed") {
      if (!said && result.result) whole("text")(run, agent, { ...event, text: result.result });
      note(agent, event, "good", "Turn completed");
    } else {
      note(agent, event, "bad", `Turn ${status}${result.termination ? ` (${result.termination})` : ""}${why ? ": " + why : ""}`);
    }
  };
}

const commandWords: Record<string, string> = {
  steer: "Steered", enqueue: "Queued", interrupt: "Interrupted", annotate: "Comment", modify: "Task changed",
  withdraw: "Message taken back", move: "Message moved", compact: "Summary asked for",
  delete: "Deleted", deadline: "Its time was over", budget: "Its budget was spent", rewind: "Taken back", set_agent: "Agent changed",
};

const handlers: Record<string, Handle> = {
  "turn.started": (_, agent, event) => {
    const config = event.config as { agent?: string; model?: string } | undefined;
    if (agent.name === "agent" || agent.depth === 0) agent.name = config?.agent ?? agent.name;
    agent.model = config?.model ?? agent.model;
    agent.status = "running";
  },
  "message.added": (_, agent, event) => {
    const message = event.message as { content?: Part[] };
    const parts = message.content ?? [];
    const first = parts.find((part) => part.type === "text") as { text: string } | undefined;
    if (event.source === "user" && first !== undefined) agent.task = first.text;
    agent.items.push({ kind: "message", version: 0, seq: event.seq, time: event.time, source: text(event.source), parts });
  },
  "model.requested": (run, agent, event) => {
    if (event.model) agent.model = text(event.model);
    agent.requests.push(event.seq);
    run.begin(agent, "model", "model", text(event.model), event);
  },
  "model.responded": (run, agent, event) => {
    agent.live.clear();
    const usage = event.usage as Usage | undefined;
    agent.tokens += usage?.total ?? 0;
    agent.cost += usage?.cost_usd ?? 0;
    run.end(agent, "model", event);
  },
  "model.failed": (run, agent, event) => {
    agent.live.clear();
    run.end(agent, "model", event);
    note(agent, event, "bad", "Model call failed: " + ((event.error as { message?: string })?.message ?? ""));
  },
  "model.waiting": (_, agent, event) => {
    if (event.id !== undefined) note(agent, event, "waiting", `Waits before the next attempt (${event.reason})`);
  },
  "attempt.superseded": (_, agent) => agent.live.clear(),
  "text.delta": piece("text"),
  "reasoning.delta": piece("reasoning"),
  "tool_call.delta": (_, agent, event) => {
    const number = Number(event.item ?? 0);
    const item = agent.live.get(number);
    if (item?.kind === "call") {
      item.args = String(item.args) + text(event.arguments);
      item.version++;
      return;
    }
    agent.live.set(number, {
      kind: "call", version: 0, seq: event.seq, time: event.time, call: text(event.call), tool: text(event.name),
      args: text(event.arguments), state: "called", progress: "", result: "", children: [],
    });
  },
  "assistant.text": whole("text"),
  "assistant.reasoning": whole("reasoning"),
  "tool.called": (run, agent, event) => void run.callOf(agent, event),
  "tool.started": (run, agent, event) => {
    const item = run.callOf(agent, event);
    item.state = "running";
    item.args = event.arguments ?? item.args;
    run.begin(agent, "tool", "tool " + item.call, item.tool, event);
  },
  "tool.progress": (run, agent, event) => {
    run.callOf(agent, event).progress = text(event.text);
  },
  "tool.completed": settled("done"),
  "tool.failed": settled("failed"),
  "tool.timed_out": settled("failed"),
  "child.spawned": (run, agent, event) => {
    const child = run.own(text(event.child)) ?? run.addAgent(text(event.child), agent.id, agent.depth + 1, event.time);
    child.name = text(event.agent) || child.name;
    const item = run.lastCall(agent, event.call);
    if (item === undefined) return;
    item.children.push(child.id);
    child.place = agent.items.indexOf(item);
    run.order(agent);
    // Sub-agents are rarely named; the tool that made them says what they are for.
    if (child.name === "agent" && item.tool) child.name = item.tool;
  },
  "child.settled": (run, _, event) => {
    const child = run.own(text(event.child));
    if (child !== undefined && child.status === "running") child.status = text(event.reason);
  },
  "step.parked": (run, agent, event) => {
    const parked = event.parked as ParkedStep;
    agent.waits.push(parked);
    agent.status = "awaiting_user";
    run.begin(agent, "wait", "wait " + parked.id, parked.tool ?? parked.kind, event);
    const item = parked.call ? run.lastCall(agent, parked.call) : undefined;
    if (item !== undefined) item.state = "waiting";
    if (parked.kind !== "approval" || item === undefined) note(agent, event, "waiting", parked.prompt);
  },
  "step.decided": (run, agent, event) => {
    agent.waits = agent.waits.filter((each) => each.id !== event.park);
    if (agent.waits.length === 0) agent.status = "running";
    run.end(agent, "wait " + text(event.park), event);
    const words = event.text && event.verb !== "edit" ? `: ${event.text}` : "";
    note(agent, event, event.verb === "deny" ? "bad" : "good", `${decisionWords[text(event.verb)] ?? event.verb} by ${event.by ?? "a rule"}${words}`);
    const item = run.lastCall(agent, event.call);
    if (item !== undefined) item.state = event.verb === "deny" ? "denied" : "called";
  },
  "session.paused": (_, agent) => void (agent.paused = true),
  "session.unpaused": (_, agent) => void (agent.paused = false),
  "session.recovered": (_, agent, event) => note(agent, event, "plain", "A new process took over"),
  "session.intervened": (_, agent, event) => {
    const kind = text(event.kind);
    if (kind === "annotate") agent.comment = text(event.text);
    if (kind === "delete") agent.status = "deleted";
    const words = text(event.text);
    note(agent, event, "plain", (commandWords[kind] ?? kind) + (words ? ": " + words : ""));
  },
  "history.cut": (_, agent, event) => note(agent, event, "plain", `From here on the model sees less of the conversation (${event.cause})`),
  "turn.completed": ended("completed"),
  "turn.failed": ended("failed"),
  "turn.timed_out": ended("timed out"),
  "turn.cancelled": ended("cancelled"),
};

const decisionWords: Record<string, string> = { allow: "Allowed", deny: "Denied", edit: "Allowed with other arguments", answer: "Answered" };
