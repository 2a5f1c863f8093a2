// Looks up facts in the compiled tables and applies a user's corrections.
#include "praxis/models/catalog.hpp"

#include <algorithm>
#include <utility>

#include "models/catalog/data.hpp"
#include "models/catalog/facts.hpp"
#include "models/codec.hpp"

namespace praxis {
namespace {

using Providers = std::map<std::string, ProviderFacts, std::less<>>;
/// Corrections by provider and model, applied to the facts of the table.
using Corrections = std::map<std::pair<std::string, std::string>, Json>;

/// The prefix of all lines of a provider's models.
std::string line_start(const ProviderFacts& provider) {
  std::string start = "{\"provider\":";
  append_json_string(start, provider.catalog.empty() ? provider.id : provider.catalog);
  return start + ",\"id\":";
}

/// The name of a model without the date or `latest` at its end; empty if it has no such suffix.
std::string_view undated(std::string_view id) {
  for (const std::string_view form : {"-9999-99-99", "-99999999", "@99999999", "-latest"}) {
    if (id.size() <= form.size()) continue;
    const std::string_view end = id.substr(id.size() - form.size());
    const bool fits = std::ranges::equal(
        end, form, [](char c, char pattern) { return pattern == '9' ? c >= '0' && c <= '9' : c == pattern; });
    if (fits) return id.substr(0, id.size() - form.size());
  }
  return {};
}

class Table final : public Catalog {
 public:
  explicit Table(Providers providers, Corrections corrections = {})
      : providers_(std::move(providers)), corrections_(std::move(corrections)) {}

  const ProviderFacts* provider(std::string_view id) const override {
    const auto found = providers_.find(id);
    return found == providers_.end() ? nullptr : &found->second;
  }

  std::vector<std::string> providers() const override {
    std::vector<std::string> ids;
    for (const auto& [id, facts] : providers_) ids.push_back(id);
    return ids;
  }

  ModelFacts model(std::string_view provider, std::string_view id) const override {
    ModelFacts facts = listed(provider, id);
    if (const std::string_view shorter = undated(id); !facts.known && !shorter.empty()) {
      facts = listed(provider, shorter);
    }
    facts.id = id;
    corrected(facts);
    return facts;
  }

  std::vector<ModelFacts> models(std::string_view provider) const override {
    const ProviderFacts* place = this->provider(provider);
    if (!place) return {};
    std::vector<ModelFacts> all;
    for (const std::string& id : ids_of(*place)) all.push_back(model(place->id, id));
    return all;
  }

  const Providers& all_providers() const { return providers_; }

 private:
  /// The facts of the compiled table, without corrections.
  ModelFacts listed(std::string_view provider, std::string_view id) const {
    ModelFacts facts;
    if (const ProviderFacts* place = this->provider(provider)) {
      std::string start = line_start(*place);
      append_json_string(start, id);
      auto lines = lines_beginning(catalog_lines(), start);
      if (!lines.empty()) facts = facts_of_line(take_line(lines), place->api);
    }
    facts.provider = provider;
    facts.id = id;
    return facts;
  }

  void corrected(ModelFacts& facts) const {
    const auto found = corrections_.find({facts.provider, facts.id});
    if (found != corrections_.end()) facts.known = correct(facts, found->second, facts.id).has_value();
  }

  std::vector<std::string> ids_of(const ProviderFacts& place) const {
    std::vector<std::string> ids = place.models;
    if (ids.empty()) {
      auto lines = lines_beginning(catalog_lines(), line_start(place));
      while (!lines.empty()) ids.push_back(facts_of_line(take_line(lines), place.api).id);
      for (const auto& [name, table] : corrections_) {
        if (name.first == place.id) ids.push_back(name.second);
      }
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
  }

  const Providers providers_;
  const Corrections corrections_;
};

Providers read_providers() {
  Providers providers;
  for (auto lines = provider_lines(); !lines.empty();) {
    Json table = parse_json(take_line(lines)).value_or(nullptr);
    ProviderFacts facts{.id = json_string(table, "id")};
    if (JsonObject* object = table.if_object()) object->erase("id");
    if (correct(facts, table, facts.id)) providers.emplace(facts.id, std::move(facts));
  }
  return providers;
}

const std::shared_ptr<const Table>& compiled_table() {
  static const auto kTable = std::make_shared<const Table>(read_providers());
  return kTable;
}

/// Lets the codec check the flags, because only the codec knows them.
Status check_flags(const ProviderFacts& provider, const ModelFacts& model, const std::string& path) {
  auto codec = make_codec(provider.api, {provider.id, model.id, dialect_of(provider, model), model});
  if (!codec) return fail(ErrorCode::kInput, '"' + path + ".dialect\": " + codec.error().message);
  return {};
}

Status correct_provider(Providers& providers, const std::string& id, const Json& table) {
  const std::string path = "providers." + id;
  if (id.empty() || id.find(':') != std::string::npos) {
    return fail(ErrorCode::kInput,
                '"' + path + "\": a provider id must be a non-empty string without a colon");
  }
  ProviderFacts& facts = providers[id];
  if (facts.id.empty()) facts = {.id = id, .name = id};
  if (auto read = correct(facts, table, path); !read) return read;
  if (facts.base_url.empty() && facts.base_url_env.empty()) {
    return fail(ErrorCode::kInput, '"' + path + ".base_url\" is missing");
  }
  return check_flags(facts, {.provider = id}, path);
}

}  // namespace

std::shared_ptr<const Catalog> built_in_catalog() { return compiled_table(); }

Result<std::shared_ptr<const Catalog>> catalog_with(const Json& corrections) {
  if (corrections.is_null()) return built_in_catalog();
  Providers providers = compiled_table()->all_providers();
  if (const JsonObject* tables = json_at(corrections, "providers").if_object()) {
    for (const auto& [id, table] : *tables) {
      if (auto read = correct_provider(providers, id, table); !read) return fail(read.error());
    }
  }
  Corrections models;
  if (const JsonObject* tables = json_at(corrections, "models").if_object()) {
    for (const auto& [name, table] : *tables) {
      const std::string path = "models." + std::string(name);
      const std::size_t colon = std::min(name.find(':'), name.size());
      const std::string provider = name.substr(0, colon), id = name.substr(std::min(colon + 1, name.size()));
      const auto place = providers.find(provider);
      if (place == providers.end() || id.empty()) {
        return fail(ErrorCode::kInput, '"' + path + "\" must be PROVIDER:MODEL with a known provider");
      }
      ModelFacts facts = compiled_table()->model(provider, id);
      if (auto read = correct(facts, table, path); !read) return fail(read.error());
      if (auto checked = check_flags(place->second, facts, path); !checked) return fail(checked.error());
      models.emplace(std::pair(provider, id), table);
    }
  }
  return std::make_shared<const Table>(std::move(providers), std::move(models));
}

}  // namespace praxis
