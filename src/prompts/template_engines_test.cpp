// The engines Mustache, Handlebars and Liquid: what they render, and what no template reaches. With public
// suites of their own, which PRAXIS_CORPORA names.
#include "praxis/prompts/template_engines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/testing/missing_part.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::shared_ptr<TemplateEngines>& engines() {
  static const auto all = javascript_templates(fixed_environment(1));
  return all;
}

class Templates : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto check = engines()->check(PromptEngine::kMustache, "");
    if (!check && check.error().message.contains("built without")) PRAXIS_MISSING_PART(check.error().message);
  }
  static std::string text_of(PromptEngine engine, const std::string& text, const Json& values,
                             const PartialSource& partial = nullptr) {
    auto rendered = engines()->render(engine, text, values, partial);
    return rendered ? *rendered : "error: " + rendered.error().message;
  }
};

constexpr auto kMustache = PromptEngine::kMustache;
constexpr auto kHandlebars = PromptEngine::kHandlebars;
constexpr auto kLiquid = PromptEngine::kLiquid;

TEST_F(Templates, EachEngine_RendersItsLanguage) {
  const Json values{{"who", "Ann"}, {"list", {1, 2, 3}}, {"on", true}, {"of", {{"a", "b"}}}};
  EXPECT_EQ(
      text_of(kMustache, "Hi {{who}}{{#list}}, {{.}}{{/list}}{{^on}}!{{/on}} {{of.a}} {{{of}}}", values),
      R"(Hi Ann, 1, 2, 3 b {"a":"b"})");
  EXPECT_EQ(text_of(kHandlebars, "Hi {{who}}{{#each list}}, {{@index}}:{{this}}{{/each}}{{#if on}}!{{/if}}",
                    values),
            "Hi Ann, 0:1, 1:2, 2:3!");
  EXPECT_EQ(
      text_of(kLiquid, "Hi {{ who | upcase }}{% for i in list %}, {{ i }}{% endfor %} {{ of }}", values),
      R"(Hi ANN, 1, 2, 3 {"a":"b"})");
  EXPECT_EQ(text_of(kLiquid, "{{ who | base64_encode }} {{ 'QW5u' | base64_decode }}", values), "QW5u Ann");
  const std::string letters = "Grüße 日本 😀";
  for (const PromptEngine engine : {kMustache, kHandlebars, kLiquid})
    EXPECT_EQ(text_of(engine, letters + "{{a}}", {{"a", "😀ß"}}), letters + "😀ß");
  EXPECT_EQ(text_of(kMustache, "{{{a}}}", {{"a", "\\ud800 \\\\ud800 \""}}), "\\ud800 \\\\ud800 \"")
      << "no escapes";
  EXPECT_EQ(text_of(kLiquid, "{{ 'a😀' | size }} {{ 'a😀' | split: '' | last }}", {}), "3 \uFFFD");
}

TEST_F(Templates, Value_IsNeverPartOfTheTemplate) {
  const std::string evil = "{{who}} {{{who}}} {% assign a = 1 %}{{#each}} {{> p}} </script>";
  const Json values{{"a", evil}, {"who", "no"}};
  EXPECT_EQ(text_of(kMustache, "{{{a}}}", values), evil);
  EXPECT_EQ(text_of(kHandlebars, "{{{a}}}", values), evil);
  EXPECT_EQ(text_of(kLiquid, "{{ a }}", values), evil);
}

TEST_F(Templates, Template_ReachesOnlyTheValues) {
  const Json values{{"a", JsonObject{}}, {"__proto__", {{"p", "own"}}}};
  for (const char* name : {"constructor", "a.constructor", "a.__proto__", "hasOwnProperty",
                           "a.constructor.constructor", "globalThis", "Duktape", "answer", "process"}) {
    const std::string path = name;
    EXPECT_THAT(text_of(kMustache, "[{{" + path + "}}]", values), ::testing::AnyOf("[]", "[{}]")) << path;
    EXPECT_EQ(text_of(kHandlebars, "[{{" + path + "}}]", values), "[]") << path;
    EXPECT_EQ(text_of(kLiquid, "[{{ " + path + " }}]", values), "[]") << path;
  }
  EXPECT_EQ(text_of(kHandlebars, "[{{lookup a 'constructor'}}]", values), "[]");
  EXPECT_THAT(text_of(kHandlebars,
                      R"({{#with "s" as |s|}}{{#with (s.sub "constructor")}}x{{/with}}{{/with}})", values),
              ::testing::AnyOf(HasSubstr("error:"), ""));
  EXPECT_EQ(text_of(kMustache, "{{__proto__.p}}", values), "own") << "a name as any other";
}

