#include "models/wire/gemini/arguments.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

namespace praxis::wire::gemini {
namespace {

constexpr std::size_t kMaxDepth = 64;

using Step = std::variant<std::string_view, std::size_t>;

/// Removes the first step from `path` and returns it: `.name`, `['name']`, `["name"]` or `[3]`.
std::optional<Step> next_step(std::string_view& path) {
  if (path.starts_with('.')) {
    const std::size_t end = path.find_first_of(".[", 1);
    const std::string_view name = path.substr(1, end == path.npos ? end : end - 1);
    path.remove_prefix(name.size() + 1);
    return name.empty() ? std::nullopt : std::optional<Step>(name);
  }
  if (path.starts_with("['") || path.starts_with("[\"")) {
    const char close[] = {path[1], ']'};
    const std::size_t end = path.find(std::string_view(close, 2), 2);
    if (end == path.npos) return std::nullopt;
    const std::string_view name = path.substr(2, end - 2);
    path.remove_prefix(end + 2);
    return name;
  }
  const std::size_t end = path.find(']');
  if (!path.starts_with('[') || end == path.npos) return std::nullopt;
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(path.data() + 1, path.data() + end, index);
  if (error != std::errc{} || stop != path.data() + end) return std::nullopt;
  path.remove_prefix(end + 1);
  return index;
}

std::optional<std::vector<Step>> steps_of(std::string_view path) {
  if (!path.starts_with('$')) return std::nullopt;
  path.remove_prefix(1);
  std::vector<Step> steps;
  while (!path.empty()) {
    const auto step = next_step(path);
    if (!step || steps.size() == kMaxDepth) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

/// The value at one step, created if missing. An array grows by at most one element: values arrive in order,
/// and a large index must not allocate memory.
Json* place_in(Json& value, const Step& step) {
  if (const auto* name = std::get_if<std::string_view>(&step)) {
    if (value.is_null()) value = JsonObject{};
    return value.is_object() ? &value.get_object()[*name] : nullptr;
  }
  if (value.is_null()) value = JsonArray{};
  const std::size_t index = std::get<std::size_t>(step);
  if (!value.is_array() || index > value.get_array().size()) return nullptr;
  if (index == value.get_array().size()) value.get_array().push_back(nullptr);
  return &value.get_array()[index];
}

void put(Json& place, const Json& piece) {
  if (const auto* text = json_at(piece, "stringValue").if_string()) {
    if (!place.is_string()) place = "";
    place.get_string().append(*text);
  } else if (const Json& number = json_at(piece, "numberValue"); number.is_number()) {
    place = number;
  } else if (const Json& flag = json_at(piece, "boolValue"); flag.is_bool()) {
    place = flag;
  }
}

}  // namespace

bool PartialArguments::add(const Json& piece) {
  const auto steps = steps_of(json_text(piece, "jsonPath"));
  if (!steps || steps->empty()) return false;
  Json* place = &root_;
  for (const Step& step : *steps) {
    place = place_in(*place, step);
    if (place == nullptr) return false;
  }
  put(*place, piece);
  return true;
}

}  // namespace praxis::wire::gemini
