#include "praxis/mcp/mcp_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "mcp/argument_headers.hpp"
#include "mcp/connection.hpp"
#include "mcp/held_calls.hpp"
#include "mcp/requests.hpp"
#include "mcp/tasks.hpp"
#include "mcp/tool_list.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the versions with a handshake, the newest first; it is the one that is asked for.
constexpr std::array<std::string_view, 4> kHandshakeVersions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                             "2024-11-05"};
constexpr std::size_t kMaxInfoBytes = 200;

std::unexpected<Error> broken(std::string why) {
  return fail(
      with_reach(make_error(ErrorCode::kTool, ErrorKind::kProtocol, std::move(why)), Reach::kAnswered));
}

}  // namespace

class McpClient::State {
 public:
  State(std::optional<McpProgram> program, std::optional<McpEndpoint> endpoint, const McpBounds& bounds)
      : program_(std::move(program)), endpoint_(std::move(endpoint)), bounds_(bounds) {}

  /// A connection after its handshake.
  struct Live {
    std::shared_ptr<McpConnection> connection;
    McpServerInfo info;
    bool modern = false;
  };

  Result<Live> connect(const std::stop_token& stop);
  Result<McpToolList> tools(const std::stop_token& stop);
  Result<McpResult> call(const std::string& name, const Json& arguments, const McpCallOptions& options);
  Result<McpResult> await_task(const std::string& task, const McpCallOptions& options);
  Result<std::vector<McpResource>> resources(const McpCallOptions& options);
  Result<McpResult> read_resource(const std::string& uri, const McpCallOptions& options);
  Result<std::vector<McpPrompt>> prompts(const McpCallOptions& options);
  Result<std::vector<std::pair<Role, std::string>>> prompt(const std::string& name,
                                                           const JsonObject& arguments,
                                                           const McpCallOptions& options);
  const McpBounds& bounds() const { return bounds_; }

 private:
  Result<Live> start(const std::stop_token& stop);
  /// A connection before its handshake.
  Result<Live> open(const McpNotified& notified) const;
  /// Asks for version 2026-07-28. `std::nullopt`: the server does not know it.
  Result<std::optional<Json>> discover(Live& live, const std::stop_token& stop, Clock::time_point deadline);
  Status initialise(Live& live, const std::stop_token& stop, Clock::time_point deadline);
  static void take_info(Live& live, const Json& server, const Json& capabilities);
  /// The items of a list, page by page, within the bounds.
  Result<std::vector<Json>> all_of(const std::string& method, const char* member,
                                   const McpCallOptions& options);
  /// Sends a request about what is called `name`.
  Result<Json> ask(const std::string& method, JsonObject params, const std::string& name,
                   const McpCallOptions& options);
  /// Sends a request to a server that asks in the middle of it.
  Result<McpResult> ask_asking(const Live& live, const std::string& method, JsonObject params,
                               const std::string& name, const McpCallOptions& options);
  /// Whether a server of a version with a handshake is to make a task of the call.
  bool wants_task(const Live& live, const std::string& tool, const std::stop_token& stop);
  Result<McpToolList> fetch(const Live& live, const std::stop_token& stop);
  bool wants_headers(const Live& live) const { return endpoint_ && live.modern; }
  /// A tool whose declarations of headers are invalid must not be offered.
  static void leave_out_headers(McpToolList& list);
  /// Sends the request of a call, with the arguments that the tool wants in headers.
  Result<Json> ask_tool(const Live& live, JsonObject params, const std::string& name,
                        const McpCallOptions& options);
  /// The headers of a call. The list of tools says them; without one the server is asked for it first.
  Result<HttpHeaders> headers_of(const std::string& name, const Json& arguments, const std::stop_token& stop);
  JsonObject params_for(const Live& live, JsonObject params) const {
    return live.modern ? mcp_modern_params(std::move(params), bounds_) : std::move(params);
  }

  const std::optional<McpProgram> program_;
  const std::optional<McpEndpoint> endpoint_;
  const McpBounds bounds_;
  const std::shared_ptr<std::atomic<bool>> changed_ = std::make_shared<std::atomic<bool>>(false);

  std::mutex mutex_;  ///< held during the handshake and while a list is fetched
  std::optional<Live> live_;
  std::optional<McpToolList> list_;
  std::set<std::string, std::less<>> task_tools_;  ///< of the list: those whose calls may be tasks
  Clock::time_point listed_;
  std::atomic<std::uint32_t> failed_starts_ = 0;
  HeldCalls held_;  ///< calls in which a server waits for an answer
};

