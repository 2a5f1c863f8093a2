#include "wire/endpoint.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace praxis::wire {
namespace {

std::string_view path_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  while (url.ends_with('/')) url.remove_suffix(1);
  return url;
}

std::string_view api_of_url(std::string_view url) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kEnds{
      {{"/chat/completions", "chat"},
       {"/responses", "responses"},
       {"/messages", "messages"},
       {":rawPredict", "messages"},
       {":streamRawPredict", "messages"},
       {":generateContent", "gemini"},
       {":streamGenerateContent", "gemini"},
       {"/api/chat", "ollama"},
       {"/completions", "chat"}}};
  const std::string_view path = path_of(url);
  const auto hit = std::ranges::find_if(kEnds, [&](const auto& end) { return path.ends_with(end.first); });
  return hit == kEnds.end() ? std::string_view{} : hit->second;
}

/// Returns the first JSON value of a body, in any framing.
Json first_json(std::string_view body) {
  if (auto whole = parse_json(body)) {
    const JsonArray* list = whole->if_array();
    return list != nullptr && !list->empty() ? list->front() : *whole;
  }
  while (!body.empty()) {
    std::string_view line = body.substr(0, body.find_first_of("\r\n"));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    if (line.starts_with("data:")) line.remove_prefix(5);
    if (auto json = parse_json(line); json && json->is_object()) return *std::move(json);
  }
  return nullptr;
}

std::string_view api_of_response(std::string_view body) {
  const Json json = first_json(body);
  const auto has = [&](std::string_view key) { return !json_at(json, key).is_null(); };
  const std::string_view type = json_text(json, "type");
  if (type.starts_with("response.") || json_text(json, "object") == "response") return "responses";
  if (type == "message_start" || type == "message" || has("stop_reason") || type == "error")
    return "messages";
  if (has("candidates") || has("promptFeedback") || has("usageMetadata")) return "gemini";
  if (has("done") && !has("choices")) return "ollama";
  return "chat";
}

std::string_view api_of(const Exchange& exchange) {
  if (const auto api = api_of_url(exchange.request.url); !api.empty()) return api;
  if (!json_at(exchange.request.body, "contents").is_null()) return "gemini";
  if (!json_at(exchange.request.body, "input").is_null()) return "responses";
  return api_of_response(exchange.response.body);
}

/// Whether `url` begins with a base URL whose `{NAME}` parts match any text.
bool begins_with(std::string_view url, std::string_view base) {
  while (base.ends_with('/')) base.remove_suffix(1);
  while (!base.empty()) {
    const std::size_t brace = base.find('{');
    const std::string_view fixed = base.substr(0, brace);
    if (!url.starts_with(fixed)) return false;
    url.remove_prefix(fixed.size());
    if (brace == std::string_view::npos) return true;
    base.remove_prefix(std::min(base.size(), base.find('}') + 1));
    const std::size_t next = url.find(base.substr(0, base.find('{')));
    if (next == std::string_view::npos) return false;
    url.remove_prefix(next);
  }
  return true;
}

std::string_view first_word(std::string_view id) { return id.substr(0, id.find('-')); }

/// Rates how well a provider fits; 0: not at all.
std::size_t fit_of(const ProviderFacts& provider, std::string_view url, std::string_view folder) {
  if (url.contains("://")) {
    return !provider.base_url.empty() && begins_with(url, provider.base_url) ? provider.base_url.size() : 0;
  }
  if (folder == provider.id || folder.starts_with(provider.id + '-')) return provider.id.size();
  return first_word(folder) == first_word(provider.id) ? 1 : 0;  // another endpoint of the same vendor
}

const ProviderFacts* find_provider(const Catalog& catalog, std::string_view api, std::string_view url,
                                   std::string_view folder) {
  constexpr std::string_view kCompatible = "compat-";
  if (folder.starts_with(kCompatible)) folder.remove_prefix(kCompatible.size());
  if (folder == "gemini") folder = "google";
  if (folder == "gemini-vertex") folder = "vertex";
  const ProviderFacts* best = nullptr;
  std::size_t best_fit = 0;
  const std::vector<std::string> ids = catalog.providers();
  for (const std::string_view place : {url, std::string_view{}}) {  // by the folder if no URL is known
    for (const std::string& id : ids) {
      const ProviderFacts* facts = catalog.provider(id);
      if (facts == nullptr || facts->api != api) continue;
      if (const std::size_t fit = fit_of(*facts, place, folder); fit > best_fit) {
        best = facts;
        best_fit = fit;
      }
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

std::string model_of(const Exchange& exchange) {
  if (std::string model = json_string(exchange.request.body, "model"); !model.empty()) return model;
  const std::string_view path = path_of(exchange.request.url);
  constexpr std::string_view kModels = "/models/";
  const std::size_t at = path.rfind(kModels);
  if (at == std::string_view::npos) return "recorded";
  return std::string(path.substr(at + kModels.size(), path.rfind(':') - at - kModels.size()));
}

Json overlaid(const Json& flags, const Json& more) {
  if (!more.is_object()) return flags;
  JsonObject out = flags.is_object() ? flags.get_object() : JsonObject{};
  for (const auto& [name, value] : more.get_object()) out[name] = value;
  return out;
}

}  // namespace

Result<RecordedEndpoint> recognise(const Exchange& exchange, const std::string& folder,
                                   const Catalog& catalog) {
  RecordedEndpoint out;
  out.api = api_of(exchange);
  const ProviderFacts* provider = find_provider(catalog, out.api, exchange.request.url, folder);
  out.target.provider = provider != nullptr ? provider->id : "recorded";
  out.target.model = model_of(exchange);
  out.target.facts = catalog.model(out.target.provider, out.target.model);
  if (provider != nullptr) out.target.dialect = overlaid(provider->dialect, out.target.facts.dialect);
  auto codec = make_codec(out.api, out.target);
  if (!codec) {
    out.target.dialect = nullptr;
    codec = make_codec(out.api, out.target);
  }
  if (!codec) return fail(codec.error());
  out.codec = *std::move(codec);
  return out;
}

}  // namespace praxis::wire
