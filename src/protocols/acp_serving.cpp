#include "protocols/acp_serving.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/open_runtime.hpp"
#include "app/reopen_run.hpp"
#include "app/shown_run.hpp"
#include "praxis/logs/logs.hpp"
#include "protocols/acp_agent.hpp"
#include "protocols/acp_content.hpp"

namespace praxis::protocols {
namespace {

constexpr int kVersion = 1;  ///< of the protocol
constexpr int kNotFound = -32002;
constexpr std::size_t kMaxLineBytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t kMostFolders = 64;

/// The code of an error for the editor.
int code_of(const Error& error) {
  if (error.kind() == ErrorKind::kNotFound) return kNotFound;
  if (error.kind() == ErrorKind::kInvalidRequest) return kRpcUnknownMethod;
  return error.code == ErrorCode::kInput ? kRpcInvalidParams : kRpcInternal;
}

std::string text_of(const Error& error) {
  const std::string hint = json_string(error.detail(), "hint");
  return hint.empty() ? error.message : error.message + " (" + hint + ')';
}

}  // namespace

AcpAgent::Working::Working(AcpAgent& agent) : agent_(agent) {
  const std::lock_guard lock(agent_.mutex_);
  ++agent_.working_;
}

AcpAgent::Working::~Working() {
  const std::lock_guard lock(agent_.mutex_);
  if (--agent_.working_ == 0) agent_.idle_.notify_all();
}

void AcpAgent::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  const auto message = read_mcp_message(line, {.max_depth = 64, .max_bytes = kMaxLineBytes});
  if (!message) return peer_.refuse(nullptr, kRpcParseError, message.error().message);
  if (message->kind == McpMessage::Kind::kNotification) {
    if (message->method == "session/cancel") cancel(message->body);
    return;
  }
  if (message->kind != McpMessage::Kind::kRequest) return peer_.answered(*message);
  if (message->method == "session/prompt") return prompt(*message);
  auto result = answer_to(*message);
  if (!result) return peer_.refuse(message->id, code_of(result.error()), text_of(result.error()));
  const std::string session = json_string(*result, "sessionId", json_string(message->body, "sessionId"));
  peer_.respond(message->id, *std::move(result));
  if (const auto shown = conversation_of(SessionId(session))) show_commands(shown, message->method);
  if (message->method != "session/load" && message->method != "session/resume") return;
  // A turn that a crash cut off goes on, as in the chat at the terminal.
  if (const auto opened = conversation(message->body)) go_on(*opened);
}

Result<Json> AcpAgent::answer_to(const McpMessage& request) {
  const std::string& method = request.method;
  const Json& params = request.body;
  if (method == "initialize") return initialized(params);
  if (method == "authenticate") return Json(JsonObject{});
  if (method == "session/new") return new_session(params);
  if (method == "session/load") return open_session(params, Replay::kYes);
  if (method == "session/resume") return open_session(params, Replay::kNo);
  if (method == "session/fork") return fork_session(params);
  if (method == "session/list") return list_sessions(params);
  if (method == "session/close") return close_session(params);
  if (method == "session/delete") return delete_session(params);
  if (method == "session/set_mode") return set_mode(params);
  if (method == "session/set_config_option") return set_option(params);
  return fail(ErrorCode::kInput, ErrorKind::kInvalidRequest, "this agent has no method " + method);
}

Json AcpAgent::initialized(const Json& params) {
  const Json& client = json_at(params, "clientCapabilities");
  takes_forms_ = json_at(json_at(client, "elicitation"), "form").is_object();
  const Json& files = json_at(client, "fs");
  file_access_ = {json_bool(files, "readTextFile"), json_bool(files, "writeTextFile")};
  const JsonObject none;
  return JsonObject{
      {"protocolVersion", kVersion},
      {"agentInfo", JsonObject{{"name", "praxis"}, {"title", "Praxis"}, {"version", serving_.version}}},
      {"agentCapabilities",
       JsonObject{
           {"loadSession", true},
           {"promptCapabilities", JsonObject{{"image", true}, {"audio", false}, {"embeddedContext", true}}},
           {"mcpCapabilities", JsonObject{{"http", false}, {"sse", false}}},
           {"sessionCapabilities",
            JsonObject{
                {"list", none}, {"resume", none}, {"close", none}, {"fork", none}, {"delete", none}}}}},
      {"authMethods", JsonArray{}}};
}

