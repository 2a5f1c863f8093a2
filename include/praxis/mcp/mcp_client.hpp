// A client of the Model Context Protocol: the tools of a server, which is a program that this process starts
// or an address that it sends requests to. Speaks version 2026-07-28 and, with servers that do not know it,
// 2025-11-25 and earlier. What a server says is foreign text: bounded, and never trusted for safety.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/process/process.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A server that runs as a program and speaks on its standard input and output.
struct McpProgram {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  ///< complete; nothing is inherited
  std::string folder = "/";                        ///< working directory; absolute
  ProcessLimits limits;
  std::optional<Sandbox> sandbox;  ///< empty: the program has all rights of this user
  /// Called before each start, may add variables; an error is that of the start. May be null.
  std::function<Status(std::map<std::string, std::string>& environment)> prepare;
};

/// A server that is reached over HTTP. Redirects are not followed.
struct McpEndpoint {
  std::string url;
  std::string token;  ///< sent as `Authorization: Bearer`; empty: none
  std::shared_ptr<HttpClient> http;
  AddressRule allow_address;  ///< as in `HttpRequest`
  bool use_proxy = true;
  std::shared_ptr<class McpAccess> access = nullptr;  ///< the user's login; null: `token` only
};

/// Upper bounds of what is accepted from a server.
struct McpBounds {
  std::size_t message_bytes = 16 * 1024 * 1024;  ///< of one message; a longer one ends the connection
  std::size_t message_depth = 64;                ///< nested arrays and objects of a message
  std::size_t pages = 64;                        ///< of one list of tools; the rest is left out
  std::size_t tools = 512;
  std::size_t description_bytes = 4096;  ///< of one tool; the rest is cut off
  std::size_t schema_bytes = 64 * 1024;  ///< of one tool; a tool with more is left out
  std::size_t schema_depth = 24;
  std::size_t list_bytes = 1024 * 1024;     ///< of all descriptions and schemas; tools beyond it are left out
  std::size_t result_bytes = 256 * 1024;    ///< text of one result; the rest is cut off
  std::size_t images = 16;                  ///< of one result
  std::size_t error_bytes = 4096;           ///< of an error message, and of what a program reports
  std::chrono::milliseconds start{30'000};  ///< from the start of a program to the end of the handshake
  std::chrono::milliseconds probe{3'000};   ///< for the question for version 2026-07-28
  std::chrono::milliseconds list_age{300'000};  ///< after which a list is fetched again over HTTP
  std::uint32_t failed_starts = 3;              ///< in a row; after them the server is not started again
  std::size_t state_bytes = 256 * 1024;         ///< of what a server wants back with an answer
  /// Whether the caller of tools answers questions of the server (`McpResult::input`). A server of a version
  /// with a handshake asks in the middle of a call, which stays open: only this client can bring it the
  /// answer.
  bool answers_questions = false;
  /// Whether it answers requests for a model's answer (sampling) as well, which come as questions do.
  bool gives_samples = false;
  bool takes_tasks = false;  ///< whether the caller of tools awaits tasks (`McpResult::task`)
  /// Folders, as absolute paths, that a server with a handshake is to work in, if it asks (roots).
  std::vector<std::string> roots = {};
};

/// A tool as its server describes it, within the bounds and safe to display.
struct McpTool {
  std::string name;  ///< as the server knows it
  std::string description;
  Json parameters;  ///< a JSON Schema that compiles
};
/// A tool that is not offered, and why.
struct McpLeftOut {
  std::string name, why;  ///< safe to display
};
struct McpToolList {
  std::vector<McpTool> tools;
  std::vector<McpLeftOut> left_out;
  bool resources = false, tasks = false;  ///< as in `McpServerInfo`
};

/// What a server says of itself, safe to display. It is not verified.
struct McpServerInfo {
  std::string name, version;
  std::string protocol;  ///< the version of the protocol that both sides use
  bool resources = false, prompts = false, tasks = false;  ///< whether it says that it has them
};

/// What a server wants to know before it carries out a call.
struct McpInput {
  JsonObject requests;               ///< by the server's names: `{method, params}`
  std::optional<std::string> state;  ///< goes back with the answers as it is
};

/// The result of a call within the bounds.
struct McpResult {
  std::string text;
  Json value;  ///< the structured content; null without any
  std::vector<ImagePart> images;
  bool is_error = false;  ///< the tool failed; `text` says why
  /// The server has not carried out the call: the same call with answers is expected. Empty: a result.
  std::optional<McpInput> input = std::nullopt;
  std::string task = {};  ///< not empty: no result yet; the server works on the call, and this names its task
};

/// A resource that a server lists, or a template of many: `uri` has parts in braces.
struct McpResource {
  std::string uri;
  std::string name, description;  ///< safe to display
  bool is_template = false;
};

/// A prompt that a server offers to its user.
struct McpPrompt {
  std::string name;         ///< as the server knows it
  std::string description;  ///< safe to display
  struct Argument {
    std::string name, description;
    bool required = false;
  };
  std::vector<Argument> arguments;
};

/// How one call is made.
struct McpCallOptions {
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;  ///< then the call is cancelled; the epoch: no deadline
  /// Gets the progress that the server reports, on the calling thread; null: none is asked for.
  std::function<void(const std::string& text, std::optional<double> fraction)> on_progress;
  /// To the requests of `McpResult::input`, by their names; null: declined, for a request that is not a
  /// question.
  JsonObject answers = {};
  std::optional<std::string> state = std::nullopt;  ///< that of `McpResult::input`
  std::string traceparent = {};  ///< of the caller's span (W3C), sent in `_meta`; empty: none
  std::string tracestate = {};   ///< likewise, if there is a `traceparent`
};

/// One server. Connects at the first use, and again after the connection ended. Thread-safe; calls run at the
/// same time. The destructor closes the server's standard input and ends all its processes.
class McpClient {
 public:
  explicit McpClient(McpProgram program, McpBounds bounds = {});
  explicit McpClient(McpEndpoint endpoint, McpBounds bounds = {});
  ~McpClient();

  /// Connects unless connected. Errors: of the start of the program or of the request; `kTool` when the
  /// server breaks the protocol, does not answer in time, or has failed to start too often.
  Result<McpServerInfo> info(const std::stop_token& stop = {});
  /// The tools, from the last list unless the server has changed it. Errors: as `info`.
  Result<McpToolList> tools(const std::stop_token& stop = {});
  /// Calls a tool. Stopping and the deadline cancel the call on the server too. Errors state their `Reach`
  /// (praxis/base/reach.hpp): `kSent` when no answer came, so that the call may have taken effect; `kTool`
  /// with `kAnswered` for an error that the server reports; `kCancelled`.
  Result<McpResult> call(const std::string& name, const Json& arguments, const McpCallOptions& options);
  /// Waits for the result of a task (`McpResult::task`). At the deadline, the result names the task again;
  /// stopping cancels the task on the server too. `input`: the task waits for answers, which the next call
  /// brings. Errors: as `call`.
  Result<McpResult> await_task(const std::string& task, const McpCallOptions& options);
  /// The resources, then the templates, at most `McpBounds::tools` of each. Errors: as `info`.
  Result<std::vector<McpResource>> resources(const McpCallOptions& options);
  /// Reads a resource: text, and images of a type that models take. Errors: as `call`.
  Result<McpResult> read_resource(const std::string& uri, const McpCallOptions& options);
  /// The prompts, at most `McpBounds::tools`. Errors: as `info`.
  Result<std::vector<McpPrompt>> prompts(const McpCallOptions& options);
  /// The messages of a prompt: each with its role and its text within the bounds. Errors: as `call`.
  Result<std::vector<std::pair<Role, std::string>>> prompt(const std::string& name,
                                                           const JsonObject& arguments,
                                                           const McpCallOptions& options);
  const McpBounds& bounds() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace praxis
#pragma GCC visibility pop
