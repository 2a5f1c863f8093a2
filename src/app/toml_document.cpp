#include "app/toml_document.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace praxis {

/// Converts toml++ nodes and records their positions.
class TomlDocument::Reader {
 public:
  explicit Reader(TomlDocument& document) : document_(document) {}

  Status read(const toml::table& root) {
    auto json = convert(root, "");
    if (!json) return fail(std::move(json.error()));
    document_.json_ = *std::move(json);
    return {};
  }

 private:
  Result<Json> convert(const toml::node& node, const std::string& path) {
    if (const auto* table = node.as_table()) return convert(*table, path);
    if (const auto* array = node.as_array()) return convert(*array, path);
    if (const auto* text = node.as_string()) return Json(text->get());
    if (const auto* number = node.as_integer()) return Json(number->get());
    if (const auto* number = node.as_floating_point()) return Json(number->get());
    if (const auto* flag = node.as_boolean()) return Json(flag->get());
    return document_.mistake(path, "dates and times have no use here; write a string in quotes");
  }

  Result<Json> convert(const toml::table& table, const std::string& path) {
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [key, value] : table) members.emplace_back(&key, &value);
    std::ranges::sort(members, [](const auto& a, const auto& b) {
      return begin_of(*a.first, *a.second) < begin_of(*b.first, *b.second);
    });
    JsonObject object;
    for (const auto& [key, value] : members) {
      std::string member = path.empty() ? std::string(key->str()) : path + '.' + std::string(key->str());
      note(member, begin_of(*key, *value));
      auto json = convert(*value, member);
      if (!json) return json;
      object[key->str()] = *std::move(json);
    }
    return object;
  }

  Result<Json> convert(const toml::array& array, const std::string& path) {
    JsonArray items;
    for (const toml::node& item : array) {
      const std::string place = path + '[' + std::to_string(items.size()) + ']';
      note(place, item.source().begin);
      auto json = convert(item, place);
      if (!json) return json;
      items.push_back(*std::move(json));
    }
    return items;
  }

  /// The position of the key; of the value for keys without a position in toml++.
  static toml::source_position begin_of(const toml::key& key, const toml::node& value) {
    return key.source().begin ? key.source().begin : value.source().begin;
  }

  void note(const std::string& path, const toml::source_position& at) {
    document_.places_[path] = {at.line, at.column};
  }

  TomlDocument& document_;
};

namespace {

/// The parser's reason without what it was doing: `encountered end-of-file`.
std::string plain_reason(std::string_view reason) {
  constexpr std::string_view kDoing = "Error while parsing ";
  const auto colon = reason.find(": ");
  if (!reason.starts_with(kDoing) || colon == std::string_view::npos) return std::string(reason);
  const std::string what(reason.substr(kDoing.size(), colon - kDoing.size()));
  return std::string(reason.substr(colon + 2)) + " (in a " + what + ")";
}

}  // namespace

Result<TomlDocument> TomlDocument::parse(std::string_view text, std::string name) {
  TomlDocument document;
  document.name_ = std::move(name);
  try {
    if (auto read = Reader(document).read(toml::parse(text)); !read) return fail(std::move(read.error()));
    return document;
  } catch (const toml::parse_error& error) {
    document.places_[""] = {error.source().begin.line, error.source().begin.column};
    return document.mistake("", "this is not TOML: " + plain_reason(error.description()));
  }
}

const Json& TomlDocument::at(std::string_view path) const {
  const Json* at = &json_;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    at = &json_at(*at, path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *at;
}

std::unexpected<Error> TomlDocument::mistake(const std::string& path, std::string_view what) const {
  const auto found = places_.find(path);
  const Place place = found == places_.end() ? Place{} : found->second;
  return fail(ErrorCode::kInput, name_ + ':' + std::to_string(place.line) + ':' +
                                     std::to_string(place.column) + ": " + std::string(what));
}

}  // namespace praxis
