#include "evals/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "app/plain_text.hpp"
#include "app/toml_document.hpp"
#include "base/regular_file.hpp"
#include "evals/case_table.hpp"
#include "evals/judge_table.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Error `kInput` unless all members of a table are known.
Status check_members(const TomlDocument& document, const std::string& place, const Json& table,
                     const std::vector<std::string>& known) {
  for (const auto& [name, value] : table.get_object()) {
    const std::string key(name);
    if (std::ranges::count(known, key) > 0) continue;
    const auto meant = closest(key, known);
    return document.mistake(
        place.empty() ? key : place + '.' + key,
        fmt::format("{} is not known; {}", app::in_quotes(key),
                    meant ? "did you mean \"" + *meant + "\"?" : "there are " + app::joined(known)));
  }
  return {};
}

// ---- variants

/// The alternatives of a member: those of a list, or the one that it has.
Result<std::vector<Json>> alternatives(const TomlDocument& document, const std::string& place,
                                       const Json& table, const char* key, bool is_table) {
  const Json& value = json_at(table, key);
  std::vector<Json> all;
  if (const JsonArray* const list = value.if_array()) {
    all.assign(list->begin(), list->end());
  } else {
    all.push_back(value);
  }
  const auto fits = [&](const Json& each) {
    return (each.is_null() && !value.is_array()) || (is_table ? each.is_object() : each.is_string());
  };
  if (all.empty() || !std::ranges::all_of(all, fits))
    return document.mistake(place + '.' + key, fmt::format("\"{}\" must be a {} or a list of them", key,
                                                           is_table ? "table" : "string"));
  return all;
}

/// What is laid over the agent: `{limits = {...}, options = {...}}`.
Status read_settings_of(const TomlDocument& document, const std::string& place, const Json& settings,
                        Variant& variant) {
  if (settings.is_null()) return {};
  const std::string at = place + ".settings";
  if (auto known = check_members(document, at, settings, {"options", "limits"}); !known) return known;
  variant.options = json_at(settings, "options");
  variant.limits = json_at(settings, "limits");
  for (const Json* table : {&variant.options, &variant.limits}) {
    if (!table->is_null() && !table->is_object()) return document.mistake(at, "settings must be tables");
  }
  return {};
}

/// A part of a variant's name, if there are several alternatives.
void add_name(std::string& name, const std::vector<Json>& all, std::size_t chosen, const char* what) {
  if (all.size() < 2) return;
  const Json& value = all[chosen];
  const bool is_short = value.is_string() && std::string_view(what) != "instructions";
  if (!name.empty()) name += ' ';
  name += is_short ? to_plain_text(value) : fmt::format("{}-{}", what, chosen + 1);
}

/// The variants that one table describes: each combination of its alternatives.
Status add_variants(const TomlDocument& document, const std::string& place, const Json& table, Suite& suite) {
  if (!table.is_object()) return document.mistake(place, "a variant must be a table");
  if (auto known =
          check_members(document, place, table, {"name", "model", "agent", "instructions", "settings"});
      !known)
    return known;
  const auto models = alternatives(document, place, table, "model", false);
  const auto agents = alternatives(document, place, table, "agent", false);
  const auto texts = alternatives(document, place, table, "instructions", false);
  const auto settings = alternatives(document, place, table, "settings", true);
  for (const auto* each : {&models, &agents, &texts, &settings}) {
    if (!*each) return fail(each->error());
  }
  const std::size_t all = models->size() * agents->size() * texts->size() * settings->size();
  if (suite.variants.size() + all > kMaxVariants)
    return document.mistake(place, fmt::format("the suite has more than {} variants", kMaxVariants));
  for (std::size_t i = 0; i < all; ++i) {
    std::size_t rest = i;
    const auto take = [&rest](const std::vector<Json>& from) {
      const std::size_t chosen = rest % from.size();
      rest /= from.size();
      return chosen;
    };
    const std::size_t model = take(*models), agent = take(*agents), text = take(*texts),
                      setting = take(*settings);
    Variant variant{.name = json_string(table, "name")};
    add_name(variant.name, *models, model, "model");
    add_name(variant.name, *agents, agent, "agent");
    add_name(variant.name, *texts, text, "instructions");
    add_name(variant.name, *settings, setting, "settings");
    if (!(*models)[model].is_null()) variant.model = to_plain_text((*models)[model]);
    if (!(*agents)[agent].is_null()) variant.agent = to_plain_text((*agents)[agent]);
    if (!(*texts)[text].is_null()) variant.instructions = to_plain_text((*texts)[text]);
    if (auto read = read_settings_of(document, place, (*settings)[setting], variant); !read) return read;
    if (variant.name.empty()) variant.name = !variant.agent.empty() ? variant.agent : variant.model;
    if (variant.agent.ends_with(".toml"))
      variant.agent = (fs::path(folder_of(document.name())) / variant.agent).string();
    suite.variants.push_back(std::move(variant));
  }
  return {};
}

