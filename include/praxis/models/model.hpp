// The interface to language models. Streaming is the primitive; `complete` collects a stream into one
// response. Adapters translate a checked `History` to a vendor's wire format and the answer back to parts.
// Adapters neither retry nor make decisions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/core/history.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/model_types.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class Catalog;      // praxis/models/catalog.hpp
class Environment;  // praxis/base/environment.hpp
class Executor;     // praxis/base/executor.hpp
class HttpClient;   // praxis/net/http_client.hpp

/// One model call. Members are small or shared, so that building a request does not copy the conversation.
struct ModelRequest {
  /// Of the agent; sent before the instructions in `history`. Where instructions are a message (Chat,
  /// Responses, Ollama), a developer message at the start of `history` replaces them.
  std::string instructions;
  History history;
  std::shared_ptr<const std::vector<ToolDefinition>> tools;  ///< null or empty: no tools are offered
  ModelOptions options;
  bool non_strict = false;  ///< disable strict schemas, even where the vendor supports them
  bool stream = true;       ///< request deltas from the vendor
  SessionId session;
  std::string agent;  ///< agent id
  /// Number of earlier model calls of this session that were answered or failed.
  std::uint64_t ordinal = 0;
  std::uint32_t attempt = 1;  ///< of this call, counted from 1
  std::string only = {};      ///< of several models of a router, the one to ask; empty: any
};

/// What a model supports. The runtime uses nothing else.
struct ModelCapabilities {
  bool streaming = true;
  bool tools = true;
  bool images = true;               ///< in the input
  bool files = true;                ///< in the input
  bool reasoning = false;           ///< reasons before it answers, with a configurable effort
  bool compaction = false;          ///< the vendor shortens a conversation that nears the window
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  std::int64_t max_output = 0;      ///< tokens; 0 when unknown
  TokenCounting counting = {};      ///< how to estimate the tokens of a request
};

/// Receives one answer. Calls arrive one at a time, on any thread, and must not block. `on_done` is called
/// exactly once, as the last call. Error codes: `kCancelled`, or `kModel` with `retriable` set and, in
/// `detail`, `kind` (one of `auth`, `billing`, `not_found`, `invalid_request`, `context_overflow`,
/// `content_policy`, `rate_limit`, `overloaded`, `server`, `network`, `timeout`, `truncated_stream`,
/// `protocol`) and, where known, `status`, `retry_after_ms` and `usage` (`report_usage`).
class ModelSink {
 public:
  virtual ~ModelSink() = default;
  virtual void on_delta(const ModelDelta& delta) = 0;
  virtual void on_done(Result<ModelResponse> response) = 0;
};

/// An adapter's cache for one conversation: rendered messages and a preferred connection. Dropping it affects
/// speed, never the answer. Serves one call at a time.
class ModelSession {
 public:
  virtual ~ModelSession() = default;
  /// Starts a call and returns at once. A stop request closes the connection and ends the call with
  /// `kCancelled`. The caller keeps the session alive until its calls have ended; the session keeps `sink`
  /// until `on_done` has returned.
  virtual void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) = 0;
};

/// A language model. Thread-safe.
class Model {
 public:
  virtual ~Model() = default;
  /// `provider:model`, as configured.
  virtual const std::string& name() const = 0;
  virtual ModelCapabilities capabilities() const = 0;
  virtual std::unique_ptr<ModelSession> open_session() = 0;
  /// Price of a call, in addition to any price that the vendor reports; zero if unknown.
  virtual MicroUsd price(const Usage& usage) const = 0;
};

/// Whether the vendor may charge for a call that ended with `error`: true if the call was cancelled or broke
/// off, false if the vendor refused it or was never reached. Thread-safe.
bool may_have_cost(const Error& error);
/// Adds to an error the usage that the vendor stated before the call failed (`detail.usage`). `estimated`:
/// the answer broke off, so its output may be larger than stated. Zero usage is not added. Thread-safe.
void report_usage(Error& error, const Usage& usage);
/// Removes what `report_usage` added and returns it; `std::nullopt` when the vendor stated no usage.
/// Thread-safe.
std::optional<Usage> take_reported_usage(Error& error);

/// Makes one call and blocks until its answer. For tests and simple programs.
Result<ModelResponse> complete(Model& model, const ModelRequest& request, std::stop_token stop = {},
                               const std::function<void(const ModelDelta&)>& on_delta = {});

/// How long calls of models wait for the network.
struct NetworkWaits {
  /// `Limits::patience` of agents that set none. 0: the number of attempts alone bounds retries.
  Millis patience{0};
  Millis connect{10'000};  ///< name look-up, TCP, proxy and TLS handshake together
  /// From the request sent to the first byte of the answer; at least 10 minutes for an answer that is not
  /// streamed, because it comes whole.
  Millis first_byte{180'000};
  Millis idle{300'000};  ///< between two pieces of an answer
};

struct ModelServices;
/// Makes the models of one provider; `model` is the part of the name after the colon. Thread-safe.
using ModelFactory =
    std::function<Result<std::shared_ptr<Model>>(const std::string& model, const ModelServices& services)>;
/// A program's own providers, by the name before the colon. They precede the catalogue's and the built-in
/// ones.
using ModelProviders = std::map<std::string, ModelFactory>;

/// Services that adapters use.
struct ModelServices {
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<Executor> executor;
  /// Looks up a setting or secret by environment variable name; returns an empty string if unset.
  std::function<std::string(const std::string&)> env;
  /// Facts about providers and models; null: the built-in catalogue.
  std::shared_ptr<const Catalog> catalog = nullptr;
  /// Folder in which every exchange with a vendor is recorded, to be replayed by `cassette:FOLDER`. Empty: no
  /// recording.
  std::string record_to = {};
  /// The program's own providers; null: none.
  std::shared_ptr<const ModelProviders> providers = nullptr;
  /// Measures how long models take; null: the system's clock.
  std::shared_ptr<Environment> environment = nullptr;
  NetworkWaits network = {};  ///< its patience is the runtime's affair
};

/// Makes the model for `provider:model`. A name in `ModelServices::providers` is served by its factory.
/// `script:FILE` answers from a script. `cassette:FOLDER` replays recorded answers; `cassette-check:FOLDER`
/// also requires each request to equal the recorded one. Any other provider comes from the catalogue
/// (docs/providers.md), such as `openai:NAME`. `A|B` is a router over several, which follows `route`. Error
/// `kInput`: unknown provider (names the nearest known one), or missing key.
Result<std::shared_ptr<Model>> make_model(const std::string& name, const ModelServices& services,
                                          const Route& route = {});

/// A model that answers from a script (JSON Lines, docs/script-model.md) passed as a string. `label` names
/// the script in errors.
Result<std::shared_ptr<Model>> script_model(std::string_view text, std::string label,
                                            std::shared_ptr<Executor> executor);

}  // namespace praxis
#pragma GCC visibility pop
