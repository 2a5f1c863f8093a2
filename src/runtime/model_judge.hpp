// Filters of content that ask a model (`asks` of `[[policy.filters]]`).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/filters.hpp"
#include "praxis/tools/sub_agent.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// What people have approved although a filter asked about it. Opaque; of one call.
using Overruled = std::set<std::string>;
/// Takes the approvals of objections out of `answers`, where a tool does not expect them.
Overruled take_overruled(std::vector<CallAnswer>& answers);

/// Why a call may not run, or not yet.
struct Objection {
  Error error;     ///< `kPolicy`: it is denied; `kAuthorisation`: a person is asked
  std::string by;  ///< as `records::EffectSettled::by`; empty: a person is asked
};

/// Asks the models of the filters at `kToolInput` about the arguments of a running call, one after the other,
/// each as a sub-agent of the call: with a log and within the budget of its own. Returns the first that
/// denies, else the first that asks; `std::nullopt`: all let the call pass. A judge that gives no answer
/// objects, and so does one whose text is longer than `kMostJudged`. A filter that asks is not heard again
/// about arguments that a person has approved. Blocks.
std::optional<Objection> judge_arguments(CallScope& scope, const filters::FilterSet& set,
                                         const ToolCallPart& call, const Overruled& overruled);

/// Asks the models of the filters at `kToolOutput` likewise about what a call of `tool` gave. A filter that
/// denies replaces all of it, one that redacts the passages that its model quotes. Returns what changed it,
/// as `records::EffectSettled::by`; empty: nothing. Blocks.
std::string judge_result(CallScope& scope, const filters::FilterSet& set, const std::string& tool,
                         Result<ToolOutput>& output);

inline constexpr std::size_t kMostJudged = std::size_t{64} * 1024;  ///< bytes of a text
inline constexpr std::size_t kMostPassages = 100;                   ///< that a judge may quote from one text

}  // namespace praxis
