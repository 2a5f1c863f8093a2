#include "praxis/base/dates.hpp"

#include <charconv>
#include <ctime>
#include <string>

namespace praxis {
namespace {

/// The result of parsing the front of a string with `format` (of strptime) as UTC, and the rest of the
/// string.
struct Read {
  std::time_t seconds = 0;
  std::string_view rest;
};

std::optional<Read> read_as(const std::string& text, const char* format) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), format, &parts);
  if (end == nullptr) return std::nullopt;
  return Read{::timegm(&parts), std::string_view(text).substr(static_cast<std::size_t>(end - text.c_str()))};
}

/// Parses `.123456` at the front of `rest` and removes it.
std::int64_t take_fraction_ms(std::string_view& rest) {
  if (!rest.starts_with('.')) return 0;
  std::int64_t ms = 0, unit = 100;
  for (rest.remove_prefix(1); !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1)) {
    ms += unit * (rest[0] - '0');
    unit /= 10;
  }
  return ms;
}

/// Parses `Z`, `+02:00`, `-0930` into minutes.
std::optional<std::int64_t> offset_minutes(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() == 6 && text[3] == ':') {
    return offset_minutes(std::string(text.substr(0, 3)) + std::string(text.substr(4)));
  }
  if (text.size() != 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), digits);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const std::int64_t minutes = digits / 100 * 60 + digits % 100;
  return text[0] == '-' ? -minutes : minutes;
}

}  // namespace

std::optional<UnixMillis> from_http_date(std::string_view text) {
  const std::string date(text);
  const auto read = read_as(date, "%a, %d %b %Y %H:%M:%S GMT");
  if (!read || !read->rest.empty()) return std::nullopt;
  return UnixMillis{read->seconds * 1000};
}

std::optional<UnixMillis> from_iso8601(std::string_view text) {
  const std::string date(text);
  auto read = read_as(date, "%Y-%m-%dT%H:%M:%S");
  if (!read) return std::nullopt;
  const std::int64_t fraction = take_fraction_ms(read->rest);
  const auto offset = offset_minutes(read->rest);
  if (!offset) return std::nullopt;
  return UnixMillis{(read->seconds - *offset * 60) * 1000 + fraction};
}

}  // namespace praxis
