#include "praxis/models/catalog.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>

#include "models/catalog/data.hpp"
#include "models/catalog/facts.hpp"
#include "models/codec.hpp"

namespace praxis {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

std::shared_ptr<const Catalog> corrected(std::string_view corrections) {
  auto catalog = catalog_with(json(corrections));
  EXPECT_TRUE(catalog) << catalog.error().message;
  return catalog ? *std::move(catalog) : built_in_catalog();
}

std::string mistake(std::string_view corrections) {
  const auto catalog = catalog_with(json(corrections));
  return catalog ? "no mistake was found" : catalog.error().message;
}

TEST(CatalogData, Lines_AreSorted) {
  std::string_view last;
  std::size_t count = 0;
  for (auto lines = catalog_lines(); !lines.empty(); ++count) {
    const std::string_view line = take_line(lines);
    EXPECT_LT(last, line);
    EXPECT_EQ(lines_beginning(catalog_lines(), line), std::string(line) + '\n');
    last = line;
  }
  EXPECT_GT(count, 900U);
}

TEST(CatalogData, LinesWithACommonPrefix_AreFoundTogether) {
  const std::string lines = "a1\nb1\nb2\nb22\nc\n";
  EXPECT_EQ(lines_beginning(lines, "a"), "a1\n");
  EXPECT_EQ(lines_beginning(lines, "b"), "b1\nb2\nb22\n");
  EXPECT_EQ(lines_beginning(lines, "b2"), "b2\nb22\n");
  EXPECT_EQ(lines_beginning(lines, "c"), "c\n");
  EXPECT_EQ(lines_beginning(lines, "0"), "");
  EXPECT_EQ(lines_beginning(lines, "bb"), "");
  EXPECT_EQ(lines_beginning(lines, "d"), "");
  EXPECT_EQ(lines_beginning("", "a"), "");
}

TEST(CatalogData, EveryLine_IsReadCompletely) {
  auto lines = catalog_lines();
  EXPECT_FALSE(json_at(json(take_line(lines)), "sources").get_array().empty()) << "whose data this is";
  while (!lines.empty()) {
    const std::string_view line = take_line(lines);
    EXPECT_TRUE(facts_of_line(line, "chat").known) << line;
  }
}

// Only the codecs know their flags, so this test is what finds an unknown flag in the tables.
TEST(Catalog, EveryProviderAndModel_UsesFlagsKnownToItsProtocol) {
  const auto catalog = built_in_catalog();
  for (const std::string& id : catalog->providers()) {
    const ProviderFacts& provider = *catalog->provider(id);
    const auto plain = make_codec(provider.api, {id, "x", provider.dialect, {}});
    EXPECT_TRUE(plain) << id << ": " << plain.error().message;
    std::set<std::string> seen;
    for (const ModelFacts& model : catalog->models(id)) {
      EXPECT_TRUE(model.known) << id << ':' << model.id;
      if (!seen.insert(to_json_text(model.dialect)).second) continue;
      const auto codec = make_codec(provider.api, {id, model.id, dialect_of(provider, model), model});
      EXPECT_TRUE(codec) << id << ':' << model.id << ": " << codec.error().message;
    }
  }
}

TEST(Catalog, DocumentedFlags_AreKnownToTheirProtocol) {
  std::ifstream page(PRAXIS_SOURCE_DIR "/docs/providers.md");
  std::string api;
  std::size_t flags = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) api.clear();
    if (line.starts_with("### ")) api = line.substr(4);
    if (api.empty() || !line.starts_with("| `")) continue;
    const std::string flag = line.substr(3, line.find('`', 3) - 3);
    const auto codec =
        make_codec(api, {"x", "x", JsonObject{{flag, JsonArray{nullptr}}}, {}});  // invalid for every flag
    ASSERT_FALSE(codec) << flag;
    EXPECT_EQ(codec.error().message.find("unknown"), std::string::npos) << codec.error().message;
    ++flags;
  }
  EXPECT_GT(flags, 40U);
}

