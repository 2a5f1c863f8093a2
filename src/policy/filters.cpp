#include "policy/filters.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.hpp"
#include "policy/conditions.hpp"
#include "policy/filter_notes.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::filters {
namespace {

/// Of one filter in one text; what follows is redacted as a whole.
constexpr std::size_t kMostMatches = 10'000;

/// Stands for a filter that cannot be read.
Filter unreadable_filter(std::string why) {
  Filter filter{.id = "unreadable",
                .at = {Point::kToolInput, Point::kToolOutput, Point::kMemory, Point::kModel, Point::kPrompt,
                       Point::kShown, Point::kExport},
                .tools = {},
                .test = HasMatch{"(?s).", false, std::make_shared<const re2::RE2>("(?s).")},
                .action = Action::kDeny,
                .reason = std::move(why)};
  return filter;
}

bool is_about(const Filter& filter, Point point, std::string_view tool, bool all) {
  if (std::ranges::count(filter.at, point) == 0) return false;
  if (filter.tools.empty()) return all;
  return std::ranges::any_of(filter.tools,
                             [&](const std::string& pattern) { return rule_names(pattern, tool); });
}

/// The type without its parameters, in lower case.
std::string plain_type(std::string_view mime) { return lower_case(mime.substr(0, mime.find_first_of("; "))); }

/// `text` without secrets. The name of its member counts as the word before it; what is exact for vendors
/// only there is looked at as well.
std::string without_secrets(const HasSecret& test, std::string text, std::string_view name) {
  if (!name.empty()) {
    Json member = JsonObject{{name, text}};
    test.finder.redact(member);
    text = json_string(member, name);
  }
  return test.finder.text(std::move(text));
}

bool matches_text(const Filter& filter, const std::string& text, std::string_view name) {
  if (const auto* secret = std::get_if<HasSecret>(&filter.test))
    return without_secrets(*secret, text, name) != text;
  if (const auto* has = std::get_if<HasMatch>(&filter.test))
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *has->compiled);
  const auto* longer = std::get_if<LongerThan>(&filter.test);
  return longer != nullptr && text.size() > longer->bytes;
}

bool matches_media(const Filter& filter, std::string_view mime, std::size_t bytes) {
  if (const auto* media = std::get_if<HasMedia>(&filter.test)) {
    if (mime.empty()) return filter.action != Action::kAllow;
    return rule_names(media->type, plain_type(mime));
  }
  const auto* longer = std::get_if<LongerThan>(&filter.test);
  return longer != nullptr && bytes > longer->bytes;
}

/// `text` with a mark for each match. An empty match has nothing to redact.
std::string without_matches(const Filter& filter, const re2::RE2& pattern, std::string_view text) {
  const re2::StringPiece whole(text.data(), text.size());
  std::string out;
  std::size_t kept = 0, from = 0, found = 0;
  re2::StringPiece match;
  while (from <= text.size() && pattern.Match(whole, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    if (match.empty()) {
      from = begin + 1;
      continue;
    }
    out.append(text.substr(kept, begin - kept)).append(mark(filter));
    kept = from = begin + match.size();
    if (++found == kMostMatches) return out;
  }
  return out.append(text.substr(kept));
}

std::string redacted(const Filter& filter, const std::string& text, std::string_view name) {
  if (const auto* secret = std::get_if<HasSecret>(&filter.test)) return without_secrets(*secret, text, name);
  if (const auto* has = std::get_if<HasMatch>(&filter.test))
    return without_matches(filter, *has->compiled, text);
  const auto& longer = std::get<LongerThan>(filter.test);
  return std::string(utf8_head(text, longer.bytes)) + mark(filter);
}

std::string list_of(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ", ") + id;
  return text;
}

/// `remember`, and `put` of `kv`.
bool writes_memory(std::string_view tool, const std::string& arguments) {
  if (tool == "remember") return true;
  if (tool != "kv") return false;
  const auto json = parse_json(arguments);
  return json && json_text(*json, "op") == "put";
}

}  // namespace

std::string mark(const Filter& filter) { return "[REDACTED:" + filter.id + ']'; }

std::string withheld(const Filter& filter) { return "[WITHHELD:" + filter.id + ']'; }

redact::TextRulePtr text_rule(FilterSetPtr set, Point point) {
  return noting_rule(std::move(set), point, nullptr);
}

