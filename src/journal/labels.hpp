// What users call a session: a name that no other session has, and tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis {

struct Labels {
  std::string name;
  std::vector<std::string> tags;
};

/// The labels after a change. Error `kInput`.
Result<Labels> changed(Labels labels, const LabelChange& change);
/// `exists`.
Error name_taken(std::string_view name, const SessionId& by);

/// The tags as the column holds them: separated by spaces.
std::string tags_text(const std::vector<std::string>& tags);
std::vector<std::string> tags_of(std::string_view text);

}  // namespace praxis
