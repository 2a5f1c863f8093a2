#include "models/catalog/facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/field_reader.hpp"

namespace praxis {
namespace {

constexpr double kMostUsd = 1000;  // per million tokens; keeps `price_of` within 64 bits
constexpr std::array kProtocols{"chat", "gemini", "messages", "ollama", "responses"};

/// The price fields by their names in JSON, in US dollars.
constexpr std::array<std::pair<std::string_view, MicroUsd Prices::*>, 4> kPriceFields{{
    {"input", &Prices::input},
    {"output", &Prices::output},
    {"cache_read", &Prices::cache_read},
    {"cache_write", &Prices::cache_write},
}};

bool is_price(const Json& value) {
  const double usd = value.is_number() ? value.to_number<double>() : -1;
  return usd >= 0 && usd <= kMostUsd;
}

Result<Prices> prices_from(const Json& table, const std::string& path) {
  Prices prices;
  FieldReader fields(table, path);
  fields.tokens("above", prices.above);
  for (const auto& [name, price] : kPriceFields) {
    const Json& value = fields.any(name);
    if (value.is_null()) continue;
    if (!is_price(value)) {
      fields.refuse(name, "US dollars per million tokens, from 0 to 1000");
    } else {
      prices.*price = {std::llround(value.to_number<double>() * 1e6)};
    }
  }
  if (auto read = fields.finish(); !read) return fail(read.error());
  return prices;
}

Result<std::vector<Prices>> price_list(const Json& list, const std::string& path) {
  if (!list.is_array()) return fail(ErrorCode::kInput, '"' + path + "\" must be an array of tables");
  std::vector<Prices> prices;
  for (const Json& table : list.get_array()) {
    auto read = prices_from(table, path + '[' + std::to_string(prices.size()) + ']');
    if (!read) return fail(read.error());
    if (prices.empty() ? read->above != 0 : read->above <= prices.back().above) {
      return fail(
          ErrorCode::kInput,
          '"' + path + "\" must start with the base price, followed by tiers in order of rising \"above\"");
    }
    prices.push_back(*read);
  }
  return prices;
}

void read_counting(FieldReader& fields, TokenCounting& counting) {
  constexpr std::int64_t kLeast = 25, kMost = 400;
  std::int64_t percent = counting.percent;
  fields.tokens("token_percent", percent);
  if (percent < kLeast || percent > kMost) {
    fields.refuse("token_percent", "a percentage from 25 to 400");
  } else {
    counting.percent = percent;
  }
  fields.tokens("tool_tokens", counting.tool_tokens);
}

JsonArray prices_json(const std::vector<Prices>& list) {
  JsonArray out;
  for (const Prices& prices : list) {
    JsonObject table;
    if (prices.above != 0) table["above"] = prices.above;
    for (const auto& [name, price] : kPriceFields) {
      if (const MicroUsd value = prices.*price; value.value != 0) table[name] = value.usd();
    }
    out.push_back(std::move(table));
  }
  return out;
}

}  // namespace

Status correct(ModelFacts& facts, const Json& table, const std::string& path) {
  FieldReader fields(table, path);
  fields.text("name", facts.name);
  fields.tokens("context_window", facts.context_window);
  fields.tokens("max_output", facts.max_output);
  read_counting(fields, facts.counting);
  fields.flag("tools", facts.tools);
  fields.flag("images", facts.images);
  fields.flag("files", facts.files);
  fields.flag("reasoning", facts.reasoning);
  fields.flag("temperature", facts.temperature);
  fields.flag("structured_output", facts.structured_output);
  fields.text_map("reasoning_levels", facts.reasoning_levels);
  fields.object("dialect", facts.dialect);
  const Json& list = fields.any("prices");
  if (auto read = fields.finish(); !read) return read;
  if (!list.is_null()) {
    auto prices = price_list(list, path + ".prices");
    if (!prices) return fail(prices.error());
    facts.prices = *std::move(prices);
  }
  facts.known = true;
  return {};
}

Status correct(ProviderFacts& facts, const Json& table, const std::string& path) {
  FieldReader fields(table, path);
  fields.text("name", facts.name);
  fields.text("api", facts.api);
  if (std::ranges::find(kProtocols, facts.api) == kProtocols.end()) {
    fields.refuse("api", "chat, responses, messages, gemini or ollama");
  }
  fields.text("base_url", facts.base_url);
  fields.text("base_url_env", facts.base_url_env);
  fields.texts("key_env", facts.key_env);
  fields.text("key_file", facts.key_file);
  fields.flag("needs_key", facts.needs_key);
  fields.text("auth", facts.auth);
  fields.text_map("headers", facts.headers);
  fields.text("catalog", facts.catalog);
  fields.texts("models", facts.models);
  fields.object("dialect", facts.dialect);
  return fields.finish();
}

ModelFacts facts_of_line(std::string_view line, std::string_view api) {
  Json table = parse_json(line).value_or(nullptr);
  ModelFacts facts;
  if (!table.is_object()) return facts;
  JsonObject& object = table.get_object();
  facts.provider = json_string(table, "provider");
  facts.id = json_string(table, "id");
  object.erase("provider");
  object.erase("id");
  if (Json* dialects = object.if_contains("dialect")) {
    Json flags = json_at(*dialects, api);
    object.erase("dialect");
    if (flags.is_object()) object["dialect"] = std::move(flags);
  }
  facts.known = correct(facts, table, facts.id).has_value();
  return facts;
}

Json dialect_of(const ProviderFacts& provider, const ModelFacts& model) {
  if (!model.dialect.is_object()) return provider.dialect;
  JsonObject flags = provider.dialect.is_object() ? provider.dialect.get_object() : JsonObject{};
  for (const auto& [flag, value] : model.dialect.get_object()) flags[flag] = value;
  return flags;
}

Json to_json(const ModelFacts& facts) {
  JsonObject out{{"provider", facts.provider}, {"id", facts.id}, {"known", facts.known}};
  if (!facts.name.empty()) out["name"] = facts.name;
  if (facts.context_window != 0) out["context_window"] = facts.context_window;
  if (facts.max_output != 0) out["max_output"] = facts.max_output;
  if (facts.counting.percent != TokenCounting{}.percent) out["token_percent"] = facts.counting.percent;
  if (facts.counting.tool_tokens != 0) out["tool_tokens"] = facts.counting.tool_tokens;
  if (!facts.prices.empty()) out["prices"] = prices_json(facts.prices);
  out["tools"] = facts.tools;
  out["images"] = facts.images;
  out["files"] = facts.files;
  out["reasoning"] = facts.reasoning;
  out["temperature"] = facts.temperature;
  out["structured_output"] = facts.structured_output;
  if (!facts.reasoning_levels.empty()) {
    JsonObject levels;
    for (const auto& [level, wire] : facts.reasoning_levels) levels[level] = wire;
    out["reasoning_levels"] = std::move(levels);
  }
  if (!facts.dialect.is_null()) out["dialect"] = facts.dialect;
  return out;
}

}  // namespace praxis
