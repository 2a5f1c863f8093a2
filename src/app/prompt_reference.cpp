#include "app/prompt_reference.hpp"

#include "praxis/base/digest.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis::app {
namespace {

/// Values may be private, so that only their digests are recorded.
JsonObject variable_digests(const Json& variables) {
  JsonObject digests;
  if (const JsonObject* given = variables.if_object()) {
    for (const auto& [name, value] : *given) digests[name] = digest_of(to_canonical_json(value)).hex();
  }
  return digests;
}

}  // namespace

std::pair<std::string, std::string> split_prompt_reference(const std::string& reference) {
  const std::size_t at = reference.find('@');
  if (at == std::string::npos) return {reference, ""};
  return {reference.substr(0, at), reference.substr(at + 1)};
}

Result<std::optional<PromptedInstructions>> prompted_instructions(const TomlDocument& document,
                                                                  const AgentFileOptions& options) {
  constexpr const char* kKey = "prompt";
  constexpr const char* kVariables = "prompt_variables";
  const std::string reference = json_string(document.json(), kKey);
  const Json& variables = document.at(kVariables);
  if (reference.empty()) {
    if (variables.is_null()) return std::nullopt;
    return document.mistake(kVariables, "[prompt_variables] needs the \"prompt\" whose variables they are");
  }
  for (const char* other : {"instructions", "instructions_file"}) {
    if (!document.at(other).is_null())
      return document.mistake(kKey, "give either \"prompt\" or \"" + std::string(other) + "\", not both");
  }
  if (!options.within.empty())
    return document.mistake(kKey, "an agent of a project cannot use your prompts; use \"instructions_file\"");
  if (!options.prompts) return document.mistake(kKey, "this program provides no prompts for agents");
  const auto store = options.prompts();
  if (!store) return document.mistake(kKey, store.error().message);
  const auto [id, version] = split_prompt_reference(reference);
  auto rendered = (*store)->render(id, variables, {version, true});
  if (!rendered) return document.mistake(kKey, rendered.error().message);
  JsonObject record{{"id", rendered->id},
                    {"version", rendered->version},
                    {"hash", rendered->hash},
                    {"variables", variable_digests(variables)}};
  if (!rendered->partials.empty())
    record["partials"] = JsonArray(rendered->partials.begin(), rendered->partials.end());
  if (!version.empty() && version != rendered->version) record["label"] = version;
  return PromptedInstructions{std::move(rendered->text), std::move(record)};
}

Json with_prompt(Json metadata, const Json& record) {
  constexpr const char* kRecord = "prompt";
  if (JsonObject* object = metadata.if_object()) object->erase(kRecord);
  if (record.is_null()) return metadata;
  if (!metadata.is_object()) metadata = JsonObject{};
  metadata.get_object()[kRecord] = record;
  return metadata;
}

}  // namespace praxis::app