redact::TextRulePtr noting_rule(FilterSetPtr set, Point point, NoteHit note) {
  if (!set || !set->has(point)) return nullptr;
  return std::make_shared<const redact::TextRule>(
      [set = std::move(set), point, note = std::move(note)](std::string text, std::string_view name) {
        Scan scan(*set, point, "");
        scan.content(text, name);
        if (scan.denies()) {
          if (note) note(scan.stopped_by()->id, Action::kDeny);
          return withheld(*scan.stopped_by());
        }
        for (const std::string& id : scan.redacted_by()) {
          if (note) note(id, Action::kRedact);
        }
        return text;
      });
}

Author author_of(const std::vector<std::string>& ids) { return {"filter " + list_of(ids), Surface::kPolicy}; }

FilterSet::FilterSet(const AgentSpec& agent) {
  if (const JsonArray* const above = agent.bounds.if_array()) {
    for (const Json& policy : *above) add(policy);
  }
  add(agent.policy);
}

void FilterSet::add(const Json& policy) {
  auto filters = filters_from_json(json_at(policy, "filters"));
  if (!filters) filters = std::vector{unreadable_filter(filters.error().message)};
  if (!filters->empty()) layers_.push_back(*std::move(filters));
}

bool FilterSet::has(Point point) const {
  return std::ranges::any_of(layers_, [&](const std::vector<Filter>& layer) {
    return std::ranges::any_of(
        layer, [&](const Filter& filter) { return std::ranges::count(filter.at, point) > 0; });
  });
}

Filter finding(Filter filter, const std::string& passage) {
  re2::RE2::Options options;
  options.set_literal(true);
  options.set_log_errors(false);
  filter.test = HasMatch{passage, false, std::make_shared<const re2::RE2>(passage, options)};
  filter.action = Action::kRedact;
  return filter;
}

std::vector<const Filter*> judges(const FilterSet& set, Point point, std::string_view tool) {
  std::vector<const Filter*> found;
  for (const std::vector<Filter>& layer : set.layers()) {
    for (const Filter& filter : layer) {
      const bool asks = std::holds_alternative<AsksModel>(filter.test);
      if (asks && is_about(filter, point, tool, true)) found.push_back(&filter);
    }
  }
  return found;
}

FilterSetPtr filters_of(const AgentSpec& agent) {
  auto set = std::make_shared<const FilterSet>(agent);
  return set->layers().empty() ? nullptr : set;
}

// ---- Scan

Scan::Scan(const FilterSet& set, Point point, std::string_view tool, bool all) {
  for (const std::vector<Filter>& layer : set.layers()) {
    std::vector<const Filter*> about;
    for (const Filter& filter : layer) {
      const bool is_read = !std::holds_alternative<AsksModel>(filter.test);
      if (is_read && is_about(filter, point, tool, all)) about.push_back(&filter);
    }
    if (!about.empty()) layers_.push_back(std::move(about));
  }
}

void Scan::stop(const Filter& filter) {
  if (stopped_by_ == nullptr || (filter.action == Action::kDeny && !denies())) stopped_by_ = &filter;
}

void Scan::note_redaction(const Filter& filter) {
  if (std::ranges::count(redacted_by_, filter.id) == 0) redacted_by_.push_back(filter.id);
}

bool Scan::denies() const {
  return stopped_by_ != nullptr && (too_long_ || stopped_by_->action == Action::kDeny);
}

bool Scan::add(const Found& found) {
  if (layers_.empty()) return true;
  if (too_long_ || read_ + found.bytes > kMostBytes) return false;
  read_ += found.bytes;
  if (found.stopped_by != nullptr) stop(*found.stopped_by);
  for (const std::string& id : found.redacted_by) {
    if (std::ranges::count(redacted_by_, id) == 0) redacted_by_.push_back(id);
  }
  return true;
}

/// Counts text that is about to be read. What is not read, because it is too much, is denied.
bool Scan::fits(std::size_t bytes) {
  if (layers_.empty() || too_long_) return false;
  read_ += bytes;
  if (read_ <= kMostBytes) return true;
  for (const auto& layer : layers_) {
    const auto strict =
        std::ranges::find_if(layer, [](const Filter* filter) { return filter->action != Action::kAllow; });
    if (strict == layer.end()) continue;
    stopped_by_ = *strict;
    too_long_ = true;
    return false;
  }
  return true;
}

