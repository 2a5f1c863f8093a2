// A model that picks among models: by priority, by what they can do, by what a call may cost, or by a
// strategy of the host's own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "praxis/models/model.hpp"

namespace praxis {

/// One of a router's models, as it stands towards the call to be made.
struct Candidate {
  std::shared_ptr<Model> model;
  MicroUsd
      cost;  ///< of the call by estimate: the whole input, and as much output as may come; zero when unknown
  std::size_t failures = 0;  ///< calls in a row that it has failed, over all sessions
};

/// The order in which candidates are tried: indexes into them, the first being the first choice. One that is
/// left out is not tried. Runs on the thread that starts the call and must not block. Thread-safe.
using RoutingStrategy =
    std::function<std::vector<std::size_t>(const ModelRequest&, std::span<const Candidate>)>;

/// In the order given.
std::vector<std::size_t> by_priority(const ModelRequest& request, std::span<const Candidate> candidates);
/// The cheapest first; those of unknown price last.
std::vector<std::size_t> by_cost(const ModelRequest& request, std::span<const Candidate> candidates);

struct RouterOptions {
  RoutingStrategy strategy = by_priority;
  /// Models whose estimate for a call is above this are not asked; zero: no ceiling.
  MicroUsd max_cost = {};
  /// Whether another model may take over when one fails after its answer had begun to be shown: viewers are
  /// told by a `Restarted` delta that what they saw is void.
  bool restart = false;
};

/// A model made of `models` (at least one). A call goes to the first that fits it: that takes tools and
/// images where the request has them, whose window holds it, and that stays below the ceiling. When one fails
/// in a way that another need not (network, overload, rate limit, key, unknown model, window), the next one
/// is asked; the answer's warnings say so. A call that no model fits fails with kind `invalid_request` and
/// says why for each.
std::shared_ptr<Model> make_router(std::vector<std::shared_ptr<Model>> models, RouterOptions options = {});

}  // namespace praxis
