// The interface to language models. Streaming is the primitive; `complete` folds it. Adapters translate a
// checked `History` to a vendor's wire form and its answer back to parts; they neither retry nor decide
// anything.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/history.hpp"
#include "praxis/domain/model_types.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// One model call. Everything in it is shared or small: making one costs no copy of the conversation.
struct ModelRequest {
  std::string instructions;  ///< the agent's; goes where the vendor wants it, before the history's own
  History history;
  std::shared_ptr<const std::vector<ToolDefinition>> tools;  ///< null or empty: none are offered
  ModelOptions options;
  bool non_strict = false;  ///< hold no tool to its schema, also where the vendor could
  bool stream = true;       ///< ask the vendor for deltas
  SessionId session;
  std::string agent;          ///< agent id
  std::uint64_t ordinal = 0;  ///< model calls of this session that were answered or failed before
  std::uint32_t attempt = 1;  ///< at this call, counted from 1
};

/// What a model can do; the runtime offers it nothing else.
struct ModelCapabilities {
  bool streaming = true;
  bool tools = true;
  bool images = true;               ///< in the input
  bool files = true;                ///< in the input
  bool reasoning = false;           ///< thinks before it answers, and can be told how much
  bool compaction = false;          ///< shortens a conversation that nears its window by itself
  std::int64_t context_window = 0;  ///< tokens; 0 when unknown
  std::int64_t max_output = 0;      ///< tokens; 0 when unknown
  TokenCounting counting = {};      ///< what estimates of its requests go by
};

/// Receives one answer. Calls come one at a time, from any thread, and must not block; `on_done` is the last
/// and comes exactly once. Error codes: `kCancelled`, or `kModel` with `retriable` set and in `detail` `kind`
/// (one of `auth`, `billing`, `not_found`, `invalid_request`, `context_overflow`, `content_policy`,
/// `rate_limit`, `overloaded`, `server`, `network`, `timeout`, `truncated_stream`, `protocol`), `status` and
/// `retry_after_ms` where known.
class ModelSink {
 public:
  virtual ~ModelSink() = default;
  virtual void on_delta(const ModelDelta& delta) = 0;
  virtual void on_done(Result<ModelResponse> response) = 0;
};

/// An adapter's memory of one conversation: what it has already rendered, the connection it likes. A cache
/// and nothing more: dropping it changes speed, never the answer. Used by one call at a time.
class ModelSession {
 public:
  virtual ~ModelSession() = default;
  /// Starts a call and returns at once. A stop request closes the connection and ends in `kCancelled`. The
  /// session outlives its calls; the sink is kept until `on_done` has returned.
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
  /// Price of a call in addition to what the vendor states; zero when unknown.
  virtual MicroUsd price(const Usage& usage) const = 0;
};

/// Whether a call that ended with `error` may have been paid for all the same: it was cancelled or broke off,
/// rather than being refused or never reaching the vendor. Thread-safe.
bool may_have_cost(const Error& error);

/// Makes one call and waits for its answer: for tests and plain programs.
Result<ModelResponse> complete(Model& model, const ModelRequest& request, std::stop_token stop = {},
                               const std::function<void(const ModelDelta&)>& on_delta = {});

/// What adapters may use.
struct ModelServices {
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<Executor> executor;
  /// Looks up a setting or secret by environment-variable name; empty when unset.
  std::function<std::string(const std::string&)> env;
  /// What is known of providers and models; null: what is compiled in.
  std::shared_ptr<const Catalog> catalog = nullptr;
  /// A folder that gets every exchange with a vendor, for `cassette:FOLDER` to answer from; empty: none is
  /// kept.
  std::string record_to = {};
};

/// Makes the model for `provider:model`: `script:FILE`; `cassette:FOLDER`, or `cassette-check:FOLDER` when
/// requests must be the recorded ones; else a provider of the catalogue (docs/providers.md), such as
/// `openai:NAME`. Error `kInput` for an unknown provider, with the nearest known one; a missing key.
Result<std::shared_ptr<Model>> make_model(const std::string& name, const ModelServices& services);

/// A model that answers from a script (JSON Lines, docs/script-model.md) given as text; `label` names it in
/// errors.
Result<std::shared_ptr<Model>> script_model(std::string_view text, std::string label,
                                            std::shared_ptr<Executor> executor);

}  // namespace praxis
