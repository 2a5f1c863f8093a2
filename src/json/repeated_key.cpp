#include "json/repeated_key.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

namespace {

namespace bj = boost::json;

/// Keeps the keys of the open objects and ends the parse at the first that repeats.
class KeyWatch {
 public:
  static constexpr std::size_t max_object_size = JsonObject::max_size();
  static constexpr std::size_t max_array_size = JsonArray::max_size();
  static constexpr std::size_t max_key_size = bj::string::max_size();
  static constexpr std::size_t max_string_size = bj::string::max_size();

  std::optional<std::string> repeated;

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_object_begin(bj::error_code&) { return objects_.emplace_back(), true; }
  bool on_object_end(std::size_t, bj::error_code&) { return objects_.pop_back(), true; }
  bool on_array_begin(bj::error_code&) { return true; }
  bool on_array_end(std::size_t, bj::error_code&) { return true; }
  bool on_key_part(bj::string_view s, std::size_t, bj::error_code&) {
    return key_.append(s.data(), s.size()), true;
  }
  bool on_key(bj::string_view s, std::size_t, bj::error_code& error) {
    key_.append(s.data(), s.size());
    if (!objects_.back().insert(key_).second) {
      repeated = key_;
      error = bj::error::syntax;
      return false;
    }
    key_.clear();
    return true;
  }
  bool on_string_part(bj::string_view, std::size_t, bj::error_code&) { return true; }
  bool on_string(bj::string_view, std::size_t, bj::error_code&) { return true; }
  bool on_number_part(bj::string_view, bj::error_code&) { return true; }
  bool on_int64(std::int64_t, bj::string_view, bj::error_code&) { return true; }
  bool on_uint64(std::uint64_t, bj::string_view, bj::error_code&) { return true; }
  bool on_double(double, bj::string_view, bj::error_code&) { return true; }
  bool on_bool(bool, bj::error_code&) { return true; }
  bool on_null(bj::error_code&) { return true; }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

 private:
  std::vector<std::set<std::string>> objects_;
  std::string key_;
};

/// Counts the fields of all objects in `value`.
std::ptrdiff_t count_fields(const Json& value) {
  std::ptrdiff_t count = 0;
  if (const auto* object = value.if_object()) {
    for (const auto& field : *object) count += 1 + count_fields(field.value());
  } else if (const auto* array = value.if_array()) {
    for (const Json& element : *array) count += count_fields(element);
  }
  return count;
}

}  // namespace

std::optional<std::string> repeated_key(std::string_view json) {
  if (std::ranges::count(json, ':') < 2) return std::nullopt;  // one key at most
  bj::parse_options options;
  options.max_depth = JsonLimits{}.max_depth;
  bj::basic_parser<KeyWatch> parser(options);
  bj::error_code error;
  parser.write_some(false, json.data(), json.size(), error);
  return std::move(parser.handler().repeated);
}

std::optional<std::string> repeated_key(std::string_view json, const Json& value) {
  // Each key has a colon: with as many fields as colons, the parser has dropped none.
  if (std::ranges::count(json, ':') == count_fields(value)) return std::nullopt;
  return repeated_key(json);
}

std::string repeated_key_problem(std::string_view key) {
  return "the key \"" + repair_utf8(key) + "\" occurs more than once in one object; send each key once";
}

}  // namespace praxis