TEST(Catalog, EveryProviderLine_IsValid) {
  std::size_t count = 0;
  for (auto lines = provider_lines(); !lines.empty(); ++count) take_line(lines);
  const auto catalog = built_in_catalog();
  EXPECT_EQ(catalog->providers().size(), count);
  for (const std::string& id : catalog->providers()) {
    const ProviderFacts& facts = *catalog->provider(id);
    EXPECT_FALSE(facts.name.empty()) << id;
    EXPECT_FALSE(facts.base_url.empty() && facts.base_url_env.empty()) << id;
    EXPECT_TRUE(facts.base_url.starts_with("https://") || facts.base_url.starts_with("http://127.0.0.1:") ||
                facts.base_url.empty())
        << id << " would send a key in the clear";
  }
}

TEST(Catalog, Model_HasTheFactsOfItsProvidersCatalogue) {
  const auto catalog = built_in_catalog();
  const ModelFacts facts = catalog->model("openai-chat", "gpt-5-mini");
  EXPECT_TRUE(facts.known);
  EXPECT_EQ(facts.provider, "openai-chat");
  EXPECT_EQ(facts.id, "gpt-5-mini");
  EXPECT_EQ(facts.context_window, 400'000);
  EXPECT_TRUE(facts.images);
  EXPECT_FALSE(facts.temperature);
  EXPECT_EQ(facts.reasoning_levels.at("max"), "") << "not offered";
}

TEST(Catalog, ClaudeModels_CountTokensAsTheirVendorDocuments) {
  const auto counting = [](const char* id) { return built_in_catalog()->model("anthropic", id).counting; };
  EXPECT_EQ(counting("claude-sonnet-4-6"), (TokenCounting{.percent = 100, .tool_tokens = 497}));
  EXPECT_EQ(counting("claude-sonnet-5"), (TokenCounting{.percent = 130, .tool_tokens = 354}));
  EXPECT_EQ(built_in_catalog()->model("openai", "gpt-5-mini").counting, TokenCounting{});
}

TEST(Catalog, ClaudeModelsWithServerSideCompaction_RequestIt) {
  const auto edit = [](const char* id) {
    return json_string(built_in_catalog()->model("anthropic", id).dialect, "compaction_edit");
  };
  EXPECT_EQ(edit("claude-sonnet-4-6"), "compact_20260112");
  EXPECT_EQ(edit("claude-haiku-4-5"), "");
}

TEST(Catalog, DatedName_HasTheFactsOfTheUndatedName) {
  const auto catalog = built_in_catalog();
  for (const auto* id :
       {"gpt-5-mini-2031-08-07", "gpt-5-mini-20310807", "gpt-5-mini@20310807", "gpt-5-mini-latest"}) {
    const ModelFacts facts = catalog->model("openai", id);
    EXPECT_TRUE(facts.known) << id;
    EXPECT_EQ(facts.id, id);
  }
  EXPECT_FALSE(catalog->model("openai", "gpt-5-mini-2031").known);
}

TEST(Catalog, UnknownModel_HasConservativeDefaults) {
  for (const auto* provider : {"openai", "vllm", "nobody"}) {
    const ModelFacts facts = built_in_catalog()->model(provider, "house-model");
    EXPECT_FALSE(facts.known);
    EXPECT_EQ(facts.provider, provider);
    EXPECT_EQ(facts.context_window, 0);
    EXPECT_TRUE(facts.prices.empty());
    EXPECT_FALSE(facts.images);
  }
}

TEST(Catalog, Facts_SurviveARoundTripThroughJson) {
  const ModelFacts facts = built_in_catalog()->model("google", "gemini-2.5-pro");
  ASSERT_EQ(facts.prices.size(), 2U) << "a price for long contexts";
  Json table = to_json(facts);
  for (const char* name : {"provider", "id", "known"}) table.get_object().erase(name);
  ModelFacts read;
  ASSERT_TRUE(correct(read, table, "x"));
  EXPECT_EQ(read.prices[1].above, 200'000);
  read.provider = facts.provider;
  read.id = facts.id;
  EXPECT_EQ(to_json(read), to_json(facts));
}

TEST(CatalogWith, UserDefinedProvider_WorksLikeABuiltInOne) {
  const auto catalog = corrected(R"({"providers": {"house": {
      "api": "chat", "base_url": "https://llm.example/v1", "key_env": "HOUSE_KEY", "auth": "x-key",
      "headers": {"x-team": "a"}, "catalog": "openai", "models": ["gpt-5", "own"]}}})");
  const ProviderFacts* house = catalog->provider("house");
  ASSERT_NE(house, nullptr);
  EXPECT_EQ(house->key_env, std::vector<std::string>{"HOUSE_KEY"});
  EXPECT_EQ(house->headers.at("x-team"), "a");
  const auto models = catalog->models("house");
  ASSERT_EQ(models.size(), 2U);
  EXPECT_TRUE(models[0].known);
  EXPECT_FALSE(models[1].known);
  EXPECT_EQ(built_in_catalog()->provider("house"), nullptr);
}

