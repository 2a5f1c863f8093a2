#include "wire/expectation.hpp"

#include <algorithm>

namespace praxis::wire {
namespace {

Json without_wording(const Json& error) {
  if (!error.is_object()) return error;
  JsonObject out = error.get_object();
  out.erase("message");
  return out;
}

bool is_met(std::string_view field, const Json& ours, const Json& expected) {
  if (field == "error")
    return to_canonical_json(without_wording(ours)) == to_canonical_json(without_wording(expected));
  return to_canonical_json(ours) == to_canonical_json(expected);
}

}  // namespace

bool is_ambiguous(const Json& expectation) {
  const Json& extra = json_at(expectation, "extra");
  return !json_at(extra, "ambiguous").is_null();
}

std::vector<std::string> mismatches(const Json& line, const Json& expectation, std::string_view case_name,
                                    const std::vector<KnownDifference>& known) {
  std::vector<std::string> out;
  if (!expectation.is_object()) return {"the expectation is no object"};
  for (const auto& [name, expected] : expectation.get_object()) {
    const std::string_view field = name;
    const bool is_known = std::ranges::any_of(
        known, [&](const KnownDifference& k) { return k.case_name == case_name && k.field == field; });
    if (field == "extra" || is_known || is_met(field, json_at(line, field), expected)) continue;
    out.push_back(std::string(field) + ": ours " + to_json_text(json_at(line, field)) + ", expected " +
                  to_json_text(expected));
  }
  return out;
}

}  // namespace praxis::wire
