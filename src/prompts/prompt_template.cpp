// Templates as values: their JSON form, their checks, and how one is rendered.
#include <algorithm>
#include <array>
#include <utility>

#include "praxis/base/digest.hpp"
#include "praxis/core/history.hpp"
#include "praxis/prompts/template_engines.hpp"
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

constexpr std::array<std::string_view, 4> kEngineNames{"fstring", "mustache", "handlebars", "liquid"};

/// A variable that must be given, from `NAME` or `NAME:TYPE`.
struct RequiredVariable {
  std::string name, type;
};

RequiredVariable required_from(const std::string& text) {
  const std::size_t at = std::min(text.find(':'), text.size());
  return {text.substr(0, at), at == text.size() ? "" : text.substr(at + 1)};
}

constexpr std::array<std::string_view, 5> kVariableTypes{"string", "number", "boolean", "list", "object"};

bool has_type(const Json& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "list") return value.is_array();
  return type != "object" || value.is_object();
}

std::unexpected<Error> no_engines(PromptEngine engine) {
  return fail(ErrorCode::kInput, "this program renders no templates of the engine \"" +
                                     std::string(to_string(engine)) + "\"; it knows fstring");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "\"" : ", \"").append(name).append("\"");
  return text;
}

}  // namespace

std::string_view to_string(PromptEngine engine) { return kEngineNames.at(std::to_underlying(engine)); }

std::optional<PromptEngine> prompt_engine_named(std::string_view name) {
  const auto found = std::ranges::find(kEngineNames, name);
  if (found == kEngineNames.end()) return std::nullopt;
  return static_cast<PromptEngine>(found - kEngineNames.begin());
}

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
  const auto engine = prompt_engine_named(json_string(json, "engine", "fstring"));
  if (!engine) {
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" is written for the engine \"" +
                                       json_string(json, "engine") + "\", which this Praxis does not know");
  }
  prompt.engine = *engine;
  prompt.required_vars = words_in(json_at(json, "required_vars"));
  prompt.tags = words_in(json_at(json, "tags"));
  prompt.metadata = json_at(json, "metadata");
  return prompt;
}

std::string hash_of_prompt(const PromptTemplate& prompt) {
  return digest_of(to_canonical_json(content_of(prompt))).hex();
}

Status check_prompt_id(const std::string& id) {
  if (is_id(id)) return {};
  return fail(
      ErrorCode::kInput,
      "the id of a prompt has letters, digits, _, -, . and / only, begins with neither . nor /, and is "
      "at most 256 bytes long");
}

Status check_prompt(const PromptTemplate& prompt, TemplateEngines* engines) {
  if (auto checked = check_prompt_id(prompt.id); !checked) return checked;
  if (prompt.text.size() > kMaxPromptText)
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" has more than 1 MiB");
  if (prompt.required_vars.size() > kMaxPromptList || prompt.tags.size() > kMaxPromptList)
    return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" has more than 256 variables or tags");
  for (const std::string& each : prompt.required_vars) {
    const std::string type = required_from(each).type;
    if (!type.empty() && std::ranges::find(kVariableTypes, type) == kVariableTypes.end())
      return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" requires \"" + each +
                                         "\"; a type is string, number, boolean, list or object");
  }
  if (!prompt.metadata.is_null() && !prompt.metadata.is_object())
    return fail(ErrorCode::kInput, "the metadata of the prompt \"" + prompt.id + "\" must be an object");
  if (prompt.engine != PromptEngine::kFString && engines == nullptr) return no_engines(prompt.engine);
  const auto check = prompt.engine == PromptEngine::kFString ? Result<PromptCheck>(check_fstring(prompt.text))
                                                             : engines->check(prompt.engine, prompt.text);
  if (!check) return fail(check.error());
  if (check->ok) return {};
  return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" is no template: " + check->errors.front());
}

PromptCheck PromptStore::validate(std::string_view text) { return check_fstring(text); }

namespace {

/// Adds the required variables that are missing to `missing`. Error `kInput`: one has another type.
Status check_required(const PromptTemplate& prompt, const Json& params, std::vector<std::string>& missing) {
  for (const std::string& each : prompt.required_vars) {
    const auto [name, type] = required_from(each);
    const Json* value = value_of_variable(params, name);
    if (value == nullptr) {
      missing.push_back(name);
    } else if (!has_type(*value, type)) {
      return fail(ErrorCode::kInput, "the prompt \"" + prompt.id + "\" needs a value of the type " + type +
                                         " for \"" + name + '"');
    }
  }
  return {};
}

/// The partials of a prompt are prompts of its store.
PartialSource partials_of(PromptStore& store, PromptEngine engine, std::vector<std::string>& used) {
  return [&store, engine, &used](const std::string& name) -> Result<std::optional<std::string>> {
    const std::size_t at = std::min(name.find('@'), name.size());
    const std::string version = at == name.size() ? "" : name.substr(at + 1);
    auto found = store.get(name.substr(0, at), version);
    if (!found) return fail(std::move(found.error()));
    if (!*found) return std::nullopt;
    if ((*found)->engine != engine)
      return fail(ErrorCode::kInput, "the partial \"" + name + "\" is written for the engine \"" +
                                         std::string(to_string((*found)->engine)) + '"');
    used.push_back((*found)->id + '@' + (*found)->version);
    return std::move((*found)->text);
  };
}

Result<RenderedPrompt> render_prompt(PromptStore& store, TemplateEngines* engines,
                                     const PromptTemplate& prompt, const Json& params,
                                     bool throw_on_missing) {
  RenderedPrompt rendered{{}, prompt.id, prompt.version, prompt.hash, {}, {}, 0};
  if (auto checked = check_required(prompt, params, rendered.missing); !checked)
    return fail(std::move(checked.error()));
  const bool is_fstring = prompt.engine == PromptEngine::kFString;
  if (!is_fstring && engines == nullptr) return no_engines(prompt.engine);
  auto text = is_fstring ? render_fstring(prompt.text, params, rendered.missing)
                         : engines->render(prompt.engine, prompt.text, params,
                                           partials_of(store, prompt.engine, rendered.partials));
  if (!text) return fail(std::move(text.error()));
  if (throw_on_missing && !rendered.missing.empty()) {
    return fail(ErrorCode::kInput,
                "the prompt \"" + prompt.id + "\" needs values for " + listed(rendered.missing));
  }
  rendered.text = *std::move(text);
  rendered.tokens_estimate = estimate_tokens(rendered.text);
  return rendered;
}

}  // namespace

Result<RenderedPrompt> PromptStore::render(const std::string& id, const Json& params,
                                           const RenderOptions& options) {
  const auto prompt = get(id, options.version);
  if (!prompt) return fail(prompt.error());
  if (*prompt) return render_prompt(*this, engines_.get(), **prompt, params, options.throw_on_missing);
  return fail(make_error(
      ErrorCode::kInput, ErrorKind::kNotFound,
      "there is no prompt \"" + id + '"' +
          (options.version.empty() ? "" : " with the version or label \"" + options.version + '"')));
}

}  // namespace praxis