TEST(CatalogWith, Correction_ChangesNothingElse) {
  const auto catalog = corrected(R"({
      "providers": {"openai": {"base_url": "https://eu.api.openai.com/v1"}},
      "models": {"openai:gpt-5-mini": {"context_window": 1000, "tool_tokens": 90, "reasoning_levels": {"max": "xhigh"}},
                 "ollama:llava:7b": {"images": true, "prices": [{"input": 0.5, "output": 1.25}]}}})");
  EXPECT_EQ(catalog->provider("openai")->base_url, "https://eu.api.openai.com/v1");
  EXPECT_EQ(catalog->provider("openai")->key_env, std::vector<std::string>{"OPENAI_API_KEY"});
  const ModelFacts mini = catalog->model("openai", "gpt-5-mini");
  EXPECT_EQ(mini.context_window, 1000);
  EXPECT_EQ(mini.max_output, 128'000);
  EXPECT_EQ(mini.counting, (TokenCounting{.percent = 100, .tool_tokens = 90}));
  EXPECT_EQ(mini.reasoning_levels.at("max"), "xhigh");
  EXPECT_EQ(mini.reasoning_levels.at("low"), "low");
  const ModelFacts llava = catalog->model("ollama", "llava:7b");
  EXPECT_TRUE(llava.known);
  EXPECT_TRUE(llava.images);
  EXPECT_EQ(llava.prices[0].output.value, 1'250'000);
  EXPECT_EQ(catalog->models("ollama").size(), 1U);
}

TEST(CatalogWith, Error_NamesTheField) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"providers": {"x": {"api": "chat"}}})", "\"providers.x.base_url\" is missing"},
      {R"({"providers": {"x": {"api": "soap", "base_url": "http://h"}}})",
       "\"providers.x.api\" must be chat, responses, messages, gemini or ollama"},
      {R"({"providers": {"openai": {"base_urll": "http://h"}}})",
       "unknown key \"providers.openai.base_urll\"; did you mean \"base_url\"?"},
      {R"({"providers": {"openai": {"headers": {"a": 1}}}})",
       "\"providers.openai.headers\" must be a table of strings"},
      {R"({"providers": {"a:b": {}}})",
       "\"providers.a:b\": a provider id must be a non-empty string without a colon"},
      {R"({"models": {"openai": {}}})", "\"models.openai\" must be PROVIDER:MODEL with a known provider"},
      {R"({"models": {"openai:x": {"tools": "yes"}}})", "\"models.openai:x.tools\" must be true or false"},
      {R"({"models": {"openai:x": {"token_percent": 5}}})",
       "\"models.openai:x.token_percent\" must be a percentage from 25 to 400"},
      {R"({"models": {"openai:x": {"prices": [{"input": 2000}]}}})",
       "\"models.openai:x.prices[0].input\" must be US dollars per million tokens, from 0 to 1000"},
      {R"({"models": {"openai:x": {"prices": [{"input": 1}, {"input": 2}]}}})",
       "\"models.openai:x.prices\" must start with the base price, followed by tiers in order of rising "
       "\"above\""},
  };
  for (const auto& [corrections, message] : kCases) EXPECT_EQ(mistake(corrections), message);
  EXPECT_TRUE(mistake(R"({"providers": {"openai": {"dialect": {"speed": 1}}}})")
                  .starts_with("\"providers.openai.dialect\": "));
}

