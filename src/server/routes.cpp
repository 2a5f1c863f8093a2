#include "server/routes.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>

#include "server/handlers.hpp"
#include "server/split.hpp"

namespace praxis::server {
namespace {

constexpr Field kAfter{"after", "string",
                       "id of the last event that the client has; as the header Last-Event-ID"};
constexpr Field kDeltas{"deltas", "boolean", "false: no pieces of answers, only whole ones"};
constexpr Field kEvent{"event", "string", "name of an event, or a beginning with *; may be repeated"};
constexpr std::array kStreamQuery{kAfter, kDeltas, kEvent,
                                  Field{"below", "boolean", "false: without the sub-agents"}};
constexpr std::array kHistoryQuery{
    Field{"before", "string", "id of an event; the events before it, instead of the last ones"},
    Field{"limit", "integer", "records whose events are given, at most 5000; 200"}, kEvent,
    Field{"below", "boolean", "false: without the sub-agents"}};
constexpr std::array kAllQuery{kAfter, kDeltas, kEvent};
constexpr std::array kListQuery{
    Field{"limit", "integer", "runs on a page, at most 100"},
    Field{"before", "string", "id of the last run of the page before"},
    Field{"agent", "string", "runs of this agent"},
    Field{"model", "string", "runs of models with this in their name"},
    Field{"status", "string", "runs with this status"},
    Field{"tag", "string", "runs with this tag"},
    Field{"from", "string", "runs that changed on this day, at this time, or later"},
    Field{"until", "string", "runs that did not change after this day or time"},
    Field{"min_cost", "string", "runs that cost at least this, in US dollars"},
    Field{"max_cost", "string", "runs that cost at most this, in US dollars"},
    Field{"q", "string", "runs with this in their id, name, tags, title, agent or model"},
    Field{"order", "string", "asc: the oldest first; desc"}};
constexpr std::array kModelsQuery{Field{"provider", "string", "models of this provider"}};
constexpr Field kSchema{"schema", "object", "JSON Schema that the answer must follow"};
constexpr Field kAttachments{
    "attachments", "array",
    "up to 20 images and files before the prompt: objects with url (a data URL in base64, or an address "
    "that the model's vendor reads) and name"};
constexpr std::array kCreateBody{
    Field{"agent", "string", "name of the agent; the default agent has no tools"},
    Field{"prompt", "string", "the message of the user", true},
    Field{"model", "string", "PROVIDER:NAME instead of the agent's"},
    Field{"limits", "object", "limits of the turn, as in an agent file"},
    kAttachments,
    kSchema};
constexpr std::array kMessageBody{Field{"prompt", "string", "the message of the user", true}, kAttachments,
                                  kSchema};
constexpr std::array kForkBody{
    Field{"seq", "integer", "record up to which the branch is the same; 0: all"},
    Field{"prompt", "string", "message that begins a turn in the branch"},
    Field{"edit", "object", "what the last record says instead: text, or call and arguments"},
    Field{"model", "string", "PROVIDER:NAME with which the branch runs"},
    Field{"instructions", "string", "instructions with which the branch runs"},
    Field{"limits", "object", "limits with which the branch runs, as in an agent file"},
    Field{"once", "boolean", "true: the turn ends after the next answer of the model and runs no tool"},
    Field{"continue", "boolean", "true: the open turn of the branch continues"}};
constexpr std::array kRecordsQuery{Field{"from", "integer", "number of the first record; 1"},
                                   Field{"limit", "integer", "records on a page, at most 1000"}};
constexpr std::array kMessagesQuery{Field{"from", "integer", "number of the first record; 1"},
                                    Field{"limit", "integer", "records that are read, at most 5000; 1000"}};
constexpr std::array kDiffQuery{Field{"after", "integer", "number of a record; changes after it"}};
constexpr std::array kDoctorQuery{Field{"online", "boolean", "true: asks the providers too"}};
constexpr std::array kPolicyBody{Field{"tool", "string", "the tool that is called", true},
                                 Field{"arguments", "object", "of the call; none"}};
constexpr std::array kUndoBody{
    Field{"turn", "string", "the changes from this turn on, such as t2; without turn and after: all"},
    Field{"after", "integer", "number of a record instead; changes after it"},
    Field{"redo", "boolean", "true: instead, takes the last undo back"},
    Field{"dry_run", "boolean", "true: nothing changes; the answer says what would"}};
constexpr std::array kRewindBody{Field{"turn", "string", "turn before which to go back, such as t2", true}};
constexpr std::array kCommandBody{Field{"commands", "array",
                                        "objects with verb (steer, enqueue, interrupt, pause, unpause, "
                                        "annotate, modify, withdraw, move, compact, "
                                        "delete) and text",
                                        true}};
constexpr std::array kDecideBody{
    Field{"decision", "string", "allow, deny, edit or answer", true},
    Field{"text", "string", "the reason of a denial, or the answer"},
    Field{"arguments", "object", "of edit: with which the call is to run"},
    Field{"rule", "object", "of allow: calls that need no approval from now on"}};
constexpr std::array kChatBody{
    Field{"model", "string", "name of the agent", true},
    Field{"messages", "array", "the conversation; the last message is the user's", true},
    Field{"stream", "boolean", "true: chunks as server-sent events"},
    Field{"stream_options", "object", "include_usage"},
    Field{"response_format", "object", "json_schema: the answer follows it"},
    Field{"tools", "array", "functions that the client runs"},
    Field{"tool_choice", "string", "auto, or none: without the client's tools"}};
constexpr std::array kResponseBody{
    Field{"input", "string", "the message of the user, or a list of items", true},
    Field{"model", "string", "name of the agent"},
    Field{"instructions", "string", "for this conversation, besides those of the agent"},
    Field{"previous_response_id", "string", "response that this one continues"},
    Field{"stream", "boolean", "true: events as they happen"},
    Field{"background", "boolean", "true: answer as soon as the turn has begun"},
    Field{"store", "boolean", "false: the response is not found later"},
    Field{"metadata", "object", "up to 16 strings, which the response repeats"},
    Field{"text", "object", "format: json_schema, which the answer follows"},
    Field{"max_tool_calls", "integer", "calls that the agent may make"},
    Field{"tools", "array", "functions that the client runs"},
    Field{"include", "array", "data of items that do not occur here"},
    Field{"conversation", "string",
          "id of the conversation that the response belongs to; or an object with it"}};
constexpr std::array kResponseQuery{
    Field{"stream", "boolean", "true: its events, those so far and what happens"},
    Field{"starting_after", "integer", "sequence number of the last event that the client has"}};
constexpr std::array kItemsQuery{Field{"limit", "integer", "items on a page, at most 100"},
                                 Field{"after", "string", "id of the last item of the page before"},
                                 Field{"order", "string", "asc or desc"}};
constexpr Field kInclude{"include", "string", "data of items that do not occur here"};
constexpr std::array kConversationItemsQuery{kItemsQuery[0], kItemsQuery[1], kItemsQuery[2], kInclude};
constexpr std::array kIncludeQuery{kInclude};
constexpr Field kItems{"items", "array", "items as in the input of a response, at most 20"};
constexpr Field kMetadata{"metadata", "object", "up to 16 strings"};
constexpr std::array kConversationBody{kItems, kMetadata};
constexpr std::array kMetadataBody{Field{kMetadata.name, kMetadata.type, kMetadata.text, true}};
constexpr std::array kItemsBody{Field{kItems.name, kItems.type, kItems.text, true}};
constexpr std::array kAiChatBody{
    Field{"id", "string", "the client's id of the chat, or that of a run", true},
    Field{"messages", "array", "the chat; the last message is the user's, or has decisions", true},
    Field{"agent", "string", "name of the agent of a new chat"},
    Field{"trigger", "string", "submit-message or regenerate-message"},
    Field{"messageId", "string", "the message that is regenerated"}};
constexpr std::array kAgUiBody{
    Field{"threadId", "string", "the client's id of the conversation, or that of a run", true},
    Field{"runId", "string", "the client's id of this turn", true},
    Field{"messages", "array", "the conversation; the last message is the user's. Empty: shows the thread",
          true},
    Field{"resume", "array", "answers to interrupts"},
    Field{"protocolVersion", "string", "of the client"},
    Field{"state", "object", "the state that the client was shown"},
    Field{"tools", "array", "must be empty"},
    Field{"context", "array", "must be empty"},
    Field{"forwardedProps", "object", "must be empty"},
    Field{"parentRunId", "string", "must be missing"}};
constexpr std::array kA2aBody{
    Field{"message", "object", "role, messageId and parts; taskId or contextId", true},
    Field{"configuration", "object", "returnImmediately, historyLength"},
    Field{"metadata", "object", "of the request"}, Field{"tenant", "string", "the agent of the address"}};
constexpr std::array kA2aPushBody{
    Field{"url", "string", "that gets a POST for each change", true},
    Field{"id", "string", "of the configuration; a new one if it is missing"},
    Field{"token", "string", "sent as X-A2A-Notification-Token"},
    Field{"authentication", "object", "scheme and credentials, sent as Authorization"},
    Field{"taskId", "string", "that of the path counts"},
    Field{"tenant", "string", "the agent of the address"}};
constexpr std::array kA2aRpcBody{Field{"jsonrpc", "string", "2.0", true},
                                 Field{"id", "string", "of the request; or a number", true},
                                 Field{"method", "string", "an operation, such as SendMessage", true},
                                 Field{"params", "object", "of the operation"}};
constexpr std::array kMcpBody{
    Field{"jsonrpc", "string", "2.0", true}, Field{"id", "string", "of a request; or a number"},
    Field{"method", "string", "such as tools/call", true}, Field{"params", "object", "of the method"}};
constexpr Field kHistoryLength{"historyLength", "integer", "most messages of the history"};
constexpr std::array kA2aTaskQuery{kHistoryLength};
constexpr std::array kA2aListQuery{
    Field{"contextId", "string", "tasks of this context"},
    Field{"status", "string", "tasks in this state"},
    Field{"pageSize", "integer", "tasks on a page, 1 to 100; 50"},
    Field{"pageToken", "string", "nextPageToken of the page before"},
    kHistoryLength,
    Field{"statusTimestampAfter", "string", "tasks that changed at this time or later"},
    Field{"includeArtifacts", "boolean", "true: with the answers"}};
constexpr std::array kRunQuery{
    Field{"whole", "boolean", "true: lists with all their entries, not only the last 200"}};
constexpr std::array kLabelBody{Field{"label", "string", "a word that does not begin with a digit", true},
                                Field{"version", "string", "the version that it names from now on", true}};
constexpr std::array kMemoryQuery{Field{"q", "string", "words to search for"},
                                  Field{"collection", "string", "in this collection; without q: its notes"},
                                  Field{"limit", "integer", "notes, at most 200; 20"}};
constexpr std::array kTreeQuery{Field{"all", "boolean", "true: of all runs"}};
constexpr std::array kUsageQuery{Field{"from", "string", "first day, such as 2026-01-31; 30 days ago"},
                                 Field{"until", "string", "last day; today"},
                                 Field{"agent", "string", "calls of this agent"},
                                 Field{"model", "string", "calls of this model"}};
constexpr std::array kStatsQuery{
    Field{"by", "string", "tables, apart by commas: all, agent, model, tool, day, tenant; all"},
    kUsageQuery[0], kUsageQuery[1]};
constexpr std::array kDesignQuery{Field{"prompt", "string", "the message of the user", true},
                                  Field{"agent", "string", "name of the agent"}};
constexpr std::array kUpdateBody{Field{"userComment", "string", "a comment, or delete, or modify"},
                                 Field{"userContent", "string", "an instruction"},
                                 Field{"status", "string", "pause, unpause or interrupt"}};

constexpr std::array kLoginBody{
    Field{"code", "string", "the code in the address that praxis serve opened", true}};

constexpr std::array kRoutes{
    Route{"GET", "/", "The page", show_page, {}, {}, 200, false, false, "text/html"},
    Route{"GET",
          "/assets/{file}",
          "A file of the page",
          show_asset,
          {},
          {},
          200,
          false,
          false,
          "application/octet-stream"},
    Route{"POST",
          "/api/v1/login",
          "Exchange the code of praxis serve --open for a token, once",
          log_in,
          {},
          kLoginBody,
          200,
          false},
    Route{"GET", "/healthz", "Whether the process lives", show_health, {}, {}, 200, false},
    Route{"GET", "/readyz", "Whether it takes work", show_readiness, {}, {}, 200, false},
    Route{"GET", "/metrics", "Numbers for Prometheus", show_metrics},
    Route{"GET", "/api/v1/openapi.json", "This description", show_openapi, {}, {}, 200, false},
    Route{"GET", "/api/v1/agents", "The agents that runs can name", list_agents},
    Route{"GET", "/api/v1/agents/{agent}", "One of them, as it is configured", show_agent},
    Route{"POST",
          "/api/v1/agents/{agent}/policy",
          "What the rules of an agent say about a call; nothing runs",
          try_policy,
          {},
          kPolicyBody},
    Route{"POST",
          "/api/v1/runs",
          "Start a run; with Idempotency-Key once only",
          create_run,
          {},
          kCreateBody,
          201},
    Route{"GET", "/api/v1/runs", "The runs, newest first", list_runs, kListQuery},
    Route{"POST",
          "/api/v1/import",
          "Read an exported run into the journal",
          import_run,
          {},
          {},
          201,
          true,
          false,
          "application/json",
          "application/jsonl"},
    Route{"GET", "/api/v1/models", "The models of the providers that are set up, or of one provider",
          show_provider_models, kModelsQuery},
    Route{"GET", "/api/v1/runs/{id}", "A run with the result of its last turn", show_run, kRunQuery},
    Route{"DELETE", "/api/v1/runs/{id}", "Remove a finished run and its sub-agents for good", delete_run},
    Route{"GET", "/api/v1/runs/{id}/messages", "The conversation, with calls, results and decisions",
          show_messages, kMessagesQuery},
    Route{"GET", "/api/v1/runs/{id}/context", "What fills the window of the run's model, by part",
          show_context},
    Route{"POST", "/api/v1/runs/{id}/messages", "Start the next turn", send_message, {}, kMessageBody, 202},
    Route{"GET",
          "/api/v1/runs/{id}/events",
          "The events of a run and its sub-agents: those so far, then what happens",
          stream_run,
          kStreamQuery,
          {},
          200,
          true,
          true},
    Route{"GET", "/api/v1/runs/{id}/history",
          "The last events of a run and its sub-agents, or those before one", show_history, kHistoryQuery},
    Route{"GET", "/api/v1/runs/{id}/tree", "The agents of a run", show_tree},
    Route{"GET", "/api/v1/runs/{id}/tree/rows", "The agents of a run, with what a list of them shows",
          show_rows_of_tree},
    Route{"GET", "/api/v1/tree", "The agents of all runs that are not idle, or of the last one", show_trees,
          kTreeQuery},
    Route{"GET", "/api/v1/runs/{id}/export", "The log of a run, for import elsewhere", export_run},
    Route{"POST",
          "/api/v1/runs/{id}/commands",
          "Commands to an agent at any depth, together or not at all",
          send_commands,
          {},
          kCommandBody,
          202},
    Route{"GET", "/api/v1/runs/{id}/steps/{step}", "A step that waits, with what deciding it takes",
          show_step},
    Route{"POST", "/api/v1/runs/{id}/steps/{step}", "Decide a step that waits", decide_step, {}, kDecideBody},
    Route{"POST",
          "/api/v1/runs/{id}/resume",
          "Continue the open turn, or begin that of a message that waits",
          resume_run,
          {},
          {},
          202},
    Route{"POST",
          "/api/v1/runs/{id}/fork",
          "A new run that branches off at a record",
          fork_run,
          {},
          kForkBody,
          201},
    Route{"GET", "/api/v1/runs/{id}/branches", "The runs that branched off from the same one", list_branches},
    Route{"GET", "/api/v1/runs/{id}/diff", "What a run and its sub-agents changed in files", show_diff,
          kDiffQuery},
    Route{"GET", "/api/v1/runs/{id}/records", "Records of the log as they are stored, page by page",
          list_records, kRecordsQuery},
    Route{"POST",
          "/api/v1/runs/{id}/rewind",
          "Take the conversation back to before a turn",
          rewind_run,
          {},
          kRewindBody},
    Route{"POST",
          "/api/v1/runs/{id}/undo",
          "Take back what a run changed in files, or say what that would do",
          undo_files,
          {},
          kUndoBody},
    Route{"POST", "/api/v1/runs/{id}/replay", "Derive the log again and compare", replay_run},
    Route{"GET",
          "/api/v1/events",
          "The events of all runs, from now on or after an id",
          stream_all,
          kAllQuery,
          {},
          200,
          true,
          true},
    Route{"GET", "/api/v1/runs/{id}/compare/{other}", "Where two runs part, and how each one ended",
          compare_runs},
    Route{"GET", "/api/v1/usage", "Tokens and cost by day, agent and model", show_usage, kUsageQuery},
    Route{"GET", "/api/v1/stats", "How agents, models and tools did", show_stats, kStatsQuery},
    Route{"GET", "/api/v1/settings", "The settings of the server with the layers that they come from",
          list_settings},
    Route{"GET", "/api/v1/doctor", "Whether the server is set up well, as praxis doctor checks it",
          show_doctor, kDoctorQuery},
    Route{"GET", "/api/v1/prompts", "The prompts, with labels and the latest version of each", list_prompts},
    Route{"GET", "/api/v1/prompts/{prompt}", "All versions of a prompt", show_prompt},
    Route{
        "POST", "/api/v1/prompts/{prompt}/labels", "Move a label to a version", label_prompt, {}, kLabelBody},
    Route{"GET", "/api/v1/memory", "The collections of the memory, and notes that fit, with why they rank so",
          search_memory, kMemoryQuery},
    Route{"GET", "/api/v1/blobs/{digest}", "A payload that a run names, whole or in part (Range)", show_blob},
    Route{"GET", "/api/v1/pending", "The steps of all runs that wait for people", list_pending},
    Route{"GET", "/v1/models", "The agents as OpenAI's models", list_models},
    Route{"GET", "/v1/models/{model}", "One of them", show_model},
    Route{"POST",
          "/v1/chat/completions",
          "OpenAI's Chat Completions: one turn of a new run",
          complete_chat,
          {},
          kChatBody},
    Route{
        "POST", "/v1/responses", "OpenAI's Responses: one turn of a run", create_response, {}, kResponseBody},
    Route{"GET", "/v1/responses/{response}", "A response, or its events", retrieve_response, kResponseQuery},
    Route{"POST", "/v1/responses/{response}/cancel", "Stop the turn of a response", cancel_response},
    Route{"DELETE", "/v1/responses/{response}", "Take the turn of a response back", delete_response},
    Route{"GET", "/v1/responses/{response}/input_items", "What its request said", list_input_items,
          kItemsQuery},
    Route{"POST",
          "/v1/conversations",
          "OpenAI's Conversations: a new one",
          create_conversation,
          {},
          kConversationBody},
    Route{"GET", "/v1/conversations/{conversation}", "A conversation", show_conversation},
    Route{"POST",
          "/v1/conversations/{conversation}",
          "Replace the metadata of a conversation",
          update_conversation,
          {},
          kMetadataBody},
    Route{"DELETE", "/v1/conversations/{conversation}", "Remove a conversation; its responses stay",
          delete_conversation},
    Route{"GET", "/v1/conversations/{conversation}/items", "Its items, those of its responses too",
          list_conversation_items, kConversationItemsQuery},
    Route{"POST", "/v1/conversations/{conversation}/items", "Add items at its end", add_conversation_items,
          kIncludeQuery, kItemsBody},
    Route{"GET", "/v1/conversations/{conversation}/items/{item}", "One of them", show_conversation_item,
          kIncludeQuery},
    Route{"DELETE", "/v1/conversations/{conversation}/items/{item}", "Take one of them out",
          remove_conversation_item},
    Route{"POST",
          "/api/ai/chat",
          "The chat of the AI SDK: one turn as a UI message stream",
          ai_sdk_chat,
          {},
          kAiChatBody},
    Route{"GET", "/api/ai/chat/{chat}/stream", "The turn that works from its beginning, or 204",
          ai_sdk_resume},
    Route{"POST", "/api/agui/{agent}", "AG-UI: one turn as the events of a run", ag_ui_run, {}, kAgUiBody},
    Route{"GET",
          "/.well-known/agent-card.json",
          "A2A: the card of the server, which names no agent",
          show_server_card,
          {},
          {},
          200,
          false},
    Route{"GET", "/a2a/{agent}/.well-known/agent-card.json", "A2A: the card of an agent", show_agent_card},
    Route{"POST", "/a2a/{agent}", "A2A over JSON-RPC: all operations", a2a_rpc, {}, kA2aRpcBody},
    Route{"POST",
          "/a2a/{agent}/message:send",
          "A2A: send a message, and wait for its task",
          a2a_send,
          {},
          kA2aBody},
    Route{"POST",
          "/a2a/{agent}/message:stream",
          "A2A: send a message, and follow its task",
          a2a_stream,
          {},
          kA2aBody},
    Route{"GET", "/a2a/{agent}/tasks", "A2A: the tasks of an agent, the last one first", a2a_list,
          kA2aListQuery},
    Route{"GET", "/a2a/{agent}/tasks/{task}:subscribe", "A2A: follow a task", a2a_subscribe},
    Route{"POST", "/a2a/{agent}/tasks/{task}:subscribe", "A2A: follow a task", a2a_subscribe},
    Route{"POST", "/a2a/{agent}/tasks/{task}:cancel", "A2A: stop a task", a2a_cancel},
    Route{"GET", "/a2a/{agent}/tasks/{task}", "A2A: a task", a2a_get, kA2aTaskQuery},
    Route{"POST",
          "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
          "A2A: send the changes of a task to an address",
          a2a_create_push,
          {},
          kA2aPushBody},
    Route{"GET", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs",
          "A2A: the addresses that get the changes of a task", a2a_list_push},
    Route{"GET", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{config}",
          "A2A: an address that gets the changes of a task", a2a_get_push},
    Route{"DELETE", "/a2a/{agent}/tasks/{task}/pushNotificationConfigs/{config}",
          "A2A: stop sending the changes of a task to an address", a2a_delete_push},
    Route{"GET", "/a2a/{agent}/extendedAgentCard", "A2A: the card for those who have a token",
          a2a_extended_card},
    Route{"POST", "/mcp", "MCP: a message of a client", mcp_post, {}, kMcpBody},
    Route{"DELETE", "/mcp", "MCP: end a session", mcp_end, {}, {}, 204},
    Route{"GET",
          "/agent/stream",
          "Start a run and stream its chunks (fifth design)",
          design_stream,
          kDesignQuery,
          {},
          200,
          true,
          true},
    Route{"GET", "/agent/tree", "The active agents (fifth design)", design_tree},
    Route{"GET", "/agent/{id}", "One agent with its messages (fifth design)", design_agent},
    Route{"POST",
          "/agent/{id}/intervene",
          "Comment, instruct, pause or delete an agent (fifth design)",
          design_intervene,
          {},
          kUpdateBody},
};

/// The names of the path if it fits the route.
std::optional<std::map<std::string, std::string>> match_path(const Route& route,
                                                             const std::vector<std::string>& path) {
  std::map<std::string, std::string> names;
  if (route.path == "/") return path.empty() ? std::optional(names) : std::nullopt;
  std::size_t at = 0;
  bool fits = true;
  split(route.path.substr(1), '/', [&](std::string_view segment) {
    fits = fits && at < path.size();
    if (!fits) return;
    const std::string& given = path[at++];
    if (segment.starts_with('{')) {
      const std::size_t close = segment.find('}');
      const std::string_view suffix = segment.substr(close + 1);
      fits = given.size() > suffix.size() && given.ends_with(suffix);
      if (fits) names.emplace(segment.substr(1, close - 1), given.substr(0, given.size() - suffix.size()));
    } else {
      fits = given == segment;
    }
  });
  if (!fits || at != path.size()) return std::nullopt;
  return names;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

const Route* find_route(Call& call, std::string& allowed) {
  const std::string_view method = call.method == "HEAD" ? "GET" : std::string_view(call.method);
  const Route* found = nullptr;
  std::set<std::string_view> methods;
  for (const Route& route : kRoutes) {
    auto names = match_path(route, call.path);
    if (!names) continue;
    // `/agent/tree` is a path of its own, not the agent `tree`: the first route that fits counts.
    if (methods.insert(route.method).second && route.method == method && found == nullptr) {
      found = &route;
      call.names = *std::move(names);
    }
  }
  for (const std::string_view each : methods) allowed.append(allowed.empty() ? "" : ", ").append(each);
  return found;
}

}  // namespace praxis::server