Result<McpClient::State::Live> McpClient::State::connect(const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (live_ && live_->connection->is_open()) return *live_;
  live_.reset();
  list_.reset();
  if (failed_starts_ >= bounds_.failed_starts) {
    return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kClosed,
                                      "the server failed " + std::to_string(bounds_.failed_starts) +
                                          " times in a row and is not started again"),
                           Reach::kNotSent));
  }
  ++failed_starts_;
  auto started = start(stop);
  if (!started) {
    if (started.error().code == ErrorCode::kCancelled) --failed_starts_;
    return fail(with_reach(std::move(started.error()), Reach::kNotSent));
  }
  live_ = *std::move(started);
  return *live_;
}

Result<McpClient::State::Live> McpClient::State::start(const std::stop_token& stop) {
  const auto deadline = Clock::now() + bounds_.start;
  const McpNotified notified = [changed = changed_](const std::string& method) {
    if (method == "notifications/tools/list_changed") *changed = true;
  };
  auto live = open(notified);
  if (!live) return live;
  auto discovered = discover(*live, stop, std::min(deadline, Clock::now() + bounds_.probe));
  if (!discovered) {
    // A program may end at a question that it does not know: it is started once more, for the handshake.
    if (!program_ || discovered.error().code == ErrorCode::kCancelled)
      return fail(std::move(discovered.error()));
    live = open(notified);
    if (!live) return live;
  } else if (*discovered) {
    return live;
  }
  const Status initialised = initialise(*live, stop, deadline);
  if (initialised) return live;
  // A program that started slowly may have missed the first question, and not know the second.
  const auto& error = initialised.error();
  if (!program_ || json_at(error.detail(), "rpc_code").is_null()) return fail(error);
  auto again = discover(*live, stop, deadline);
  if (again && *again) return live;
  return fail(error);
}

Result<McpClient::State::Live> McpClient::State::open(const McpNotified& notified) const {
  Live live;
  if (!program_) {
    live.connection = connect_to_endpoint(*endpoint_, bounds_, notified);
    return live;
  }
  auto connection = connect_to_program(*program_, bounds_, notified);
  if (!connection) return fail(std::move(connection.error()));
  live.connection = *std::move(connection);
  return live;
}

Result<std::optional<Json>> McpClient::State::discover(Live& live, const std::stop_token& stop,
                                                       Clock::time_point deadline) {
  live.connection->use_version(kMcpModernVersion, true);
  const auto ask = [&] {
    return live.connection->request({"server/discover", mcp_modern_params({}, bounds_), {}, stop, deadline});
  };
  auto answer = ask();
  // A server that refuses the version and names it in the same breath is asked once more.
  if (!answer && names_mcp_version(answer.error(), kMcpModernVersion)) answer = ask();
  if (!answer) {
    const Error& error = answer.error();
    if (error.code == ErrorCode::kCancelled || !live.connection->is_open()) return fail(error);
    const std::string refused = "the server speaks none of the versions that this client knows; it names: ";
    const Json& supported = json_at(json_at(error.detail(), "rpc_data"), "supported");
    const auto* versions = supported.if_array();
    const auto is_known = [](const Json& each) {
      return std::ranges::any_of(kHandshakeVersions,
                                 [&](std::string_view known) { return each == Json(known); });
    };
    if (json_int(error.detail(), "rpc_code") == kRpcUnsupportedVersion && versions != nullptr &&
        std::ranges::none_of(*versions, is_known))
      return broken(refused + mcp_shown(to_json_text(supported), kMaxInfoBytes));
    live.connection->use_version({}, false);
    return std::nullopt;
  }
  const auto* versions = json_at(*answer, "supportedVersions").if_array();
  if (versions == nullptr || std::ranges::find(*versions, Json(kMcpModernVersion)) == versions->end()) {
    live.connection->use_version({}, false);
    return std::nullopt;
  }
  live.modern = true;
  live.info.protocol = kMcpModernVersion;
  take_info(live, json_at(json_at(*answer, "_meta"), std::string(kMcpMeta) + "serverInfo"),
            json_at(*answer, "capabilities"));
  if (json_bool(json_at(json_at(*answer, "capabilities"), "tools"), "listChanged")) {
    live.connection->request_quietly(
        "subscriptions/listen",
        mcp_modern_params({{"notifications", JsonObject{{"toolsListChanged", true}}}}, bounds_));
  }
  return std::move(*answer);
}