Status read_variants(const TomlDocument& document, Suite& suite) {
  const Json& tables = document.at("variants");
  if (!tables.is_null() && !tables.is_array())
    return document.mistake("variants", "variants are tables [[variants]]");
  for (std::size_t i = 0; !tables.is_null() && i < tables.get_array().size(); ++i) {
    const std::string place = fmt::format("variants[{}]", i);
    if (auto added = add_variants(document, place, tables.get_array()[i], suite); !added) return added;
  }
  return {};
}

// ---- the suite

Status read_numbers(const TomlDocument& document, Suite& suite) {
  const Json &repeats = document.at("repeats"), &seed = document.at("seed");
  if (!repeats.is_null()) {
    const std::int64_t number = json_int(document.json(), "repeats", 0);
    if (!repeats.is_int64() || number < 1 || number > kMaxRepeats)
      return document.mistake("repeats",
                              fmt::format("\"repeats\" must be an integer from 1 to {}", kMaxRepeats));
    suite.repeats = static_cast<std::uint32_t>(number);
  }
  constexpr std::int64_t kMostSeed = 1'000'000'000;
  if (seed.is_null()) return {};
  if (!seed.is_int64() || seed.get_int64() < 0 || seed.get_int64() > kMostSeed)
    return document.mistake("seed", fmt::format("\"seed\" must be an integer from 0 to {}", kMostSeed));
  suite.seed = seed.get_int64();
  return {};
}

Status read_cases(const TomlDocument& document, const CaseDefaults& defaults, Suite& suite) {
  const Json& files = document.at("cases_from");
  const auto is_text = [](const Json& each) { return each.is_string(); };
  if (!files.is_null() && (!files.is_array() || !std::ranges::all_of(files.get_array(), is_text)))
    return document.mistake("cases_from", "\"cases_from\" must be a list of files");
  for (std::size_t i = 0; !files.is_null() && i < files.get_array().size(); ++i) {
    const std::string path = (fs::path(defaults.folder) / to_plain_text(files.get_array()[i])).string();
    auto text = read_regular_file(path, kMaxCaseFileBytes);
    if (!text) return fail(text.error());
    auto cases = read_case_file(*text, path, defaults);
    if (!cases) return fail(cases.error());
    std::ranges::move(*cases, std::back_inserter(suite.cases));
  }
  const Json& tables = document.at("cases");
  if (!tables.is_null() && !tables.is_array()) return document.mistake("cases", "cases are tables [[cases]]");
  for (std::size_t i = 0; !tables.is_null() && i < tables.get_array().size(); ++i) {
    const std::string place = fmt::format("cases[{}]", i);
    auto read =
        read_case(tables.get_array()[i], defaults, [&](const std::string& key, const std::string& what) {
          return document.mistake(key.empty() ? place : place + '.' + key, what);
        });
    if (!read) return fail(read.error());
    suite.cases.push_back(*std::move(read));
  }
  return {};
}

