#include <algorithm>

#include "json/schema_node.hpp"
#include "json/schema_values.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {

namespace {

// Of schemas within schemas: bounds a reference that leads back to itself.
constexpr std::size_t kMaxDepth = 256;
// See `spend`: bounds alternatives that multiply.
constexpr std::size_t kMaxSteps = 1'000'000;

// The path from the root to a value, as a list of stack frames: path strings are built only for problems.
struct Place {
  const Json& value;
  const Place* parent = nullptr;
  std::string_view key = {};  // of a property; null data for an item
  std::size_t index = 0;

  std::string path() const {
    if (!parent) return "";
    std::string out = parent->path() + "/";
    if (!key.data()) return out + std::to_string(index);
    for (const char c : key) {
      if (c == '~' || c == '/') {
        out += c == '~' ? "~0" : "~1";
      } else {
        out += c;
      }
    }
    return out;
  }
};

// Which items or properties of a value some schema has evaluated, by position.
using Evaluated = std::vector<bool>;

void mark(Evaluated* evaluated, std::size_t position) {
  if (evaluated) (*evaluated)[position] = true;
}

void merge(Evaluated* into, const Evaluated& from) {
  for (std::size_t i = 0; into && i < from.size(); ++i) {
    if (from[i]) (*into)[i] = true;
  }
}

std::size_t element_count(const Json& value) {
  if (const JsonObject* object = value.if_object()) return object->size();
  if (const JsonArray* array = value.if_array()) return array->size();
  return 0;
}

// One validation. Every check returns whether the value passes and adds the reasons to `problems_` if it does
// not; while `problems_` is null only the result matters, and the first failure ends the check.
class Validation {
 public:
  explicit Validation(std::size_t max_problems) : max_problems_(max_problems) {}

  std::vector<SchemaProblem> run(const SchemaNode& schema, const Json& instance) {
    std::vector<SchemaProblem> problems;
    problems_ = &problems;
    check(schema, {instance}, nullptr);
    if (exhausted_) return {{"", "too complex to be checked against this schema"}};
    return problems;
  }

 private:
  bool fail(const Place& place, auto&& message) {
    if (problems_ && problems_->size() < max_problems_) problems_->push_back({place.path(), message()});
    return false;
  }

  // Whether to continue after `passed`, to find further problems.
  bool go_on(bool passed) const { return passed || (problems_ && problems_->size() < max_problems_); }

  // Counts one step, and one more for every 32 bytes or elements to process.
  void spend(std::size_t size) {
    steps_ += 1 + size / 32;
    if (steps_ > kMaxSteps) exhausted_ = true;
  }

  // Runs `check` with a separate list of problems, or none.
  bool check_apart(const SchemaNode& schema, const Place& place, Evaluated* evaluated,
                   std::vector<SchemaProblem>* problems = nullptr) {
    std::swap(problems_, problems);
    const bool passed = check(schema, place, evaluated);
    std::swap(problems_, problems);
    return passed;
  }

  // Applies one schema. Marks in `evaluated`, if given, the items or properties it evaluated; the marks are
  // meaningless after a failure.
  bool check(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    if (schema.never) return fail(place, [] { return "nothing is allowed here"; });
    spend(element_count(place.value));
    if (depth_ == kMaxDepth) exhausted_ = true;
    if (exhausted_) return false;
    ++depth_;
    const bool enters = scope_.empty() || scope_.back() != schema.resource;
    if (enters) scope_.push_back(schema.resource);

    bool passed = check_type(schema, place);
    const bool tracks = schema.unevaluated_items || schema.unevaluated_properties;
    if (passed && tracks) {
      Evaluated own(element_count(place.value));
      passed = check_all(schema, place, &own) && check_unevaluated(schema, place, own);
      merge(evaluated, own);
    } else if (passed) {
      passed = check_all(schema, place, evaluated);
    }

    if (enters) scope_.pop_back();
    --depth_;
    return passed;
  }

  bool check_all(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    bool passed = true;
    const auto also = [&](bool more) { return go_on(passed = passed && more); };
    static_cast<void>(also(check_allowed(schema, place)) && also(check_own_type(schema, place, evaluated)) &&
                      also(!schema.ref || check(*schema.ref, place, evaluated)) &&
                      also(check_dynamic_ref(schema, place, evaluated)) &&
                      also(check_each(schema.all_of, place, evaluated)) &&
                      also(check_any_of(schema, place, evaluated)) &&
                      also(check_one_of(schema, place, evaluated)) && also(check_not(schema, place)) &&
                      also(check_if(schema, place, evaluated)));
    return passed;
  }

