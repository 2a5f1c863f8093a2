#include "app/agent_keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "app/redact_keys.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

using Type = SettingKey::Type;

constexpr std::array kOwnKeys{
    SettingKey{"id", Type::kText,
               "Short name for lists and programs; that of the file without its ending if absent, \"agent\" "
               "for a sub-agent"},
    SettingKey{"name", Type::kText, "Name shown to users"},
    SettingKey{"description", Type::kText, "What the agent is good at, for those who choose one"},
    SettingKey{"model", Type::kText, "PROVIDER:NAME, such as openai:gpt-5-mini; A|B: B if A fails"},
    SettingKey{"route.order", Type::kText,
               "Which model of a route is tried first: as named, the cheapest "
               "or the fastest",
               "priority|cost|latency"},
    SettingKey{"route.max_usd",
               Type::kNumber,
               "Upper bound of the estimated cost of a call; models above it are skipped",
               {},
               0,
               1e6},
    SettingKey{"route.restart", Type::kFlag,
               "Whether another model may take over after the failed one has begun its answer"},
    SettingKey{"instructions", Type::kText, "System instructions for the model"},
    SettingKey{"instructions_file", Type::kText, "A file with the instructions; relative to this file"},
    SettingKey{
        "folder_instructions", Type::kFlag,
        "Whether AGENTS.md of the working folder and those above it, up to the repository's, follow the "
        "instructions (docs/trust.md)"},
    SettingKey{"prompt", Type::kText,
               "The instructions as a versioned prompt: ID, ID@VERSION or ID@LABEL (docs/prompts.md)"},
    SettingKey{"prompt_variables", Type::kAnyTable, "Values of the prompt's variables"},
    SettingKey{"tool_failure", Type::kText, "Whether the turn continues after a failed tool call",
               "continue|fail"},
    SettingKey{"in_doubt", Type::kText,
               "What happens to a call that may have run when the process died: a human decides, or the "
               "model is informed",
               "park|tell"},
    SettingKey{"options.temperature", Type::kNumber, "Randomness of the model's choice of words", {}, 0, 2},
    SettingKey{"options.max_output_tokens", Type::kWhole, "Length of one answer", {}, 1, 1e9},
    SettingKey{"options.reasoning_effort", Type::kText, "How much the model thinks: a level of the vendor"},
    SettingKey{"options.tool_choice", Type::kText, "auto, none, required, or the name of a tool"},
    SettingKey{"options.extra", Type::kAnyTable, "Settings merged into the request unchanged"},
    SettingKey{"policy.allow", Type::kTexts, "Tools that may run; `*` at the end stands for any ending"},
    SettingKey{"policy.ask", Type::kTexts, "Tools whose every call waits for an approval"},
    SettingKey{"policy.deny", Type::kTexts, "Tools that may not run"},
    SettingKey{"policy.calls", Type::kTables,
               "Pre-approved calls: `tool`, `arguments`, and `any_ending` if `argv` may continue"},
    SettingKey{
        "policy.rules", Type::kTables,
        "Rules about calls: `id`, one of `allow`, `ask` and `deny`, `when`, `during`, `at_most` or `after`, "
        "`reason`"},
    SettingKey{"policy.filters", Type::kTables,
               "Filters of content: `id`, `at`, `tools`, one of `matches`, `script`, `finds`, "
               "`longer_than`, `media_type` and `asks`, `model`, `action`, `reason`"},
    SettingKey{"tools.ask_user", Type::kTable, "Questions to the user"},
    SettingKey{"agents.*.file", Type::kText, "The sub-agent's own file; relative to this one"},
    SettingKey{"agents.*.description", Type::kText, "What the sub-agent is for; the model reads it"},
    SettingKey{"team.members.*.file", Type::kText,
               "The agent file of a member, which answers under this name; relative to this one"},
    SettingKey{"team.members.*.description", Type::kText,
               "What the member is good at; replaces what its own file says"},
    SettingKey{"team.route", Type::kText,
               "Which member answers a message: the one that answered last, by [team.roles], by the "
               "supervisor's choice, or all of `order`",
               "current|role|supervisor|chain"},
    SettingKey{"team.roles.*", Type::kText, "The member for messages about this role, for route = \"role\""},
    SettingKey{"team.order", Type::kTexts, "The members in their order, for route = \"chain\""},
    SettingKey{"team.supervisor", Type::kText,
               "The file of the agent that selects the member, for route = \"supervisor\"; relative to this "
               "one"},
    SettingKey{"team.handoff", Type::kFlag,
               "Whether members get the tools hand_over_to_NAME, by which another member answers from then "
               "on"},
    SettingKey{"tools.fork", Type::kTable, "Copies of the agent that work on parts in parallel"},
    SettingKey{"tools.kv", Type::kTable, "Notes by key, of this session"},
    SettingKey{"tools.memory.automatic", Type::kFlag,
               "Whether notes that match a user message go to the model with it"},
    SettingKey{"tools.memory.collection", Type::kText,
               "What the agent's notes are kept under; \"notes\" if absent"},
    SettingKey{"tools.memory.documents", Type::kText,
               "A further collection that recall reads, such as \"documents\""},
    SettingKey{"tools.memory.write", Type::kFlag,
               "Whether the agent may also write; gives the tools remember and forget too"},
    SettingKey{
        "tools.sql.database", Type::kText,
        "The file of a SQLite database, or postgres://USER@HOST/DATABASE; gives the tools sql_query and "
        "sql_schema"},
    SettingKey{"tools.sql.write", Type::kFlag,
               "Whether the agent may change rows; gives the tool sql_execute"},
    SettingKey{"tools.sql.tables", Type::kTexts,
               "The only tables that may be read or changed; all if absent"},
    SettingKey{"tools.sql.timeout", Type::kDuration, "For one statement, such as \"30s\", or milliseconds"},
    SettingKey{"tools.sql.max_rows", Type::kWhole, "Rows that one statement returns", {}, 1, 100'000},
    SettingKey{"tools.sql.max_bytes", Type::kWhole, "Bytes that one statement returns", {}, 1, 16 << 20},
    SettingKey{"tools.skills.folders", Type::kTexts,
               "Folders whose folders are skills; gives the tool skill; the user's own if absent"},
    SettingKey{"tools.send_message.max_per_turn",
               Type::kWhole,
               "Messages to other agents of the tree in one turn; 10 if absent. Gives the tool send_message",
               {},
               1,
               1000},
    SettingKey{"tools.send_message.max_hops",
               Type::kWhole,
               "How many messages may lead to one another; 4 if absent",
               {},
               1,
               100},
    SettingKey{"tools.text", Type::kTable, "Sections, matching lines and summaries of a text"},
    SettingKey{"tools.file.read", Type::kTexts, "Folders that may be read; gives the tool file_read"},
    SettingKey{"tools.file.write", Type::kTexts, "Folders that may be written; gives the tool file_write"},
    SettingKey{"tools.file.code", Type::kFlag,
               "Whether the agent works on source text; gives the tools glob, grep and edit too"},
    SettingKey{"tools.http.allow", Type::kTexts, "Hosts that may be reached; gives the tool http"},
    SettingKey{"tools.http.timeout", Type::kDuration, "For one request, such as \"30s\", or milliseconds"},
    SettingKey{
        "tools.http.retries", Type::kWhole, "Further attempts after a failure that may pass", {}, 0, 10},
    SettingKey{"tools.http.max_bytes", Type::kWhole, "Longest response", {}, 1, 1024.0 * 1024 * 1024},
    SettingKey{"tools.http.headers", Type::kAnyTable,
               "Headers of each request; `secret:NAME` at the end of one stands for a secret of the "
               "configuration, for the hosts that it is for"},
    SettingKey{"tools.http.send_trace", Type::kFlag, "Whether requests have the header traceparent"},
    SettingKey{"tools.shell.folder", Type::kText, "Where programs run; the current folder if absent"},
    SettingKey{"tools.shell.write", Type::kTexts, "Further folders that may be written"},
    SettingKey{"tools.shell.read", Type::kTexts,
               "Folders and files that may be read, in addition to the system's"},
    SettingKey{"tools.shell.protect", Type::kTexts, "What stays read-only in a folder that may be written"},
    SettingKey{"tools.shell.programs", Type::kTexts, "The only programs that may be started; any if absent"},
    SettingKey{"tools.shell.shell_strings", Type::kFlag, "Whether the model may also give a line for sh"},
    SettingKey{"tools.shell.environment", Type::kTexts,
               "Environment variables that are passed on; `VARIABLE=secret:NAME` has a secret of the "
               "configuration, which the program then knows"},
    SettingKey{"tools.shell.allow", Type::kTexts, "Hosts that programs may reach; no network if absent"},
    SettingKey{"tools.shell.timeout", Type::kDuration, "For one program, such as \"30s\", or milliseconds"},
    SettingKey{"tools.shell.max_memory_mb",
               Type::kWhole,
               "Memory of the programs of one call in MiB",
               {},
               16,
               1 << 20},
    SettingKey{"tools.shell.max_processes", Type::kWhole, "Processes and threads of one call", {}, 1, 65536},
    SettingKey{"tools.shell.max_output", Type::kWhole, "Bytes kept of each output", {}, 1, 16 << 20},
    SettingKey{"tools.python.folder", Type::kText, "Where the code runs; an empty folder if absent"},
    SettingKey{"tools.python.write", Type::kTexts, "Folders that may be written"},
    SettingKey{"tools.python.read", Type::kTexts,
               "Folders and files that may be read, in addition to the system's"},
    SettingKey{"tools.python.protect", Type::kTexts, "What stays read-only in a folder that may be written"},
    SettingKey{"tools.python.allow", Type::kTexts, "Hosts that the code may reach; no network if absent"},
    SettingKey{"tools.python.timeout", Type::kDuration, "Of the code itself, without what it waits for"},
    SettingKey{"tools.python.max_memory_mb",
               Type::kWhole,
               "Memory of the code and its processes in MiB",
               {},
               16,
               1 << 20},
    SettingKey{"tools.python.max_processes", Type::kWhole, "Processes and threads of one call", {}, 1, 65536},
    SettingKey{
        "tools.python.max_output", Type::kWhole, "Bytes kept of what the code prints", {}, 1, 16 << 20},
    SettingKey{"tools.search_tools.beyond",
               Type::kWhole,
               "Beyond so many tools of MCP servers, the model finds them with the tool search_tools; 40 if "
               "absent",
               {},
               0,
               10'000},
    SettingKey{"tools.mcp.*.command", Type::kTexts,
               "An MCP server: program and arguments; runs in the sandbox"},
    SettingKey{"tools.mcp.*.url", Type::kText, "An MCP server that is reached over HTTP instead"},
    SettingKey{"tools.mcp.*.from", Type::kText,
               "Instead: a file with `mcpServers`, such as .mcp.json, that has the server NAME"},
    SettingKey{"tools.mcp.*.tools", Type::kTexts,
               "The server's tools that the agent gets; `*` at the end stands for any ending; all if absent"},
    SettingKey{"tools.mcp.*.idempotent", Type::kTexts,
               "The server's tools that may be called again after a crash"},
    SettingKey{"tools.mcp.*.sampling", Type::kText,
               "Whether the server gets answers of the agent's model that it asks for during a call: `ask` "
               "lets a person decide about each; none if absent",
               "allow|ask"},
    SettingKey{"tools.mcp.*.timeout", Type::kDuration, "For one call, such as \"30s\", or milliseconds"},
    SettingKey{"tools.mcp.*.start_timeout", Type::kDuration, "From the start to the first list of tools"},
    SettingKey{"tools.mcp.*.max_result", Type::kWhole, "Bytes kept of the text of a result", {}, 1, 16 << 20},
    SettingKey{"tools.mcp.*.headers", Type::kAnyTable,
               "Headers of each request to the url; `secret:NAME` at the end of one stands for a secret of "
               "the configuration"},
    SettingKey{"tools.mcp.*.token_env", Type::kText, "Variable with the bearer token for the url"},
    SettingKey{"tools.mcp.*.client_id", Type::kText,
               "How the login server of the url knows Praxis, if you registered it there"},
    SettingKey{"tools.mcp.*.client_secret_env", Type::kText, "Variable with the secret of client_id"},
    SettingKey{"tools.mcp.*.issuer", Type::kText, "The login server that knows client_id"},
    SettingKey{"tools.mcp.*.client_metadata_url", Type::kText,
               "Address of a client-id metadata document, which login servers may take as the client id"},
    SettingKey{"tools.mcp.*.folder", Type::kText, "Where the program runs; it may read this folder"},
    SettingKey{"tools.mcp.*.read", Type::kTexts, "Folders and files that the program may read"},
    SettingKey{"tools.mcp.*.write", Type::kTexts, "Folders that the program may write"},
    SettingKey{"tools.mcp.*.roots", Type::kTexts,
               "Folders that the server is to work in; it can ask for them. A program reaches no more than "
               "`folder`, `read` and `write`"},
    SettingKey{"tools.mcp.*.environment", Type::kTexts,
               "Environment variables that are passed on; `VARIABLE=secret:NAME` has a secret of the "
               "configuration, which the program then knows"},
    SettingKey{"tools.mcp.*.allow", Type::kTexts, "Hosts that the program may reach; no network if absent"},
    SettingKey{"tools.mcp.*.max_memory_mb", Type::kWhole, "Memory of the program in MiB", {}, 16, 1 << 20},
    SettingKey{"tools.a2a.*.url", Type::kText,
               "A remote agent by the A2A protocol: its address, or that of its card (.json)"},
    SettingKey{"tools.a2a.*.description", Type::kText, "What the model reads about the remote agent"},
    SettingKey{"tools.a2a.*.token_env", Type::kText, "Variable with the bearer token for the url"},
    SettingKey{"tools.a2a.*.headers_env", Type::kAnyTable,
               "Further headers: the name of each, and the variable with its value"},
    SettingKey{"tools.a2a.*.timeout", Type::kDuration, "For one task, such as \"10m\", or milliseconds"},
    SettingKey{
        "tools.a2a.*.max_result", Type::kWhole, "Bytes kept of the text of an answer", {}, 1, 16 << 20},
    SettingKey{"tools.acp.*.command", Type::kTexts,
               "An agent that speaks the Agent Client Protocol: program and arguments; runs in the sandbox"},
    SettingKey{"tools.acp.*.description", Type::kText, "What the model reads about the agent"},
    SettingKey{"tools.acp.*.folder", Type::kText,
               "The agent's workspace, which it may read; the current folder if absent"},
    SettingKey{"tools.acp.*.read", Type::kTexts, "Further folders and files that the agent may read"},
    SettingKey{"tools.acp.*.write", Type::kTexts, "Folders that the agent may write"},
    SettingKey{"tools.acp.*.environment", Type::kTexts,
               "Environment variables that are passed on; `VARIABLE=secret:NAME` has a secret of the "
               "configuration, which the program then knows"},
    SettingKey{"tools.acp.*.allow", Type::kTexts, "Hosts that the agent may reach; no network if absent"},
    SettingKey{"tools.acp.*.max_memory_mb", Type::kWhole, "Memory of the program in MiB", {}, 16, 1 << 20},
    SettingKey{"tools.acp.*.start_timeout", Type::kDuration,
               "From the start of the program until it takes a prompt"},
    SettingKey{"tools.acp.*.timeout", Type::kDuration, "For one prompt, such as \"10m\", or milliseconds"},
    SettingKey{
        "tools.acp.*.max_result", Type::kWhole, "Bytes kept of the text of an answer", {}, 1, 16 << 20},
    SettingKey{"planner", Type::kText,
               "How the model is led through a request (docs/six-steps.md, docs/plans.md); absent: it "
               "decides itself",
               "six_steps|reflect"},
    SettingKey{"six_steps.clarify_rounds",
               Type::kWhole,
               "Most questions to the user because the request is ambiguous",
               {},
               0,
               100},
    SettingKey{"six_steps.information_rounds",
               Type::kWhole,
               "Most questions to the user because critical information is missing",
               {},
               0,
               100},
    SettingKey{"six_steps.sub_questions", Type::kWhole, "Most sub-questions at the same time", {}, 0, 100},
    SettingKey{"six_steps.main_work", Type::kFlag,
               "Whether a copy of the agent works on the request itself meanwhile"},
    SettingKey{"six_steps.clarify_prompt", Type::kText, "Asks the model whether the request is ambiguous"},
    SettingKey{"six_steps.information_prompt", Type::kText, "Asks whether critical information is missing"},
    SettingKey{"six_steps.sub_questions_prompt", Type::kText, "Asks for sub-questions"},
    SettingKey{"six_steps.main_work_prompt", Type::kText,
               "Tells the copy that works on the request itself; the sub-questions follow"},
    SettingKey{"six_steps.conclude_prompt", Type::kText, "Asks for the final answer"},
    SettingKey{"reflect.rounds", Type::kWhole, "Most reviews of a turn", {}, 0, 100},
    SettingKey{"reflect.after_each_batch", Type::kFlag, "Whether each batch of tool calls is reviewed too"},
    SettingKey{"reflect.prompt", Type::kText, "Asks the model for a review"},
    SettingKey{"plan", Type::kTables, "Steps to follow instead of a model (docs/plans.md)"},
    SettingKey{"metadata", Type::kAnyTable, "Arbitrary data of the host; visible to tools"},
};

}  // namespace

std::span<const SettingKey> agent_keys() {
  static const std::vector<SettingKey> keys = [] {
    std::vector<SettingKey> all(kOwnKeys.begin(), kOwnKeys.end());
    all.insert(all.end(), limit_keys().begin(), limit_keys().end());
    all.insert(all.end(), flow_keys().begin(), flow_keys().end());
    all.insert(all.end(), app::kRedactKeys.begin(), app::kRedactKeys.end());
    return all;
  }();
  return keys;
}

Status check_agent_keys(const TomlDocument& document) {
  if (auto checked = check_keys(document, agent_keys()); !checked) return checked;
  const auto splits = [](char c) { return c == '/' || c == 0x7F || static_cast<unsigned char>(c) <= ' '; };
  if (std::ranges::none_of(json_string(document.json(), "id"), splits)) return {};
  return document.mistake("id", "\"id\" must be one word without \"/\"; \"name\" is shown to users");
}

Json agent_file_schema() {
  return schema_of_keys(agent_keys(), "urn:praxis:agent-file", "Praxis agent file");
}

}  // namespace praxis