Status McpClient::State::initialise(Live& live, const std::stop_token& stop, Clock::time_point deadline) {
  auto answer = live.connection->request(
      {"initialize", mcp_handshake_params(kHandshakeVersions.front(), bounds_), {}, stop, deadline});
  if (!answer) return fail(std::move(answer.error()));
  const std::string version = json_string(*answer, "protocolVersion");
  if (std::ranges::find(kHandshakeVersions, version) == kHandshakeVersions.end()) {
    return broken("the server speaks version \"" + mcp_shown(version, 40) +
                  "\" of the protocol, which this client does not know");
  }
  live.info.protocol = version;
  take_info(live, json_at(*answer, "serverInfo"), json_at(*answer, "capabilities"));
  live.connection->use_version(version, false);
  live.connection->notify("notifications/initialized", nullptr);
  return {};
}

void McpClient::State::take_info(Live& live, const Json& server, const Json& capabilities) {
  live.info.name = mcp_shown(json_text(server, "name"), kMaxInfoBytes);
  live.info.version = mcp_shown(json_text(server, "version"), kMaxInfoBytes);
  live.info.resources = json_at(capabilities, "resources").is_object();
  live.info.prompts = json_at(capabilities, "prompts").is_object();
  live.info.tasks = offers_mcp_tasks(capabilities, live.modern);
}

Result<McpToolList> McpClient::State::tools(const std::stop_token& stop) {
  auto live = connect(stop);
  if (!live) return fail(std::move(live.error()));
  const std::lock_guard lock(mutex_);
  const bool is_old = endpoint_ && Clock::now() - listed_ > bounds_.list_age;
  if (list_ && !is_old && !changed_->exchange(false)) return *list_;
  auto list = fetch(*live, stop);
  if (!list) {
    *changed_ = true;
    return list;
  }
  if (wants_headers(*live)) leave_out_headers(*list);
  list->resources = live->info.resources;
  list->tasks = bounds_.takes_tasks && live->info.tasks;
  failed_starts_ = 0;
  list_ = *std::move(list);
  listed_ = Clock::now();
  return *list_;
}

Result<McpToolList> McpClient::State::fetch(const Live& live, const std::stop_token& stop) {
  McpListReader reader(bounds_);
  const auto deadline = Clock::now() + bounds_.start;
  *changed_ = false;
  do {
    JsonObject params;
    if (!reader.cursor().empty()) params["cursor"] = reader.cursor();
    auto page =
        live.connection->request({"tools/list", params_for(live, std::move(params)), {}, stop, deadline});
    if (!page) return fail(std::move(page.error()));
    if (auto added = reader.add(*page); !added)
      return fail(with_reach(std::move(added.error()), Reach::kAnswered));
  } while (!reader.cursor().empty());
  task_tools_ = reader.task_tools();
  return reader.take();
}

bool McpClient::State::wants_task(const Live& live, const std::string& tool, const std::stop_token& stop) {
  if (live.modern || !live.info.tasks || !bounds_.takes_tasks || !tools(stop)) return false;
  const std::lock_guard lock(mutex_);
  return task_tools_.contains(tool);
}

void McpClient::State::leave_out_headers(McpToolList& list) {
  std::erase_if(list.tools, [&](const McpTool& tool) {
    const auto wanted = mcp_header_arguments(tool.parameters);
    if (!wanted) list.left_out.push_back({mcp_shown(tool.name, kMaxInfoBytes), wanted.error().message});
    return !wanted;
  });
}

Result<HttpHeaders> McpClient::State::headers_of(const std::string& name, const Json& arguments,
                                                 const std::stop_token& stop) {
  const auto list = tools(stop);
  if (!list) return fail(with_reach(list.error(), Reach::kNotSent));
  const auto tool = std::ranges::find(list->tools, name, &McpTool::name);
  if (tool == list->tools.end()) return HttpHeaders{};
  const auto wanted = mcp_header_arguments(tool->parameters);
  if (!wanted) return fail(with_reach(wanted.error(), Reach::kNotSent));
  return mcp_argument_headers(*wanted, arguments);
}

