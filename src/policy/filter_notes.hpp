// What the filters did where texts leave a run, for reports about it.
#pragma once

#include <functional>
#include <string>

#include "policy/filters.hpp"

namespace praxis::filters {

/// Gets each filter that changed a text: `kRedact`, or `kDeny` if the whole text was withheld.
using NoteHit = std::function<void(const std::string& filter, Action done)>;

/// `text_rule` that calls `note` for each text that it changes; null: nothing is noted.
redact::TextRulePtr noting_rule(FilterSetPtr set, Point point, NoteHit note);

}  // namespace praxis::filters
