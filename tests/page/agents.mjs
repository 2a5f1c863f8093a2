// The agents of the journeys.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const kv = (op, value, key = "k") => ({ name: "kv", arguments: { op, key, ...(value === undefined ? {} : { value }) } });

/** What a hostile model or tool writes. None of it may do more than be read. */
export const hostile = [
  "<script>globalThis.hacked = 1</script>",
  "<img src=x onerror=\"globalThis.hacked = 1\">",
  "<svg onload=\"globalThis.hacked = 1\"><animate onbegin=\"globalThis.hacked = 1\" attributeName=x></svg>",
  "<iframe src=\"javascript:globalThis.hacked=1\"></iframe><object data=\"http://203.0.113.9/x\"></object>",
  "<style>* { display: none !important }</style><link rel=stylesheet href=http://203.0.113.9/x.css>",
  "<form action=http://203.0.113.9><button>Allow</button></form>",
  "[press](javascript:globalThis.hacked=1) [data](data:text/html,<script>globalThis.hacked=1</script>) [file](file:///etc/passwd)",
  "![track](http://203.0.113.9/pixel.png) ![x](data:image/svg+xml,<svg/onload=globalThis.hacked=1>)",
  "[ref]: javascript:globalThis.hacked=1\n\n[ref]",
  "<a href=\"&#106;avascript:globalThis.hacked=1\">x</a> <base href=http://203.0.113.9/>",
  "| " + "wide | ".repeat(60) + "\n| " + "--- | ".repeat(60) + "\n| " + "<img src=x onerror=globalThis.hacked=1> | ".repeat(60),
  "\u202Egnp.exe \u200B\u200B " + "a\u0300".repeat(200),
].join("\n\n");

export function makeAgents(rig) {
  rig.agent("chat", [{ reasoning: "A greeting.", text: "Hello **there**.", chunk: 3 }, { text: "Second answer." }, { text: "Third answer." }]);
  rig.agent("facts", [{ text: "I note it.", tool_calls: [kv("put", "120")] }, { text: "I look.", tool_calls: [kv("get")] }, { text: "It is 120." }], '[tools.kv]\n[policy]\nallow = ["kv"]');
  rig.agent("ask", [{ text: "May I?", tool_calls: [kv("put", "v")] }, { text: "Done." }], '[tools.kv]\n[policy]\nask = ["kv"]');
  rig.agent("ruled", [{ tool_calls: [kv("put", "ruled")] }, { text: "Done." }], '[tools.kv]\n[policy]\nask = ["kv"]');
  mkdirSync(join(rig.place, "files"));
  const change = { path: join(rig.place, "files/notes.txt"), content: "one\nthree\n" };
  rig.agent("writes", [{ tool_calls: [{ name: "file_write", arguments: change }] }, { text: "Written." }], `[tools.file]\nwrite = ["${join(rig.place, "files")}"]\n[policy]\nask = ["file_write"]`);
  rig.agent("lead-alone", [{ text: "I count.", tool_calls: [kv("list")], usage: { input: 900, output: 100, cost_usd: 0.02 } }, { text: "None." }], '[tools.kv]\n[policy]\nallow = ["kv"]');
  rig.agent("question", [{ tool_calls: [{ name: "ask_user", arguments: { question: "Which colour?" } }] }, { text: "Thank you." }], "[tools.ask_user]");
  rig.agent(
    "lead",
    [
      { reasoning: "Facts first.", text: "I ask both.", tool_calls: [{ name: "facts", arguments: { prompt: "Find the number" } }, { name: "ask", arguments: { prompt: "Store it" } }], usage: { input: 900, output: 100, cost_usd: 0.02 } },
      { text: "All done.", usage: { input: 1000, output: 20, cost_usd: 0.01 } },
    ],
    '[agents.facts]\nfile = "facts.toml"\ndescription = "Finds"\n[agents.ask]\nfile = "ask.toml"\ndescription = "Stores"',
  );
  rig.agent("leaf", [{ text: "I am a leaf." }]);
  const leaves = (from, count) => Array.from({ length: count }, (_, at) => ({ name: "leaf", arguments: { prompt: `Leaf ${from + at}` } }));
  const steps = Array.from({ length: rig.leaves / 50 }, (_, at) => ({ text: `Batch ${at}.`, tool_calls: leaves(at * 50 + 1, 50) }));
  rig.agent("wide", [...steps, { text: "All leaves fell." }], '[agents.leaf]\nfile = "leaf.toml"\ndescription = "A leaf"');
  rig.agent("fails", [{ error: { code: "provider", status: 401, message: "the key is wrong" } }]);
  rig.agent("evil", [{ reasoning: hostile, text: hostile, chunk: 7, tool_calls: [kv("put", hostile, hostile.slice(0, 40))] }, { text: hostile, chunk: 11 }], '[tools.kv]\n[policy]\nask = ["kv"]');
  rig.agent("waits", [{ text: "At last.", delay_ms: 60000 }, { text: "After that." }]);
  const { turns, steps: each } = rig.torrent;
  const piece = (at) => ({ text: `Step ${at} says a lot. `.padEnd(150, "word "), chunk: 3 });
  rig.agent("torrent", Array.from({ length: turns * each }, (_, at) => ((at + 1) % each === 0 ? piece(at) : { ...piece(at), tool_calls: [kv("put", `value ${at}`)] })), '[tools.kv]\n[policy]\nallow = ["kv"]');
  rig.agent("slow", null);
}