// ---- conversations

Result<std::shared_ptr<AcpFolder>> AcpAgent::folder_at(const std::string& path) {
  if (!path.starts_with('/')) return fail(ErrorCode::kInput, "\"cwd\" must be an absolute path");
  app::Place place = serving_.place;
  place.folder = path;
  // Agent files and the folders of tools are read relative to the current folder.
  if (const auto known = folders_.find(path); known != folders_.end()) {
    if (auto entered = app::enter_place(place); !entered) return fail(std::move(entered.error()));
    return known->second;
  }
  if (folders_.size() >= kMostFolders) return fail(ErrorCode::kInput, "too many folders are open");
  auto workspace = serving_.open(place);
  if (!workspace) return fail(std::move(workspace.error()));
  auto runtime = app::open_runtime(*workspace, {.principal = serving_.author});
  if (!runtime) return fail(std::move(runtime.error()));
  auto folder = std::make_shared<AcpFolder>(AcpFolder{path, *std::move(workspace), *std::move(runtime)});
  if (file_access_.reads) {
    folder->workspace.editor = std::make_shared<AcpFiles>(
        peer_, file_access_, path, [this, raw = folder->runtime.get()](const SessionId& session) {
          const auto found = conversation_above(raw->journal(), session);
          return found ? found->id : SessionId();
        });
  }
  folder->runtime->set_approval_handler(
      [this, raw = folder.get()](const ParkedStep& step, const std::stop_token& stop) {
        const Working working(*this);
        return ask(*raw, step, stop);
      });
  folders_.emplace(path, folder);
  return folder;
}

AcpConversationPtr AcpAgent::conversation_of(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = conversations_.find(id);
  return found == conversations_.end() ? nullptr : found->second;
}

/// The open conversation to which the session belongs, its own or that of an agent above; or null.
AcpConversationPtr AcpAgent::conversation_above(Journal& journal, const SessionId& session) {
  if (auto own = conversation_of(session)) return own;
  const auto root = app::root_of(journal, session);
  return root ? conversation_of(*root) : nullptr;
}

Result<AcpConversationPtr> AcpAgent::conversation(const Json& params) {
  const std::string id = json_string(params, "sessionId");
  if (auto found = conversation_of(SessionId(id))) return found;
  return fail(ErrorCode::kInput, ErrorKind::kNotFound, "the session \"" + id + "\" is not open here");
}

void AcpAgent::update(const SessionId& id, Json update) {
  peer_.notify("session/update", JsonObject{{"sessionId", id.str()}, {"update", std::move(update)}});
}

/// Shows what happens in the session from now on.
void AcpAgent::follow(const AcpConversationPtr& conversation) {
  conversation->id = conversation->session->session_id();
  if (!conversation->updates)
    conversation->updates = std::make_unique<AcpUpdates>(conversation->id, AcpUpdates::Of::kPresent);
  conversation->events = conversation->session->on("*", [this, raw = conversation.get()](const Event& event) {
    for (Json& each : raw->updates->of(event)) update(raw->id, std::move(each));
  });
  const std::lock_guard lock(mutex_);
  conversations_[conversation->id] = conversation;
}

JsonObject AcpAgent::options_of(const AcpConversation& conversation) const {
  return acp_options(*conversation.folder, conversation.choice, conversation.session->last_result().model);
}

Result<Json> AcpAgent::new_session(const Json& params) {
  auto folder = folder_at(json_string(params, "cwd"));
  if (!folder) return fail(std::move(folder.error()));
  auto made = std::make_shared<AcpConversation>();
  made->folder = *std::move(folder);
  made->choice = {serving_.agent, serving_.model};
  auto agent = acp_agent(serving_, *made->folder, made->choice);
  if (!agent) return fail(std::move(agent.error()));
  auto session = made->folder->runtime->create_session(*agent);
  if (!session) return fail(std::move(session.error()));
  made->session = *std::move(session);
  made->skills = acp_skills(agent->spec());
  follow(made);
  JsonObject result = acp_options(*made->folder, made->choice, agent->spec().model);
  result["sessionId"] = made->id.str();
  return result;
}

