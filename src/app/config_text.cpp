#include "app/config_text.hpp"

#include <algorithm>
#include <array>

namespace praxis::app {

std::string shown_value(std::string_view key, const Setting& setting) {
  static constexpr std::array<std::string_view, 4> kSecret{"key", "token", "secret", "password"};
  const bool is_secret =
      std::ranges::any_of(kSecret, [&](std::string_view word) { return key.find(word) != key.npos; });
  return is_secret ? "(not shown)" : setting.value;
}

}  // namespace praxis::app