  // Any type.

  bool check_type(const SchemaNode& schema, const Place& place) {
    constexpr unsigned kInteger = 2, kNumber = 3;
    unsigned fits = 1U << type_of(place.value);
    if (fits == 1U << kInteger) fits |= 1U << kNumber;
    if (!schema.types || (schema.types & fits)) return true;
    return fail(place, [&] {
      std::string expected;
      for (std::size_t i = 0; i < std::size(kSchemaTypes); ++i) {
        if (schema.types & 1U << i) expected.append(expected.empty() ? "" : " or ").append(kSchemaTypes[i]);
      }
      return "expected " + expected + ", got " + describe(place.value);
    });
  }

  bool check_allowed(const SchemaNode& schema, const Place& place) {
    if (schema.allowed.empty()) return true;
    const std::string text = to_canonical_json(place.value);
    spend(text.size());
    for (const AllowedValues& allowed : schema.allowed) {
      if (std::ranges::find(allowed.texts, text) != allowed.texts.end()) continue;
      return fail(place, [&] {
        std::string choices;
        for (const std::string& choice : allowed.texts) {
          choices.append(choices.empty() ? "" : ", ").append(choice);
        }
        return (allowed.texts.size() == 1 ? "must be " : "must be one of ") + shortened(choices);
      });
    }
    return true;
  }

  bool check_own_type(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    const Json& value = place.value;
    if (value.is_number()) return !schema.number || check_number(*schema.number, place);
    if (value.is_string()) return !schema.string || check_string(*schema.string, place);
    if (value.is_array()) return !schema.array || check_array(*schema.array, place, evaluated);
    if (value.is_object()) return !schema.object || check_object(*schema.object, place, evaluated);
    return true;
  }

  bool check_range(const SizeRange& range, std::size_t size, const Place& place, std::string_view noun,
                   std::string_view plural) {
    if (size >= range.min && size <= range.max) return true;
    return fail(place, [&] {
      const bool low = size < range.min;
      return (low ? "must have at least " : "must have at most ") +
             counted(low ? range.min : range.max, noun, plural) + ", has " + std::to_string(size);
    });
  }

  // Numbers and strings.

  bool check_number(const NumberRules& rules, const Place& place) {
    const long double number = real(place.value);
    const auto demand = [&](const std::optional<Json>& bound, bool holds, std::string_view words) {
      return holds || fail(place, [&] {
               return "must be " + std::string(words) + " " + to_json_text(*bound) + ", got " +
                      to_json_text(place.value);
             });
    };
    const auto& [min, max, above, below, step] = rules;
    return demand(min, !min || number >= real(*min), "at least") &&
           demand(max, !max || number <= real(*max), "at most") &&
           demand(above, !above || number > real(*above), "greater than") &&
           demand(below, !below || number < real(*below), "less than") &&
           demand(step, !step || is_multiple(place.value, *step), "a multiple of");
  }

  bool check_string(const StringRules& rules, const Place& place) {
    const std::string_view text = place.value.get_string();
    spend(text.size());
    if (!check_range(rules.length, count_characters(text), place, "character", "characters")) return false;
    if (!rules.pattern || re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *rules.pattern))
      return true;
    return fail(place, [&] { return "must match the pattern " + rules.pattern->pattern(); });
  }

  // Arrays.

  bool check_array(const ArrayRules& rules, const Place& place, Evaluated* evaluated) {
    const JsonArray& array = place.value.get_array();
    bool passed = check_range(rules.size, array.size(), place, "item", "items");
    for (std::size_t i = 0; i < array.size() && go_on(passed); ++i) {
      const SchemaNode* const schema = i < rules.prefix.size() ? rules.prefix[i] : rules.items;
      if (!schema) break;
      if (!check(*schema, {array[i], &place, {}, i}, nullptr)) passed = false;
      mark(evaluated, i);
    }
    if (go_on(passed) && rules.unique) passed = check_unique(array, place) && passed;
    if (go_on(passed) && rules.contains) passed = check_contains(rules, place, evaluated) && passed;
    return passed;
  }

