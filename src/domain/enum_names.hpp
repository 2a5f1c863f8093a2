// Tables of the names that enumerations have in journals and JSON.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace praxis {

template <class E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

/// The name of `value`, which must be in the table.
template <class E, std::size_t N>
std::string_view name_of(const Names<E, N>& names, E value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  std::unreachable();
}

/// The value called `name`; `std::nullopt` when the table has no such name.
template <class E, std::size_t N>
std::optional<E> value_of(const Names<E, N>& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace praxis
