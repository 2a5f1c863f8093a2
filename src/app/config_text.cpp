#include "app/config_text.hpp"

#include <algorithm>
#include <array>

#include "memory/redis_address.hpp"

namespace praxis::app {

std::string without_keys(std::string value) {
  const auto scheme = value.find("://");
  if (scheme == std::string::npos) return value;
  // A password of Redis is in the address, and may have any character.
  const auto at = is_redis_address(value) ? value.rfind('@') : std::string::npos;
  if (at != std::string::npos) value.replace(scheme + 3, at - scheme - 3, "(not shown)");
  if (const auto query = value.find_first_of("?#", scheme); query != std::string::npos)
    value.replace(query, std::string::npos, "?(not shown)");
  const auto end = std::min(value.find('/', scheme + 3), value.size());
  if (const auto user = value.rfind('@', end); user != std::string::npos && user > scheme)
    value.replace(scheme + 3, user - scheme - 3, "(not shown)");
  return value;
}

std::string shown_value(std::string_view key, const Setting& setting) {
  static constexpr std::array<std::string_view, 4> kSecret{"key", "token", "secret", "password"};
  const bool is_secret =
      std::ranges::any_of(kSecret, [&](std::string_view word) { return key.find(word) != key.npos; });
  return is_secret ? "(not shown)" : without_keys(setting.value);
}

}  // namespace praxis::app
