// The header of a `SKILL.md`: YAML between two lines `---`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis {

/// The scalar fields of a header in their order. Fields with lists or maps are there with an empty value.
using SkillFields = std::vector<std::pair<std::string, std::string>>;

struct SkillText {
  std::string_view header;
  std::string_view body;
};
/// Splits a file at the lines `---`. Views of `text`. Error `kInput`: it has no header.
Result<SkillText> split_skill(std::string_view text);
/// Reads a header. References (`&a`, `*a`) are refused: they could make a short header expand without end.
/// Error `kInput`: it is not a map in YAML, names a field twice, or is nested more than 16 levels.
Result<SkillFields> read_skill_header(std::string_view header);

}  // namespace praxis