Result<AcpConversationPtr> AcpAgent::reopened(const std::shared_ptr<AcpFolder>& folder, const std::string& id,
                                              Replay replay) {
  const auto stored = app::read_session(
      std::shared_ptr<Journal>(folder->runtime, &folder->runtime->journal()), SessionId(id));
  if (!stored || stored->records.empty() || !stored->state.agent)
    return fail(ErrorCode::kInput, ErrorKind::kNotFound, "there is no session \"" + id + '"');
  auto open = app::reopen_any_in(
      folder->runtime, *stored, folder->workspace,
      {.use = {.principal = serving_.author}, .agent = {}, .model = {}, .accept_home = serving_.accept_home});
  if (!open) return fail(std::move(open.error()));
  if (open->team)
    return fail(ErrorCode::kInput,
                "the session is the conversation of a team: praxis chat --resume opens it");
  auto made = std::make_shared<AcpConversation>();
  made->folder = folder;
  made->choice = acp_choice_of(serving_, *folder, *stored->state.agent);
  made->skills = acp_skills(*stored->state.agent);
  made->session = std::move(open->session);
  made->pending = made->session->last_result().pending;
  made->updates = gone_through(*folder, made->session->session_id(), replay);
  follow(made);
  return made;
}

/// Goes through the past of a conversation, and shows it if the editor wants that.
std::unique_ptr<AcpUpdates> AcpAgent::gone_through(const AcpFolder& folder, const SessionId& id,
                                                   Replay replay) {
  auto updates = std::make_unique<AcpUpdates>(id, AcpUpdates::Of::kPast);
  const auto past = app::show_past(folder.runtime->journal(), id, app::Redactions(folder.workspace),
                                   [&](const Event& event) {
                                     for (Json& each : updates->of(event)) {
                                       if (replay == Replay::kYes) update(id, std::move(each));
                                     }
                                   });
  if (!past) serving_.warn(past.error().message);
  updates->arrive();
  return updates;
}

Result<Json> AcpAgent::open_session(const Json& params, Replay replay) {
  auto folder = folder_at(json_string(params, "cwd"));
  if (!folder) return fail(std::move(folder.error()));
  auto opened = conversation(params);
  if (!opened) {
    opened = reopened(*folder, json_string(params, "sessionId"), replay);
  } else if (replay == Replay::kYes) {
    std::ignore = gone_through(*(*opened)->folder, (*opened)->id, replay);
  }
  if (!opened) return fail(std::move(opened.error()));
  return options_of(**opened);
}

Result<Json> AcpAgent::fork_session(const Json& params) {
  auto folder = folder_at(json_string(params, "cwd"));
  if (!folder) return fail(std::move(folder.error()));
  Runtime& runtime = *(*folder)->runtime;
  const auto fork = praxis::fork_session(runtime.journal(), runtime.environment(),
                                         SessionId(json_string(params, "sessionId")));
  if (!fork) return fail(fork.error());
  const auto opened = reopened(*folder, fork->str(), Replay::kNo);
  if (!opened) return fail(opened.error());
  JsonObject result = options_of(**opened);
  result["sessionId"] = fork->str();
  return result;
}

Result<Json> AcpAgent::list_sessions(const Json& params) {
  const std::string cwd = json_string(params, "cwd");
  auto folder = folder_at(cwd.empty() ? serving_.place.folder : cwd);
  if (!folder) return fail(std::move(folder.error()));
  return acp_session_list(**folder, params);
}

Result<Json> AcpAgent::close_session(const Json& params) {
  const auto found = conversation(params);
  if (!found) return fail(found.error());
  cancel(params);
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return !(*found)->busy && !(*found)->filling; });
  conversations_.erase((*found)->id);
  lock.unlock();
  (*found)->events.cancel();
  if (auto closed = (*found)->session->close(); !closed) return fail(std::move(closed.error()));
  return Json(JsonObject{});
}