Result<Json> McpClient::State::ask_tool(const Live& live, JsonObject params, const std::string& name,
                                        const McpCallOptions& options) {
  const Json arguments = params["arguments"];
  auto headers = wants_headers(live) ? headers_of(name, arguments, options.stop) : HttpHeaders{};
  if (!headers) return fail(std::move(headers.error()));
  McpRequest request = mcp_request_of("tools/call", params_for(live, std::move(params)), name, options);
  request.headers = *headers;
  auto answer = live.connection->request(request);
  const bool mismatch = !answer && json_int(answer.error().detail(), "rpc_code") == kRpcHeaderMismatch;
  if (mismatch && wants_headers(live)) {
    // The server has refused the call before carrying it out; perhaps its tools have changed.
    *changed_ = true;
    headers = headers_of(name, arguments, options.stop);
    if (!headers || *headers == request.headers) return answer;
    request.headers = *std::move(headers);
    answer = live.connection->request(request);
  }
  if (answer) failed_starts_ = 0;
  return answer;
}

Result<Json> McpClient::State::ask(const std::string& method, JsonObject params, const std::string& name,
                                   const McpCallOptions& options) {
  auto live = connect(options.stop);
  if (!live) return fail(std::move(live.error()));
  auto answer =
      live->connection->request(mcp_request_of(method, params_for(*live, std::move(params)), name, options));
  if (answer) failed_starts_ = 0;
  return answer;
}

Result<McpResult> McpClient::State::call(const std::string& name, const Json& arguments,
                                         const McpCallOptions& options) {
  JsonObject params{{"name", name}, {"arguments", arguments}};
  const auto live = connect(options.stop);
  if (!live) return fail(live.error());
  if (wants_task(*live, name, options.stop)) params["task"] = JsonObject{};
  if (!live->modern && bounds_.answers_questions)
    return ask_asking(*live, "tools/call", std::move(params), name, options);
  if (auto given = check_not_declined(options.answers); !given) return fail(std::move(given.error()));
  if (!options.answers.empty()) params["inputResponses"] = options.answers;
  if (options.state) params["requestState"] = *options.state;
  auto answer = ask_tool(*live, std::move(params), name, options);
  if (!answer) return fail(std::move(answer.error()));
  auto result = read_mcp_result(*answer, bounds_);
  if (!result) return fail(with_reach(std::move(result.error()), Reach::kAnswered));
  return result;
}

Result<McpResult> McpClient::State::await_task(const std::string& task, const McpCallOptions& options) {
  const auto live = connect(options.stop);
  if (!live) return fail(live.error());
  const auto ask_for = [&](const char* method, JsonObject more, const McpCallOptions& how) {
    more["taskId"] = task;
    return ask(method, std::move(more), task, how);
  };
  const auto result_for = [&](const McpCallOptions& how) -> Result<McpResult> {
    const auto now = connect(how.stop);
    if (!now) return fail(now.error());
    return ask_asking(*now, "tasks/result", {{"taskId", task}}, task, how);
  };
  const bool is_held = !live->modern && options.state && held_.holds(*options.state);
  if (is_held) return result_for(options);
  auto result = await_mcp_task({live->modern, ask_for, result_for}, task, options, bounds_);
  const bool is_known =
      result && result->input && options.state && HeldCalls::asks_the_same(*options.state, *result->input);
  if (!is_known) return result;
  // Asked by another process, which had ended when the answer came: the task still has the same question.
  McpCallOptions again = options;
  again.state = result->input->state;
  return result_for(again);
}

Result<McpResult> McpClient::State::ask_asking(const Live& live, const std::string& method, JsonObject params,
                                               const std::string& name, const McpCallOptions& options) {
  McpOpenRequest open;
  McpRequest request = mcp_request_of(method, std::move(params), name, options);
  request.open = &open;
  auto answer = HeldCalls::calls_again(options) ? live.connection->request(request)
                                                : held_.answer(*options.state, options.answers, request);
  if (!answer && HeldCalls::wants_addresses(answer.error()))
    return held_.addresses_of(answer.error(), bounds_);
  if (!answer) return fail(std::move(answer.error()));
  failed_starts_ = 0;
  if (open.waiting) return held_.hold(live.connection, std::move(open));
  auto result = read_mcp_result(*answer, bounds_);
  if (!result) return fail(with_reach(std::move(result.error()), Reach::kAnswered));
  return result;
}

