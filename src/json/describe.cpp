#include "praxis/json/describe.hpp"

#include <cmath>

#include "base/ascii.hpp"
#include "praxis/base/duration.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {

const SchemaPlace* SchemaPlace::find(const void* wanted) const {
  for (const SchemaPlace* place = this; place != nullptr; place = place->parent) {
    if (place->type == wanted) return place;
  }
  return nullptr;
}

namespace {

bool is_pointer(const std::string& path) { return path.empty() || path.starts_with('/'); }

}  // namespace

std::string member_path(const std::string& path, std::string_view member) {
  return path + (is_pointer(path) ? '/' : '.') + std::string(member);
}

std::string item_path(const std::string& path, std::size_t index) {
  const std::string number = std::to_string(index);
  return is_pointer(path) ? path + '/' + number : path + '[' + number + ']';
}

std::unexpected<Error> misfit(const std::string& path, std::string_view problem) {
  const std::string subject = path.empty() ? "the value" : is_pointer(path) ? path : '"' + path + '"';
  return fail(ErrorCode::kInput, subject + ' ' + std::string(problem));
}

std::unexpected<Error> unknown_member(const std::string& path, std::string_view member,
                                      std::span<const std::string_view> known) {
  std::string help = "; did you mean ";
  if (const auto meant = closest(member, std::vector<std::string>(known.begin(), known.end()))) {
    help += '"' + *meant + "\"?";
  } else {
    help = "; known are ";
    for (const std::string_view& name : known) help.append(&name == known.data() ? "" : ", ").append(name);
  }
  return fail(ErrorCode::kInput, "unknown key \"" + member_path(path, member) + '"' + help);
}

std::string must_be_integer(std::int64_t least, std::int64_t most) {
  return "must be an integer from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string must_be_one_of(std::span<const std::string> words) {
  std::string problem = "must be one of";
  for (const std::string& word : words) problem += (&word == words.data() ? " \"" : ", \"") + word + '"';
  return problem;
}

std::string enumerator_name(std::string_view name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (name.size() < 2 || name[0] != 'k' || !is_upper(name[1])) return std::string(name);
  std::string result;
  for (char c : name.substr(1)) {
    if (is_upper(c) && !result.empty()) result += '_';
    result += lower_case(c);
  }
  return result;
}

namespace {

std::vector<std::string> json_names(std::span<const std::string_view> names) {
  std::vector<std::string> result;
  for (std::string_view name : names) result.push_back(enumerator_name(name));
  return result;
}

}  // namespace

Json enum_schema(std::span<const std::string_view> names) {
  JsonArray values;
  for (const std::string& name : json_names(names)) values.emplace_back(name);
  return {{"type", "string"}, {"enum", std::move(values)}};
}

Result<std::size_t> read_enumerator(const Json& json, const std::string& path,
                                    std::span<const std::string_view> names) {
  const auto known = json_names(names);
  std::string given;
  if (const auto* text = json.if_string()) given = *text;
  const auto found = std::ranges::find(known, given);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());

  std::string problem = must_be_one_of(known);
  if (auto meant = closest(given, known)) problem += "; did you mean \"" + *meant + "\"?";
  return misfit(path, problem);
}

Result<std::int64_t> read_integer(const Json& json, const std::string& path, std::int64_t least,
                                  std::int64_t most) {
  const auto out_of_range = [&] { return misfit(path, must_be_integer(least, most)); };
  std::int64_t number = 0;
  if (const auto* whole = json.if_int64()) {
    number = *whole;
  } else if (const auto* large = json.if_uint64(); large != nullptr && std::in_range<std::int64_t>(*large)) {
    number = static_cast<std::int64_t>(*large);
  } else if (const auto* real = json.if_double();
             real != nullptr && std::trunc(*real) == *real && std::abs(*real) < 0x1p63) {
    number = static_cast<std::int64_t>(*real);
  } else {
    return out_of_range();
  }
  if (number < least || number > most) return out_of_range();
  return number;
}

Result<double> read_double(const Json& json, const std::string& path) {
  if (const auto* real = json.if_double()) return *real;
  if (const auto* whole = json.if_int64()) return static_cast<double>(*whole);
  if (const auto* large = json.if_uint64()) return static_cast<double>(*large);
  return misfit(path, "must be a number");
}

Status JsonForm<bool>::read(const Json& json, const std::string& path, bool& out) {
  if (!json.is_bool()) return misfit(path, "must be true or false");
  out = json.get_bool();
  return {};
}

Json JsonForm<Millis>::schema(const SchemaPlace&) {
  return {
      {"type", {"string", "integer"}}, {"pattern", R"(^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$)"}, {"minimum", 0}};
}

Status JsonForm<Millis>::read(const Json& json, const std::string& path, Millis& out) {
  if (const auto* text = json.if_string()) {
    const auto duration = parse_duration(*text);
    if (!duration) return misfit(path, kMustBeDuration);
    out = *duration;
    return {};
  }
  const auto* millis = json.if_int64();
  if (millis == nullptr || *millis < 0) return misfit(path, kMustBeDuration);
  out = Millis{*millis};
  return {};
}

Status JsonForm<std::string>::read(const Json& json, const std::string& path, std::string& out) {
  if (!json.is_string()) return misfit(path, "must be a string");
  out = json.get_string();
  return {};
}

}  // namespace praxis