/// Removes a run for good, with what is below it.
Result<Json> AcpAgent::delete_session(const Json& params) {
  const SessionId id(json_string(params, "sessionId"));
  std::shared_ptr<AcpFolder> folder;
  if (const auto open = conversation_of(id)) {
    folder = open->folder;
    if (auto closed = close_session(params); !closed) return closed;
  } else {
    auto opened = folder_at(serving_.place.folder);
    if (!opened) return fail(std::move(opened.error()));
    folder = *std::move(opened);
  }
  Journal& journal = folder->runtime->journal();
  const auto row = journal.session(id);
  if (!row || !row->parent.empty())
    return fail(ErrorCode::kInput, ErrorKind::kNotFound, "there is no session \"" + id.str() + '"');
  if (auto removed = journal.remove(id); !removed) {
    const bool is_held = removed.error().kind() == ErrorKind::kLeaseHeld;
    return fail(
        is_held ? make_error(ErrorCode::kInput, "another process has the session open; nothing is removed")
                : std::move(removed.error()));
  }
  return Json(JsonObject{});
}

/// Tells the editor the commands of a conversation that it has opened, or whose agent it has changed.
void AcpAgent::show_commands(const AcpConversationPtr& conversation, std::string_view method) {
  const bool changes = method == "session/set_mode" || method == "session/set_config_option";
  const bool opens = method == "session/new" || method == "session/load" || method == "session/resume" ||
                     method == "session/fork";
  if (changes || (opens && !conversation->skills.empty()))
    update(conversation->id, acp_commands_update(conversation->skills, {}));
  if (changes || opens) show_prompts(conversation);
}

/// Lets another agent or model answer from the next prompt on.
Status AcpAgent::change(const AcpConversationPtr& conversation, AcpChoice choice) {
  {
    const std::lock_guard lock(mutex_);
    if (conversation->busy)
      return fail(ErrorCode::kInput, "the agent works: another one can take over when its turn has ended");
  }
  const AcpFolder& folder = *conversation->folder;
  app::Place place = serving_.place;
  place.folder = folder.path;
  if (auto entered = app::enter_place(place); !entered) return entered;
  auto agent = acp_agent(serving_, folder, choice);
  if (!agent) return fail(std::move(agent.error()));
  conversation->events.cancel();
  if (auto closed = conversation->session->close(); !closed) return closed;
  auto session = folder.runtime->open_session(conversation->id, *agent);
  if (!session) return fail(std::move(session.error()));
  conversation->session = *std::move(session);
  conversation->choice = std::move(choice);
  conversation->skills = acp_skills(agent->spec());
  follow(conversation);
  return {};
}

Result<Json> AcpAgent::set_mode(const Json& params) {
  const auto found = conversation(params);
  if (!found) return fail(found.error());
  AcpChoice choice{json_string(params, "modeId"), serving_.model};
  if (choice.agent == "default") choice.agent.clear();
  if (auto changed = change(*found, std::move(choice)); !changed) return fail(std::move(changed.error()));
  update((*found)->id, JsonObject{{"sessionUpdate", "config_option_update"},
                                  {"configOptions", options_of(**found)["configOptions"]}});
  return Json(JsonObject{});
}

Result<Json> AcpAgent::set_option(const Json& params) {
  const auto found = conversation(params);
  if (!found) return fail(found.error());
  const std::string id = json_string(params, "configId"), value = json_string(params, "value");
  AcpChoice choice = (*found)->choice;
  if (id == "model") {
    choice.model = value;
  } else if (id == "mode") {
    choice = {value == "default" ? "" : value, serving_.model};
  } else {
    return fail(ErrorCode::kInput, "there is no option \"" + id + '"');
  }
  if (auto changed = change(*found, std::move(choice)); !changed) return fail(std::move(changed.error()));
  if (id == "mode")
    update((*found)->id, JsonObject{{"sessionUpdate", "current_mode_update"}, {"currentModeId", value}});
  return Json(JsonObject{{"configOptions", options_of(**found)["configOptions"]}});
}

Status serve_acp(const AcpServing& serving, int in, int out, const std::stop_token& stop) {
  AcpAgent agent(serving, out);
  Status served = read_lines(in, kMaxLineBytes, stop, [&](std::string_view line) { agent.take(line); });
  agent.finish();
  return served;
}

}  // namespace praxis::protocols