Result<std::vector<Json>> McpClient::State::all_of(const std::string& method, const char* member,
                                                   const McpCallOptions& options) {
  std::vector<Json> items;
  std::string cursor;
  for (std::size_t page = 0; page < bounds_.pages; ++page) {
    JsonObject params;
    if (!cursor.empty()) params["cursor"] = cursor;
    const auto answer = ask(method, std::move(params), {}, options);
    if (!answer) return fail(answer.error());
    const JsonArray* list = json_at(*answer, member).if_array();
    if (list == nullptr) return broken("the server's answer to " + method + " has no \"" + member + '"');
    for (const Json& item : *list) {
      if (items.size() < bounds_.tools) items.push_back(item);
    }
    std::string next = json_string(*answer, "nextCursor");
    if (next.empty() || next == cursor || items.size() >= bounds_.tools) break;
    cursor = std::move(next);
  }
  return items;
}

Result<std::vector<McpResource>> McpClient::State::resources(const McpCallOptions& options) {
  std::vector<McpResource> all;
  for (const bool is_template : {false, true}) {
    const auto items = is_template ? all_of("resources/templates/list", "resourceTemplates", options)
                                   : all_of("resources/list", "resources", options);
    const bool has_none =
        is_template && !items && json_int(items.error().detail(), "rpc_code") == kRpcUnknownMethod;
    if (!items && !has_none) return fail(items.error());
    for (const Json& item : items.value_or(std::vector<Json>{}))
      all.push_back(read_mcp_resource(item, is_template, bounds_));
  }
  return all;
}

Result<McpResult> McpClient::State::read_resource(const std::string& uri, const McpCallOptions& options) {
  auto answer = ask("resources/read", {{"uri", uri}}, uri, options);
  if (!answer) return fail(std::move(answer.error()));
  auto result = read_mcp_contents(*answer, bounds_);
  if (!result) return fail(with_reach(std::move(result.error()), Reach::kAnswered));
  return result;
}

Result<std::vector<McpPrompt>> McpClient::State::prompts(const McpCallOptions& options) {
  const auto items = all_of("prompts/list", "prompts", options);
  if (!items) return fail(items.error());
  std::vector<McpPrompt> all;
  for (const Json& item : *items) all.push_back(read_mcp_prompt(item, bounds_));
  return all;
}

Result<std::vector<std::pair<Role, std::string>>> McpClient::State::prompt(const std::string& name,
                                                                           const JsonObject& arguments,
                                                                           const McpCallOptions& options) {
  const auto answer = ask("prompts/get", {{"name", name}, {"arguments", arguments}}, name, options);
  if (!answer) return fail(answer.error());
  return read_mcp_messages(*answer, bounds_);
}

McpClient::McpClient(McpProgram program, McpBounds bounds)
    : state_(std::make_unique<State>(std::move(program), std::nullopt, bounds)) {}
McpClient::McpClient(McpEndpoint endpoint, McpBounds bounds)
    : state_(std::make_unique<State>(std::nullopt, std::move(endpoint), bounds)) {}
McpClient::~McpClient() = default;

Result<McpServerInfo> McpClient::info(const std::stop_token& stop) {
  auto live = state_->connect(stop);
  if (!live) return fail(std::move(live.error()));
  return std::move(live->info);
}
Result<McpToolList> McpClient::tools(const std::stop_token& stop) { return state_->tools(stop); }
Result<McpResult> McpClient::call(const std::string& name, const Json& arguments,
                                  const McpCallOptions& options) {
  return state_->call(name, arguments, options);
}
Result<McpResult> McpClient::await_task(const std::string& task, const McpCallOptions& options) {
  return state_->await_task(task, options);
}
Result<std::vector<McpResource>> McpClient::resources(const McpCallOptions& options) {
  return state_->resources(options);
}
Result<McpResult> McpClient::read_resource(const std::string& uri, const McpCallOptions& options) {
  return state_->read_resource(uri, options);
}
Result<std::vector<McpPrompt>> McpClient::prompts(const McpCallOptions& options) {
  return state_->prompts(options);
}
Result<std::vector<std::pair<Role, std::string>>> McpClient::prompt(const std::string& name,
                                                                    const JsonObject& arguments,
                                                                    const McpCallOptions& options) {
  return state_->prompt(name, arguments, options);
}
const McpBounds& McpClient::bounds() const { return state_->bounds(); }

}  // namespace praxis
