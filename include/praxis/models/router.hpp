// A model that selects one of several models per call: by priority, capability, estimated cost, latency, or a
// strategy of the host.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "praxis/models/model.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// One model of a router, evaluated for the call to be made.
struct Candidate {
  std::shared_ptr<Model> model;
  /// Estimated cost of the call: the whole input, plus the output bound of the request or, without one, at
  /// most 1,024 tokens. Zero if the price is unknown.
  MicroUsd cost;
  std::size_t failures = 0;  ///< consecutive failed calls, over all sessions
  /// How long answers take, over all sessions: a mean in which the last answer counts a quarter. Zero until
  /// the model has answered once.
  std::chrono::nanoseconds latency{0};
};

/// Returns the order in which to try the candidates, as indexes into the span. A candidate whose index is
/// missing is not tried. Runs on the thread that starts the call; must not block. Must be thread-safe.
using RoutingStrategy =
    std::function<std::vector<std::size_t>(const ModelRequest&, std::span<const Candidate>)>;

/// Keeps the given order.
std::vector<std::size_t> by_priority(const ModelRequest& request, std::span<const Candidate> candidates);
/// Cheapest first; candidates of unknown price last.
std::vector<std::size_t> by_cost(const ModelRequest& request, std::span<const Candidate> candidates);
/// Fastest first. A candidate that has not answered yet precedes those that have, unless it failed.
std::vector<std::size_t> by_latency(const ModelRequest& request, std::span<const Candidate> candidates);

struct RouterOptions {
  RoutingStrategy strategy = by_priority;
  /// Skips models whose estimated cost for the call exceeds this. Zero: no limit.
  MicroUsd max_usd = {};
  /// Whether another model may take over after the failed one has already streamed part of its answer.
  /// Viewers receive a `Restarted` delta and discard what they have shown.
  bool restart = false;
  /// Measures how long answers take; null: the system's clock.
  std::shared_ptr<Environment> environment = nullptr;
};

/// Combines `models` (at least one) into one model. A call goes to the first model in the strategy's order
/// that fits: it accepts the request's tools, images and files, its window holds the request, it can give
/// `max_output_tokens`, and its estimated cost is within `max_usd`. If a model fails for a reason that may
/// not apply to another (network, overload, rate limit, key, unknown model, window), the router tries the
/// next one and adds a warning to the answer. A call that fits no model fails with kind `invalid_request` and
/// states the reason per model.
std::shared_ptr<Model> make_router(std::vector<std::shared_ptr<Model>> models, RouterOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