  bool check_unique(const JsonArray& array, const Place& place) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto [first, added] = seen.try_emplace(to_canonical_json(array[i]), i);
      spend(first->first.size());
      if (added) continue;
      return fail(place, [&] {
        return "items must differ, but " + std::to_string(first->second) + " and " + std::to_string(i) +
               " are equal";
      });
    }
    return true;
  }

  bool check_contains(const ArrayRules& rules, const Place& place, Evaluated* evaluated) {
    const JsonArray& array = place.value.get_array();
    std::size_t count = 0;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (!check_apart(*rules.contains, {array[i], &place, {}, i}, nullptr)) continue;
      ++count;
      mark(evaluated, i);
    }
    return check_range(rules.contains_count, count, place, "matching item", "matching items");
  }

  // Objects.

  bool check_object(const ObjectRules& rules, const Place& place, Evaluated* evaluated) {
    const JsonObject& object = place.value.get_object();
    bool passed = check_range(rules.size, object.size(), place, "property", "properties");
    for (const std::string& name : rules.required) {
      if (object.contains(name)) continue;
      passed = fail(place, [&] { return "missing required property " + quoted(name); });
    }
    for (const auto& [name, others] : rules.dependent_required) {
      if (!object.contains(name)) continue;
      for (const std::string& other : others) {
        if (object.contains(other)) continue;
        passed = fail(place, [&] {
          return "missing property " + quoted(other) + ", required when " + quoted(name) + " is present";
        });
      }
    }
    if (go_on(passed)) passed = check_properties(rules, place, evaluated) && passed;
    for (const auto& [name, schema] : rules.dependent_schemas) {
      if (!go_on(passed)) break;
      if (object.contains(name)) passed = check(*schema, place, evaluated) && passed;
    }
    return passed;
  }

  bool check_properties(const ObjectRules& rules, const Place& place, Evaluated* evaluated) {
    const JsonObject& object = place.value.get_object();
    bool passed = true;
    Evaluated known(object.size());
    const auto apply = [&](const SchemaNode& schema, std::size_t position) {
      const auto& [key, value] = object.begin()[position];
      known[position] = true;
      passed = check(schema, {value, &place, key}, nullptr) && passed;
    };
    for (const auto& [name, schema] : rules.properties) {
      const auto* const field = object.find(name);
      if (field != object.end() && go_on(passed))
        apply(*schema, static_cast<std::size_t>(field - object.begin()));
    }
    for (std::size_t i = 0; i < object.size() && go_on(passed); ++i) {
      const std::string_view key = object.begin()[i].key();
      for (const auto& [pattern, schema] : rules.pattern_properties) {
        if (re2::RE2::PartialMatch(re2::StringPiece(key.data(), key.size()), *pattern)) apply(*schema, i);
      }
      if (rules.additional && !known[i]) {
        if (rules.additional->never) {
          passed = fail_unknown(place, key, rules.properties);
        } else {
          apply(*rules.additional, i);
        }
      }
      if (rules.names) passed = check_name(*rules.names, place, key) && passed;
    }
    merge(evaluated, known);
    return passed;
  }

  bool fail_unknown(const Place& place, std::string_view key, const NamedNodes& properties) {
    return fail(place, [&] {
      std::vector<std::string> names;
      for (const auto& [name, schema] : properties) names.push_back(name);
      const auto meant = closest(key, names);
      return "unknown property " + quoted(key) + (meant ? " (did you mean " + quoted(*meant) + "?)" : "");
    });
  }

  bool check_name(const SchemaNode& schema, const Place& place, std::string_view key) {
    const Json name(key);
    std::vector<SchemaProblem> problems;
    if (check_apart(schema, {name}, nullptr, problems_ ? &problems : nullptr)) return true;
    return fail(place, [&] {
      return "property name " + quoted(key) + ": " +
             (problems.empty() ? "not allowed" : problems.front().message);
    });
  }

  // Schemas applied to the same value.

  bool check_dynamic_ref(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    if (!schema.dynamic_ref) return true;
    const SchemaNode* target = schema.dynamic_ref;
    for (const SchemaResource* resource : scope_) {
      const auto anchor = resource->dynamic_anchors.find(schema.dynamic_anchor);
      if (anchor == resource->dynamic_anchors.end()) continue;
      target = anchor->second;
      break;
    }
    return check(*target, place, evaluated);
  }

  bool check_each(const NodeList& schemas, const Place& place, Evaluated* evaluated) {
    bool passed = true;
    for (const SchemaNode* schema : schemas) {
      if (!go_on(passed)) break;
      passed = check(*schema, place, evaluated) && passed;
    }
    return passed;
  }

  // Counts the alternatives that the value matches, stopping at `enough`; adds the reasons why the others
  // failed to `misses`.
  std::size_t count_matches(const NodeList& alternatives, const Place& place, Evaluated* evaluated,
                            std::size_t enough, std::vector<SchemaProblem>& misses) {
    std::size_t matches = 0;
    for (const SchemaNode* schema : alternatives) {
      if (matches == enough) break;
      Evaluated own(evaluated ? evaluated->size() : 0);
      std::vector<SchemaProblem> problems;
      if (check_apart(*schema, place, evaluated ? &own : nullptr, problems_ ? &problems : nullptr)) {
        merge(evaluated, own);
        ++matches;
      } else if (!problems.empty()) {
        misses.push_back(std::move(problems.front()));
      }
    }
    return matches;
  }

  bool check_any_of(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    if (schema.any_of.empty()) return true;
    std::vector<SchemaProblem> misses;
    // Further alternatives matter only if the caller collects evaluated items (for `unevaluated*`).
    const std::size_t enough = evaluated ? schema.any_of.size() : 1;
    if (count_matches(schema.any_of, place, evaluated, enough, misses) > 0) return true;
    return fail_alternatives(place, misses);
  }

  bool check_one_of(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    if (schema.one_of.empty()) return true;
    std::vector<SchemaProblem> misses;
    const std::size_t matches = count_matches(schema.one_of, place, evaluated, 2, misses);
    if (matches == 1) return true;
    if (matches == 0) return fail_alternatives(place, misses);
    return fail(place, [] { return "fits more than one of the alternatives; must fit exactly one"; });
  }

  bool fail_alternatives(const Place& place, const std::vector<SchemaProblem>& misses) {
    return fail(place, [&] {
      constexpr std::size_t kShown = 4;
      std::string out = "fits none of the alternatives: ";
      for (std::size_t i = 0; i < misses.size() && i < kShown; ++i) {
        out += (i ? "; or " : "") + misses[i].path.substr(place.path().size());
        out += (misses[i].path.size() > place.path().size() ? ": " : "") + shortened(misses[i].message);
      }
      return out + (misses.size() > kShown ? "; or ..." : "");
    });
  }

  bool check_not(const SchemaNode& schema, const Place& place) {
    if (!schema.not_ || !check_apart(*schema.not_, place, nullptr)) return true;
    return fail(place, [] { return "fits what the schema's \"not\" rules out"; });
  }

  bool check_if(const SchemaNode& schema, const Place& place, Evaluated* evaluated) {
    if (!schema.if_) return true;
    Evaluated own(evaluated ? evaluated->size() : 0);
    const bool holds = check_apart(*schema.if_, place, evaluated ? &own : nullptr);
    if (holds) merge(evaluated, own);
    const SchemaNode* const next = holds ? schema.then_ : schema.else_;
    return !next || check(*next, place, evaluated);
  }

  bool check_unevaluated(const SchemaNode& schema, const Place& place, Evaluated& evaluated) {
    bool passed = true;
    const JsonArray* array = schema.unevaluated_items ? place.value.if_array() : nullptr;
    for (std::size_t i = 0; array && i < array->size() && go_on(passed); ++i) {
      if (evaluated[i]) continue;
      passed = check(*schema.unevaluated_items, {(*array)[i], &place, {}, i}, nullptr) && passed;
      evaluated[i] = true;
    }
    const JsonObject* object = schema.unevaluated_properties ? place.value.if_object() : nullptr;
    for (std::size_t i = 0; object && i < object->size() && go_on(passed); ++i) {
      if (evaluated[i]) continue;
      const auto& [key, value] = object->begin()[i];
      passed = (schema.unevaluated_properties->never
                    ? fail_unknown(place, key, schema.object ? schema.object->properties : NamedNodes{})
                    : check(*schema.unevaluated_properties, {value, &place, key}, nullptr)) &&
               passed;
      evaluated[i] = true;
    }
    return passed;
  }

  const std::size_t max_problems_;
  std::vector<SchemaProblem>* problems_ = nullptr;
  std::vector<const SchemaResource*> scope_;  // the resources passed through, outermost first
  std::size_t depth_ = 0;
  std::size_t steps_ = 0;
  bool exhausted_ = false;  // a bound was reached: all checks now fail and the result is "invalid"
};

}  // namespace

std::vector<SchemaProblem> JsonSchema::validate(const Json& instance, std::size_t max_problems) const {
  return Validation(std::max<std::size_t>(max_problems, 1)).run(*compiled_->root, instance);
}

}  // namespace praxis
