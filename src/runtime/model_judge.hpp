// Filters of content that ask a model (`asks` of `[[policy.filters]]`).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "policy/filters.hpp"
#include "praxis/tools/sub_agent.hpp"

namespace praxis {

/// The filter that denies a text, and why.
struct Judged {
  std::string why;  ///< as `Scan::why`
  std::string by;   ///< as `records::EffectSettled::by`
};

/// Asks the models of the filters at `point` about the arguments or the result of a running call of `tool`,
/// one after the other, each as a sub-agent of the call: with a log and within the budget of its own. Returns
/// the first that denies; `std::nullopt`: all let the text pass. A judge that gives no answer denies, and so
/// does one whose text is longer than `kMostJudged`. `does` and `what` as in `Scan::why`. Blocks.
std::optional<Judged> judge_by_models(CallScope& scope, const filters::FilterSet& set, filters::Point point,
                                      std::string_view tool, const std::string& text, std::string_view does,
                                      const std::string& what);

inline constexpr std::size_t kMostJudged = std::size_t{64} * 1024;  ///< bytes of a text

}  // namespace praxis
