// The fuzzers' journal format: one record a line: its kind, a space, its JSON.
#pragma once

#include <optional>
#include <string_view>

#include "praxis/core/records.hpp"

namespace praxis {

/// Removes the first line of `journal` and decodes it; `std::nullopt` at the end or if it cannot be decoded.
inline std::optional<RecordBody> next_record(std::string_view& journal) {
  const std::string_view line = journal.substr(0, journal.find('\n'));
  journal.remove_prefix(std::min(line.size() + 1, journal.size()));
  const std::string_view kind = line.substr(0, line.find(' '));
  const auto blob = [](const Digest& digest) -> Result<std::string> { return digest.hex(); };
  auto body = decode_record(kind, line.substr(std::min(kind.size() + 1, line.size())), blob);
  if (!body) return std::nullopt;
  return *std::move(body);
}

}  // namespace praxis
