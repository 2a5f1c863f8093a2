// The handlers of the routes, by what they are about.
#pragma once

#include "server/problem.hpp"
#include "server/service.hpp"

namespace praxis::server {

/// The status of a run whose first turn waits for others to end.
inline constexpr const char* kQueuedStatus = "queued";

/// The author of what a principal does.
Author author_of(const Principal& principal);
/// The answer to a request that made a run, or found the one that an earlier request made.
HttpAnswer created(const SessionId& run, bool is_new);
/// Leaves out all but the last entries of what grows with a turn, in the JSON of its result, and says how
/// many those were.
void shorten_lists(JsonObject& json);
/// The filters at `shown` of a session: by its agent now, or as it began if its log cannot be folded.
redact::Redaction filters_of_shown(Service& service, const SessionId& session);
/// A step that waits, as lists show it.
JsonObject pending_json(const AgentNode& node, const ParkedStep& step, const SessionId& run);

// The server itself.
Result<HttpAnswer> show_health(Service& service, const Call& call);
Result<HttpAnswer> show_readiness(Service& service, const Call& call);
Result<HttpAnswer> show_metrics(Service& service, const Call& call);
Result<HttpAnswer> show_openapi(Service& service, const Call& call);
Result<HttpAnswer> list_agents(Service& service, const Call& call);
Result<HttpAnswer> show_agent(Service& service, const Call& call);
Result<HttpAnswer> try_policy(Service& service, const Call& call);
Result<HttpAnswer> list_settings(Service& service, const Call& call);
Result<HttpAnswer> show_doctor(Service& service, const Call& call);
Result<HttpAnswer> show_provider_models(Service& service, const Call& call);
Result<HttpAnswer> import_run(Service& service, const Call& call);
Result<HttpAnswer> list_prompts(Service& service, const Call& call);
Result<HttpAnswer> show_prompt(Service& service, const Call& call);
Result<HttpAnswer> label_prompt(Service& service, const Call& call);
Result<HttpAnswer> search_memory(Service& service, const Call& call);
Result<HttpAnswer> show_usage(Service& service, const Call& call);
Result<HttpAnswer> show_stats(Service& service, const Call& call);
Result<HttpAnswer> show_blob(Service& service, const Call& call);

// The page.
Result<HttpAnswer> show_page(Service& service, const Call& call);
Result<HttpAnswer> show_asset(Service& service, const Call& call);
Result<HttpAnswer> log_in(Service& service, const Call& call);

// Runs.
Status create_run(Service& service, const Call& call);
Result<HttpAnswer> list_runs(Service& service, const Call& call);
Result<HttpAnswer> delete_run(Service& service, const Call& call);
Result<HttpAnswer> show_run(Service& service, const Call& call);
Result<HttpAnswer> show_messages(Service& service, const Call& call);
Result<HttpAnswer> export_run(Service& service, const Call& call);
Result<HttpAnswer> replay_run(Service& service, const Call& call);
Result<HttpAnswer> compare_runs(Service& service, const Call& call);
Status fork_run(Service& service, const Call& call);
Result<HttpAnswer> list_branches(Service& service, const Call& call);
Result<HttpAnswer> show_context(Service& service, const Call& call);
Result<HttpAnswer> show_diff(Service& service, const Call& call);
Result<HttpAnswer> undo_files(Service& service, const Call& call);
Result<HttpAnswer> list_records(Service& service, const Call& call);
Result<HttpAnswer> rewind_run(Service& service, const Call& call);
Status send_message(Service& service, const Call& call);
Result<HttpAnswer> resume_run(Service& service, const Call& call);

// The agent tree and the people in it.
Result<HttpAnswer> show_tree(Service& service, const Call& call);
Result<HttpAnswer> show_rows_of_tree(Service& service, const Call& call);
Result<HttpAnswer> show_trees(Service& service, const Call& call);
Result<HttpAnswer> send_commands(Service& service, const Call& call);
Result<HttpAnswer> list_pending(Service& service, const Call& call);
Result<HttpAnswer> show_step(Service& service, const Call& call);
Result<HttpAnswer> decide_step(Service& service, const Call& call);

// Events.
Status stream_run(Service& service, const Call& call, const HttpReply& reply);
Status stream_all(Service& service, const Call& call, const HttpReply& reply);
Result<HttpAnswer> show_history(Service& service, const Call& call);

// OpenAI's Chat Completions.
Result<HttpAnswer> list_models(Service& service, const Call& call);
Result<HttpAnswer> show_model(Service& service, const Call& call);
Status complete_chat(Service& service, const Call& call, const HttpReply& reply);

// OpenAI's Responses.
Status create_response(Service& service, const Call& call, const HttpReply& reply);
Status retrieve_response(Service& service, const Call& call, const HttpReply& reply);
Status cancel_response(Service& service, const Call& call, const HttpReply& reply);
Result<HttpAnswer> delete_response(Service& service, const Call& call);
Result<HttpAnswer> list_input_items(Service& service, const Call& call);

// OpenAI's Conversations.
Result<HttpAnswer> create_conversation(Service& service, const Call& call);
Result<HttpAnswer> show_conversation(Service& service, const Call& call);
Result<HttpAnswer> update_conversation(Service& service, const Call& call);
Result<HttpAnswer> delete_conversation(Service& service, const Call& call);
Result<HttpAnswer> add_conversation_items(Service& service, const Call& call);
Result<HttpAnswer> list_conversation_items(Service& service, const Call& call);
Result<HttpAnswer> show_conversation_item(Service& service, const Call& call);
Result<HttpAnswer> remove_conversation_item(Service& service, const Call& call);

// The chat of the AI SDK.
Status ai_sdk_chat(Service& service, const Call& call, const HttpReply& reply);
Status ai_sdk_resume(Service& service, const Call& call, const HttpReply& reply);

// AG-UI.
Status ag_ui_run(Service& service, const Call& call, const HttpReply& reply);

// A2A.
Result<HttpAnswer> show_server_card(Service& service, const Call& call);
Result<HttpAnswer> show_agent_card(Service& service, const Call& call);
Status a2a_rpc(Service& service, const Call& call, const HttpReply& reply);
Status a2a_send(Service& service, const Call& call, const HttpReply& reply);
Status a2a_stream(Service& service, const Call& call, const HttpReply& reply);
Status a2a_get(Service& service, const Call& call, const HttpReply& reply);
Status a2a_list(Service& service, const Call& call, const HttpReply& reply);
Status a2a_cancel(Service& service, const Call& call, const HttpReply& reply);
Status a2a_subscribe(Service& service, const Call& call, const HttpReply& reply);
Status a2a_create_push(Service& service, const Call& call, const HttpReply& reply);
Status a2a_get_push(Service& service, const Call& call, const HttpReply& reply);
Status a2a_list_push(Service& service, const Call& call, const HttpReply& reply);
Status a2a_delete_push(Service& service, const Call& call, const HttpReply& reply);
Status a2a_extended_card(Service& service, const Call& call, const HttpReply& reply);

// MCP over HTTP.
Status mcp_post(Service& service, const Call& call, const HttpReply& reply);
Result<HttpAnswer> mcp_end(Service& service, const Call& call);

// The paths of the fifth design.
Status design_stream(Service& service, const Call& call, const HttpReply& reply);
Result<HttpAnswer> design_tree(Service& service, const Call& call);
Result<HttpAnswer> design_agent(Service& service, const Call& call);
Result<HttpAnswer> design_intervene(Service& service, const Call& call);

}  // namespace praxis::server