// ---- prices ---------------------------------------------------------------------------------------------

constexpr MicroUsd usd(double amount) { return {static_cast<std::int64_t>(amount * 1e6 + 0.5)}; }

ModelFacts priced() {
  return {.prices = {{.input = usd(3), .output = usd(15), .cache_read = usd(0.3), .cache_write = usd(3.75)},
                     {.above = 200'000,
                      .input = usd(6),
                      .output = usd(22.5),
                      .cache_read = usd(0.6),
                      .cache_write = usd(7.5)}}};
}

TEST(PriceOf, CachedInput_HasItsOwnPrices) {
  EXPECT_EQ(price_of(priced(), {.input = 1000, .output = 100}), MicroUsd{3000 + 1500});
  EXPECT_EQ(price_of(priced(), {.input = 1000, .cache_read = 600, .cache_write = 300}),
            MicroUsd{100 * 3 + 180 + 1125});
  EXPECT_EQ(price_of(priced(), {.input = 1000, .cache_write = 300, .cache_write_long = 200}),
            MicroUsd{700 * 3 + 375 + 200 * 6})
      << "an hour in the cache costs twice the input";
}

TEST(PriceOf, CacheWithoutAPrice_CostsAsMuchAsInput) {
  const ModelFacts facts{.prices = {{.input = usd(2), .output = usd(8)}}};
  EXPECT_EQ(price_of(facts, {.input = 1000, .cache_read = 500, .cache_write = 400, .cache_write_long = 400}),
            MicroUsd{2000});
}

TEST(PriceOf, Tier_AppliesToTheWholeRequest) {
  EXPECT_EQ(price_of(priced(), {.input = 200'000}), usd(0.6));
  EXPECT_EQ(price_of(priced(), {.input = 200'001}), MicroUsd{1'200'006});
  EXPECT_EQ(price_of(priced(), {.input = 300'000, .output = 1000, .cache_read = 300'000}),
            MicroUsd{180'000 + 22'500});
}

TEST(PriceOf, Cost_IsRoundedOnce) {
  const ModelFacts facts{.prices = {{.input = usd(0.15), .output = usd(0.6), .cache_read = usd(0.075)}}};
  EXPECT_EQ(price_of(facts, {.input = 3}), MicroUsd{0});
  EXPECT_EQ(price_of(facts, {.input = 4}), MicroUsd{1});
  EXPECT_EQ(price_of(facts, {.input = 3, .output = 1}), MicroUsd{1}) << "0.45 and 0.6, not 0 and 1 and less";
  EXPECT_EQ(price_of(facts, {.input = 4, .cache_read = 2}), MicroUsd{0}) << "0.3 and 0.15";
}

TEST(PriceOf, ImplausibleUsage_NeitherOverflowsNorGoesNegative) {
  EXPECT_EQ(price_of({}, {.input = 1000, .output = 1000}), MicroUsd{});
  EXPECT_EQ(price_of(priced(), {.input = -5, .output = -5, .cache_read = 10}), MicroUsd{});
  EXPECT_EQ(price_of(priced(), {.input = 100, .cache_read = 500}), MicroUsd{30});
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  ModelFacts dearest{.prices = {{.input = usd(1000), .output = usd(1000), .cache_write = usd(1000)}}};
  EXPECT_GT(
      price_of(dearest, {.input = kMost, .output = kMost, .cache_write = kMost, .cache_write_long = kMost}),
      usd(1000));
}

}  // namespace
}  // namespace praxis
