// Completion in the composer: files after `@`, commands after `/`. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tui/choice_list.hpp"

namespace praxis::tui {

enum class CompletedKind : std::uint8_t { kFile, kCommand };

/// A word that can be completed, which ends at the cursor.
struct CompletedWord {
  CompletedKind kind = CompletedKind::kFile;
  std::size_t begin = 0;  ///< its first byte, which is `@` or `/`
  std::string typed;      ///< after that, without a quote
  bool operator==(const CompletedWord&) const = default;
};

/// The word before the cursor, if it can be completed. `before` is the text up to the cursor.
std::optional<CompletedWord> completed_word(std::string_view before);

/// The files as choices.
std::vector<Choice> file_choices(const std::vector<std::string>& names);
/// How a file is written in a message: `@src/main.cpp `, with quotes if its path has blanks.
std::string file_word(std::string_view path);

}  // namespace praxis::tui
