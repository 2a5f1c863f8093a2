// Lines of arbitrary bytes as texts of one series: each is read as the parser alone reads it. Each is given
// twice, since a series learns from two similar texts.
#include "json/series.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace praxis;

namespace {

void expect_as_parsed(JsonSeries& series, std::string_view text) {
  const auto read = series.parse(text);
  const auto parsed = parse_json(text);
  if (read.has_value() != parsed.has_value()) std::abort();
  if (read ? to_json_text(**read) != to_json_text(*parsed) : read.error().message != parsed.error().message)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  JsonSeries series;
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    expect_as_parsed(series, text);
    expect_as_parsed(series, text);
  }
  return 0;
}