/// Applies the filters of one file, in their order.
bool Scan::apply(const std::vector<const Filter*>& layer, std::string& text, std::string_view name) {
  bool changed = false;
  for (const Filter* filter : layer) {
    if (!matches_text(*filter, text, name)) continue;
    if (filter->action == Action::kAllow) break;
    if (filter->action != Action::kRedact) {
      stop(*filter);
      continue;
    }
    std::string less = redacted(*filter, text, name);
    if (less == text) continue;
    text = std::move(less);
    note_redaction(*filter);
    changed = true;
  }
  return changed;
}

bool Scan::text(std::string& text, std::string_view name) {
  if (!fits(text.size())) return false;
  bool changed = false;
  for (const auto& layer : layers_) changed = apply(layer, text, name) || changed;
  return changed;
}

bool Scan::content(std::string& text, std::string_view name) {
  if (layers_.empty()) return false;
  if (!is_valid_utf8(text)) text = repair_utf8(text);
  const bool changed = this->text(text, name);
  if (!text.contains('\\')) return changed;
  const auto json = parse_json(text);
  return json && (json->is_object() || json->is_array()) ? json_text(text) || changed : changed;
}

bool Scan::json(Json& json, std::string_view name) {
  if (layers_.empty() || json.is_null() || json.is_bool()) return false;
  bool changed = false;
  if (JsonArray* const items = json.if_array()) {
    for (Json& item : *items) changed = this->json(item, name) || changed;
    return changed;
  }
  if (const JsonObject* const object = json.if_object()) {
    JsonObject kept;
    for (const auto& member : *object) {
      std::string key(member.key());
      Json value = member.value();
      changed = this->json(value, member.key()) || changed;
      changed = text(key) || changed;
      kept[key] = std::move(value);
    }
    if (changed) json = std::move(kept);
    return changed;
  }
  std::string plain = to_plain_text(json);
  if (!text(plain, name)) return false;
  json = plain;
  return true;
}

bool Scan::json_text(std::string& text) {
  if (layers_.empty()) return false;
  auto json = parse_json(text);
  if (!json || (!json->is_object() && !json->is_array())) return this->text(text);
  if (!this->json(*json)) return false;
  text = to_json_text(*json);
  return true;
}

bool Scan::keeps(std::string_view mime, std::size_t bytes) {
  for (const auto& layer : layers_) {
    for (const Filter* filter : layer) {
      if (!matches_media(*filter, mime, bytes)) continue;
      if (filter->action == Action::kAllow) break;
      if (filter->action == Action::kRedact)
        note_redaction(*filter);
      else
        stop(*filter);
      return false;
    }
  }
  return true;
}

std::string Scan::why(std::string_view does, std::string_view what) const {
  std::string text = "The filter \"" + stopped_by_->id + "\" ";
  text.append(does).append(1, ' ').append(what);
  if (too_long_) return text + ": there is more than 16 MiB of it, which filters do not read.";
  return text + (stopped_by_->reason.empty() ? "." : ": " + stopped_by_->reason);
}

std::string Scan::by() const {
  if (denies()) return "deny " + stopped_by_->id;
  return redacted_by_.empty() ? "" : "redact " + list_of(redacted_by_);
}

std::optional<records::Decided> said(const Scan& scan) {
  if (scan.denies())
    return records::Decided{
        {}, {}, ApprovalVerb::kReject, scan.why("denies", "the message"), author_of({scan.stopped_by()->id})};
  if (scan.redacted_by().empty()) return std::nullopt;
  return records::Decided{{}, {}, ApprovalVerb::kEdit, "", author_of(scan.redacted_by())};
}

CallVerdict judge(const FilterSet& set, const ToolCallPart& call) {
  CallVerdict verdict;
  std::string arguments = call.arguments;
  Scan input(set, Point::kToolInput, call.name);
  input.json_text(arguments);
  Scan memory(set, Point::kMemory, call.name, writes_memory(call.name, call.arguments));
  if (memory.json_text(arguments)) {
    verdict.arguments = std::move(arguments);
    verdict.redacted_by = memory.redacted_by();
  }
  const std::string what = "the arguments of \"" + call.name + '"';
  for (const Scan* scan : {&input, &memory}) {
    const Filter* const stop = scan->stopped_by();
    if (stop == nullptr) continue;
    Permission permission = scan->denies() ? deny(scan->why("denies", what))
                                           : needs_approval(scan->why("requires an approval for", what));
    if (strictness(permission) <= strictness(verdict.permission)) continue;
    verdict.permission = std::move(permission);
    verdict.author = author_of({stop->id});
  }
  return verdict;
}

}  // namespace praxis::filters