TEST_F(Templates, NextRender_SeesNothingOfTheOneBefore) {
  EXPECT_EQ(text_of(kLiquid, "{% assign x = 1 %}{% increment n %}{{ x }}", {}), "01");
  EXPECT_EQ(text_of(kLiquid, "{{ x }}{% increment n %}", {}), "0");
  EXPECT_EQ(text_of(kLiquid, "{{ 'now' | date: '%s' }}{{ 'a,b,c' | split: ',' | sample }}", {}),
            text_of(kLiquid, "{{ 'now' | date: '%s' }}{{ 'a,b,c' | split: ',' | sample }}", {}));
  EXPECT_EQ(text_of(kLiquid,
                    "{{ 'March 14, 2016' | date: '%b %d, %y' }} {{ '2016-03-14 10:30' | date: '%H' }}", {}),
            "Mar 14, 16 10");
}

TEST_F(Templates, BombsAndLoops_EndAtTheirBounds) {
  const std::string_view too_much = "it needs";
  EXPECT_THAT(
      text_of(kLiquid, "{% for i in (1..100000000) %}{% for j in (1..100000000) %}{% endfor %}{% endfor %}",
              {}),
      HasSubstr(too_much));
  EXPECT_THAT(
      text_of(kLiquid,
              "{% assign a = 'x' %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}{{ a }}",
              {}),
      HasSubstr(too_much));
  const PartialSource itself = [](const std::string&) { return std::optional<std::string>("{{> p}}"); };
  EXPECT_THAT(text_of(kMustache, "{{> p}}", {}, itself), HasSubstr("error:"));
  EXPECT_THAT(text_of(kHandlebars, "{{> p}}", {}, itself), HasSubstr("error:"));
  const PartialSource endless = [](const std::string& name) {
    return std::optional<std::string>("{{> p" + std::to_string(name.size()) + name + "}}");
  };
  EXPECT_THAT(text_of(kMustache, "{{> p}}", {}, endless), HasSubstr("more than 64 partials"));
  std::string tags;
  for (int i = 0; i < 200'000; ++i) tags += "<a";
  EXPECT_THAT(text_of(kLiquid, "{{ t | strip_html | size }}", {{"t", tags}}),
              ::testing::AnyOf("400000", HasSubstr(too_much)));
  const Json large{{"t", std::string(8'400'000, 'x')}};
  EXPECT_THAT(text_of(kMustache, "{{{t}}}", large), HasSubstr("more than 8388608 bytes"));
  EXPECT_EQ(text_of(kMustache, "{{t}}", {{"t", "still there"}}), "still there");
}

TEST_F(Templates, WrongTemplate_NamesTheMistake) {
  for (const auto& [engine, text, word] :
       {std::tuple{kMustache, "{{#a}}", "Unclosed section"},
        std::tuple{kHandlebars, "{{#if a}}", "Parse error"}, std::tuple{kLiquid, "{% if a %}", "not closed"},
        std::tuple{kLiquid, "{{ a | nosuch }}", "undefined filter"}}) {
    const auto check = engines()->check(engine, text);
    ASSERT_TRUE(check);
    EXPECT_FALSE(check->ok) << text;
    EXPECT_THAT(check->errors, ElementsAre(HasSubstr(word)));
    EXPECT_THAT(text_of(engine, text, {}), HasSubstr(word));
  }
}

TEST_F(Templates, Check_NamesTheVariables) {
  EXPECT_THAT(engines()->check(kMustache, "{{a}}{{#b}}{{c}}{{/b}}{{^d}}{{e.f}}{{/d}}{{a}}")->variables,
              ElementsAre("a", "b", "d", "e.f"));
  EXPECT_THAT(engines()
                  ->check(kHandlebars, "{{a}}{{#if b}}{{c.d}}{{/if}}{{#each e}}{{f}}{{/each}}{{lookup g h}}")
                  ->variables,
              ElementsAre("a", "b", "c.d", "e", "g", "h"));
  EXPECT_THAT(engines()
                  ->check(kLiquid, "{{ a.b }}{% for x in c %}{{ x }}{% endfor %}{% assign d = 1 %}{{ d }}")
                  ->variables,
              ElementsAre("a", "c"));
}

TEST_F(Templates, Store_RendersWithPartialsAndTypes) {
  PromptStoreOptions options;
  options.engines = engines();
  const auto store = memory_prompts(std::move(options));
  const auto put = [&](const std::string& id, const std::string& text, PromptEngine engine) {
    PromptTemplate prompt;
    prompt.id = id;
    prompt.text = text;
    prompt.engine = engine;
    prompt.required_vars = {"n:number"};
    return store->put(prompt);
  };
  ASSERT_TRUE(put("parts/sign", "-- {{n}}", kMustache));
  ASSERT_TRUE(put("parts/sign", "== {{n}}", kMustache));
  ASSERT_TRUE(put("plain", "plain", kHandlebars));
  ASSERT_TRUE(put("mail", "Hi {{> parts/sign}} {{> parts/sign@1}}", kMustache));
  const auto rendered = store->render("mail", {{"n", 7}});
  ASSERT_TRUE(rendered) << rendered.error().message;
  EXPECT_EQ(rendered->text, "Hi == 7 -- 7");
  EXPECT_THAT(rendered->partials, ElementsAre("parts/sign@2", "parts/sign@1"));
  EXPECT_EQ(store->get("mail").value()->engine, kMustache);
  EXPECT_THAT(store->render("mail", {{"n", "7"}}).error().message, HasSubstr("of the type number for \"n\""));
  EXPECT_THAT(store->render("mail", JsonObject{}).error().message, HasSubstr("needs values for \"n\""));
  ASSERT_TRUE(put("broken", "{{> nothing}}", kMustache));
  EXPECT_THAT(store->render("broken", {{"n", 7}}).error().message,
              HasSubstr("partial \"nothing\", which is missing"));
  ASSERT_TRUE(put("mixed", "{{> plain}}", kMustache));
  EXPECT_THAT(store->render("mixed", {{"n", 7}}).error().message,
              HasSubstr("written for the engine \"handlebars\""));
  EXPECT_THAT(put("bad", "{{#a}}", kMustache).error().message, HasSubstr("is no template"));
  EXPECT_THAT(memory_prompts()->put({.id = "p", .text = "", .engine = kLiquid}).error().message,
              HasSubstr("renders no templates of the engine \"liquid\""));
}

TEST_F(Templates, ManyThreads_EachGetTheirOwnText) {
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([thread, &wrong] {
      for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(thread * 100 + i);
        if (text_of(kHandlebars, "{{n}}", {{"n", number}}) != number) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

struct SuiteCase {
  std::string name, text;
  Json values, partials;
  std::vector<std::string> results;  ///< empty: it is an error
};

class TemplateSuites : public Templates {
 protected:
  void SetUp() override {
    Templates::SetUp();
    const char* set = std::getenv("PRAXIS_CORPORA");
    folder_ = set != nullptr ? fs::path(set) : fs::path(PRAXIS_SOURCE_DIR) / "../shared/corpora";
    if (!fs::exists(folder_ / "golden-liquid"))
      GTEST_SKIP() << "no corpus at " << folder_ << "; PRAXIS_CORPORA names the folder that holds it";
  }
  static Json read(const fs::path& path) {
    std::ifstream file(path);
    return parse_json(std::string(std::istreambuf_iterator<char>(file), {})).value();
  }
  /// The names of the cases that fail.
  static std::vector<std::string> failing(PromptEngine engine, const std::vector<SuiteCase>& cases) {
    std::vector<std::string> names;
    for (const SuiteCase& each : cases) {
      const PartialSource partial = [&](const std::string& name) {
        return std::optional(json_string(each.partials, name));
      };
      const auto text = engines()->render(engine, each.text, each.values, partial);
      const bool good = each.results.empty() ? !text : text && std::ranges::count(each.results, *text) > 0;
      if (!good) names.push_back(each.name);
    }
    return names;
  }

  fs::path folder_;
};

TEST_F(TemplateSuites, Mustache_FollowsItsSpecification) {
  std::vector<SuiteCase> cases;
  for (const char* part : {"comments", "delimiters", "interpolation", "inverted", "partials", "sections"}) {
    const Json suite = read(folder_ / "mustache-spec/specs" / (std::string(part) + ".json"));
    for (const Json& each : json_at(suite, "tests").as_array()) {
      cases.push_back({json_string(each, "name"),
                       json_string(each, "template"),
                       json_at(each, "data"),
                       json_at(each, "partials"),
                       {json_string(each, "expected")}});
    }
  }
  // mustache.js looks for `b.c` in the outer context when the inner `b` has no `c`.
  for (const std::string& name : failing(kMustache, cases))
    EXPECT_EQ(name, "Dotted Names - Context Precedence");
  EXPECT_GT(cases.size(), 60U);
}

TEST_F(TemplateSuites, Liquid_FollowsTheGoldenCasesAsFarAsLiquidjsDoes) {
  std::vector<SuiteCase> cases;
  const Json suite = read(folder_ / "golden-liquid/golden_liquid.json");
  for (const Json& each : json_at(suite, "tests").as_array()) {
    std::vector<std::string> results;
    if (!json_at(each, "result").is_null()) results.push_back(json_string(each, "result"));
    if (const JsonArray* all = json_at(each, "results").if_array()) {
      for (const Json& result : *all) results.push_back(to_plain_text(result));
    }
    cases.push_back({json_string(each, "name"), json_string(each, "template"), json_at(each, "data"),
                     json_at(each, "templates"), std::move(results)});
  }
  const std::size_t failed = failing(kLiquid, cases).size();
  EXPECT_LE(failed * 100, cases.size() * 23) << failed << " of " << cases.size();
}

}  // namespace
}  // namespace praxis