Result<Suite> read_toml(std::string_view text, const std::string& path) {
  const auto document = TomlDocument::parse(text, path);
  if (!document) return fail(document.error());
  const std::vector<std::string> known{"name",  "repeats",  "seed",       "checks",
                                       "judge", "variants", "cases_from", "cases"};
  if (auto members = check_members(*document, "", document->json(), known); !members)
    return fail(members.error());
  Suite suite;
  suite.name = json_string(document->json(), "name");
  const Json& checks = document->at("checks");
  if (!checks.is_null() && !checks.is_array())
    return document->mistake("checks", "\"checks\" must be a list");
  const CaseDefaults defaults{folder_of(path), checks.is_null() ? nullptr : &checks};
  for (const Status& read : {read_numbers(*document, suite), read_variants(*document, suite),
                             read_cases(*document, defaults, suite)}) {
    if (!read) return fail(read.error());
  }
  auto judge = read_judge_table(*document, suite.cases);
  if (!judge) return fail(judge.error());
  suite.judge = *std::move(judge);
  return suite;
}

/// Error `kInput` if a name occurs twice, by which results could not be distinguished.
Status check_names(const Suite& suite, const std::string& path) {
  std::set<std::string> seen;
  for (const EvalCase& each : suite.cases) {
    if (!seen.insert(each.id).second)
      return fail(ErrorCode::kInput, fmt::format("{} has two cases {}", path, app::in_quotes(each.id)));
  }
  seen.clear();
  for (const Variant& each : suite.variants) {
    if (!seen.insert(each.name).second)
      return fail(ErrorCode::kInput, fmt::format("{} has two variants {}; give each a \"name\"", path,
                                                 app::in_quotes(each.name)));
  }
  return {};
}

}  // namespace

Result<Suite> read_suite(std::string_view text, const std::string& path) {
  Suite suite;
  if (path.ends_with(".toml")) {
    auto read = read_toml(text, path);
    if (!read) return read;
    suite = *std::move(read);
  } else {
    auto cases = read_case_file(text, path, {folder_of(path), nullptr});
    if (!cases) return fail(cases.error());
    suite.cases = *std::move(cases);
  }
  suite.folder = fs::absolute(path).parent_path().lexically_normal().string();
  if (suite.name.empty()) suite.name = fs::path(path).stem().string();
  if (suite.variants.empty()) suite.variants.push_back({.name = "default"});
  if (suite.cases.empty()) return fail(ErrorCode::kInput, path + " has no cases");
  if (suite.cases.size() > kMaxCases)
    return fail(ErrorCode::kInput, fmt::format("{} has more than {} cases", path, kMaxCases));
  if (auto names = check_names(suite, path); !names) return fail(names.error());
  return suite;
}

Result<Suite> read_suite(const std::string& path) {
  auto text = read_regular_file(path, kMaxCaseFileBytes);
  if (!text) return fail(text.error());
  return read_suite(*text, path);
}

Status keep_tagged(Suite& suite, const std::vector<std::string>& tags) {
  if (tags.empty()) return {};
  std::set<std::string> known;
  for (const EvalCase& test : suite.cases) known.insert(test.tags.begin(), test.tags.end());
  std::erase_if(suite.cases, [&](const EvalCase& test) {
    return std::ranges::none_of(
        tags, [&](const std::string& tag) { return std::ranges::find(test.tags, tag) != test.tags.end(); });
  });
  std::erase_if(suite.judge.labels, [&](const Label& label) {
    return std::ranges::find(suite.cases, label.test, &EvalCase::id) == suite.cases.end();
  });
  if (!suite.cases.empty()) return {};
  const std::vector<std::string> names(known.begin(), known.end());
  return fail(ErrorCode::kInput,
              "no case has the tag " + app::in_quotes(tags.front()) +
                  (names.empty() ? "; no case has tags" : "; there are " + app::joined(names)));
}

}  // namespace praxis::evals
