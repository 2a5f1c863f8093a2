// Templates as values: their JSON form, their checks, and how one is rendered.
#include <algorithm>

#include "praxis/base/digest.hpp"
#include "praxis/core/history.hpp"
#include "prompts/fstring.hpp"
#include "prompts/prompt_log.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxPromptText = std::size_t{1024} * 1024, kMaxPromptList = 256, kMaxPromptWord = 256;

/// What can be put, as JSON.
JsonObject content_of(const PromptTemplate& prompt) {
  return {{"id", prompt.id},
          {"text", prompt.text},
          {"name", prompt.name},
          {"engine", to_string(prompt.engine)},
          {"required_vars", JsonArray(prompt.required_vars.begin(), prompt.required_vars.end())},
          {"tags", JsonArray(prompt.tags.begin(), prompt.tags.end())},
          {"metadata", prompt.metadata}};
}

std::vector<std::string> words_in(const Json& list) {
  std::vector<std::string> words;
  if (const JsonArray* array = list.if_array()) {
    for (const Json& each : *array) words.push_back(to_plain_text(each));
  }
  return words;
}

bool is_id(std::string_view id) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
  };
  return !id.empty() && id.size() <= kMaxPromptWord && std::ranges::all_of(id, is_good) &&
         !id.starts_with('/') && !id.starts_with('.') && !id.contains("..");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "\"" : ", \"").append(name).append("\"");
  return text;
}

}  // namespace

std::string_view to_string(PromptEngine) { return "fstring"; }

Json to_json(const PromptTemplate& prompt) {
  JsonObject json = content_of(prompt);
  json["version"] = prompt.version;
  json["created_by"] = prompt.created_by;
  json["created_at"] = to_iso8601(prompt.created_at);
  json["hash"] = prompt.hash;
  json["parent"] = prompt.parent.empty() ? Json(nullptr) : Json(prompt.parent);
  return json;
}

Json to_json(const PromptChange& change) {
  const bool is_put = change.kind == PromptChange::Kind::kPut;
  JsonObject json{{"change", is_put ? "put" : "labelled"},
                  {"id", change.id},
                  {"version", change.version},
                  {"author", change.author},
                  {"time", to_iso8601(change.time)}};
  if (!is_put) json["label"] = change.label;
  return json;
}

Result<PromptTemplate> prompt_from_json(const Json& json) {
  PromptTemplate prompt;
  prompt.id = json_string(json, "id");
  prompt.text = json_string(json, "text");
  prompt.name = json_string(json, "name");
  if (json_string(json, "engine", "fstring") != "fstring") {
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" is written for the engine \"" +
                                       json_string(json, "engine") + "\"; this Praxis knows fstring");
  }
  prompt.required_vars = words_in(json_at(json, "required_vars"));
  prompt.tags = words_in(json_at(json, "tags"));
  prompt.metadata = json_at(json, "metadata");
  return prompt;
}

std::string hash_of_prompt(const PromptTemplate& prompt) {
  return digest_of(to_canonical_json(content_of(prompt))).hex();
}

Status check_prompt(const PromptTemplate& prompt) {
  if (!is_id(prompt.id)) {
    return fail(
        ErrorCode::kInput,
        "the id of a prompt has letters, digits, _, -, . and / only, begins with neither . nor /, and is "
        "at most 256 bytes long");
  }
  if (prompt.text.size() > kMaxPromptText)
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" has more than 1 MiB");
  if (prompt.required_vars.size() > kMaxPromptList || prompt.tags.size() > kMaxPromptList)
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" has more than 256 variables or tags");
  if (!prompt.metadata.is_null() && !prompt.metadata.is_object())
    return fail(ErrorCode::kInput, "the metadata of the prompt \"" + prompt.id + "\" must be an object");
  const PromptCheck check = PromptStore::validate(prompt.text);
  if (check.ok) return {};
  return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" is no template: " + check.errors.front());
}

PromptCheck PromptStore::validate(std::string_view text) { return check_fstring(text); }

Result<RenderedPrompt> render_prompt(const PromptTemplate& prompt, const Json& params,
                                     bool throw_on_missing) {
  RenderedPrompt rendered{{}, prompt.id, prompt.version, prompt.hash, {}, 0};
  for (const std::string& name : prompt.required_vars) {
    if (value_of_variable(params, name) == nullptr) rendered.missing.push_back(name);
  }
  auto text = render_fstring(prompt.text, params, rendered.missing);
  if (!text) return fail(std::move(text.error()));
  if (throw_on_missing && !rendered.missing.empty()) {
    return fail(ErrorCode::kInput,
                "the prompt \"" + prompt.id + "\" needs values for " + listed(rendered.missing));
  }
  rendered.text = *std::move(text);
  rendered.tokens_estimate = estimate_tokens(rendered.text);
  return rendered;
}

Result<RenderedPrompt> PromptStore::render(const std::string& id, const Json& params,
                                           const RenderOptions& options) {
  const auto prompt = get(id, options.version);
  if (!prompt) return fail(prompt.error());
  if (*prompt) return render_prompt(**prompt, params, options.throw_on_missing);
  return fail(make_error(
      ErrorCode::kInput, ErrorKind::kNotFound,
      "there is no prompt \"" + id + '"' +
          (options.version.empty() ? "" : " with the version or label \"" + options.version + '"')));
}

}  // namespace praxis
