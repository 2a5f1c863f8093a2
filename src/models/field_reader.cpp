#include "models/field_reader.hpp"

#include <algorithm>
#include <utility>

#include "praxis/json/describe.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000'000;

}  // namespace

FieldReader::FieldReader(const Json& table, std::string path) : table_(table), path_(std::move(path)) {
  if (!table.is_object()) mistake_ = misfit(path_, "must be a table").error();
}

const Json* FieldReader::find(std::string_view name) {
  known_.emplace_back(name);
  const JsonObject* object = table_.if_object();
  return object ? object->if_contains(name) : nullptr;
}

void FieldReader::refuse(std::string_view name, std::string_view must_be) {
  if (!mistake_) mistake_ = misfit(member_path(path_, name), "must be " + std::string(must_be)).error();
}

void FieldReader::text(std::string_view name, std::string& value) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_string()) return refuse(name, "a string");
  value = std::string(found->get_string());
}

void FieldReader::flag(std::string_view name, bool& value) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_bool()) return refuse(name, "true or false");
  value = found->get_bool();
}

void FieldReader::tokens(std::string_view name, std::int64_t& value) {
  const Json* found = find(name);
  if (!found) return;
  const auto* number = found->if_int64();
  if (!number || *number < 0 || *number > kMostTokens) return refuse(name, "a number of tokens");
  value = *number;
}

void FieldReader::texts(std::string_view name, std::vector<std::string>& value) {
  const Json* found = find(name);
  if (!found) return;
  const JsonArray items = found->is_array() ? found->get_array() : JsonArray{*found};
  if (!std::ranges::all_of(items, [](const Json& item) { return item.is_string(); })) {
    return refuse(name, "a string or an array of strings");
  }
  value.clear();
  for (const Json& item : items) value.emplace_back(item.get_string());
}

void FieldReader::text_map(std::string_view name, std::map<std::string, std::string>& value) {
  const Json* found = find(name);
  if (!found) return;
  const JsonObject* members = found->if_object();
  if (!members ||
      !std::ranges::all_of(*members, [](const auto& member) { return member.value().is_string(); })) {
    return refuse(name, "a table of strings");
  }
  for (const auto& [key, text] : *members) value[std::string(key)] = std::string(text.get_string());
}

void FieldReader::object(std::string_view name, Json& value) {
  const Json* found = find(name);
  if (!found) return;
  if (!found->is_object()) return refuse(name, "a table");
  if (!value.is_object()) value = JsonObject{};
  for (const auto& [key, member] : found->get_object()) value.get_object()[key] = member;
}

const Json& FieldReader::any(std::string_view name) {
  static const Json kNone;
  const Json* found = find(name);
  return found ? *found : kNone;
}

Status FieldReader::finish() const {
  if (mistake_) return fail(*mistake_);
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const auto& [key, value] : table_.get_object()) {
    if (std::ranges::find(known, std::string_view(key)) == known.end())
      return unknown_member(path_, key, known);
  }
  return {};
}

}  // namespace praxis
