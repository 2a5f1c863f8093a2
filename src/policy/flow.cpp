// The judgement of a call by the origins of its arguments.
#include "policy/flow.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "json/repeated_key.hpp"
#include "policy/conditions.hpp"
#include "policy/flow_text.hpp"

namespace praxis::flow {
namespace {

constexpr std::size_t kMaxFindings = 8;      ///< that a question lists
constexpr std::size_t kMaxShownValue = 120;  ///< bytes of a value in a question

/// A string or number among the arguments, and where it is.
struct Scalar {
  std::string argument;  ///< the first name of the path
  std::string path;
  std::string value;
};

void collect_scalars(const Json& json, const std::string& argument, const std::string& path,
                     std::vector<Scalar>& out) {
  if (json.is_string()) {
    out.push_back({argument, path, std::string(json.get_string())});
  } else if (json.is_number()) {
    out.push_back({argument, path, to_json_text(json)});
  } else if (const auto* const list = json.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i)
      collect_scalars((*list)[i], argument, path + '[' + std::to_string(i) + ']', out);
  } else if (const auto* const table = json.if_object()) {
    for (const auto& [key, value] : *table) {
      const std::string name(key);
      collect_scalars(value, argument.empty() ? name : argument, path.empty() ? name : path + '.' + name,
                      out);
      // The keys are the model's words, too.
      if (!path.empty()) out.push_back({argument, path, name});
    }
  }
}

class CallJudge {
 public:
  CallJudge(const Labels& labels, const ToolLabel& tool) : labels_(labels), tool_(tool) {
    for (const LabelledText& text : labels.texts) {
      if (text.trust != Trust::kUntrusted) continue;
      is_tainted_ = is_tainted_ || text.recent;
      if (std::ranges::count(read_, text.origin) == 0) read_.push_back(text.origin);
    }
  }

  std::vector<Finding> findings(const std::vector<Scalar>& scalars) {
    std::vector<Finding> found;
    bool has_destination = false;
    for (const Scalar& scalar : scalars) {
      const std::string plain = plain_form(scalar.value);
      if (plain.empty()) continue;
      if (is_destination(scalar.argument)) {
        has_destination = true;
        judge_destination(scalar, plain, found);
      } else {
        judge_content(scalar, plain, found);
      }
    }
    // Nothing says what such a call does: no argument can prove that a person wanted it.
    if (!has_destination && is_tainted_ && goes_anywhere()) found.push_back({"", "", "", false});
    return found;
  }

  std::vector<std::string> take_read() { return std::move(read_); }
  bool has_read() const { return !read_.empty(); }

 private:
  bool goes_anywhere() const { return std::ranges::count(tool_.destinations, "*") > 0; }
  bool is_destination(const std::string& argument) const {
    return goes_anywhere() || std::ranges::count(tool_.destinations, argument) > 0;
  }

  /// A short number proves little: the 13 of a date is also the number of a file. If a stranger names it,
  /// too, it may be the stranger's.
  bool is_ambiguous(std::string_view value) const {
    constexpr std::size_t kFewDigits = 5;
    const bool is_short =
        value.size() <= kFewDigits && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    return is_short && std::ranges::any_of(labels_.texts, [&](const LabelledText& text) {
             return text.trust == Trust::kUntrusted && names(text.text, value);
           });
  }

  bool is_trusted(std::string_view value) const {
    if (is_ambiguous(value)) return false;
    return std::ranges::any_of(labels_.texts, [&](const LabelledText& text) {
      return text.trust == Trust::kTrusted && names(text.text, value) &&
             (text.arguments.empty() || !contains(text.arguments, value));
    });
  }
  bool is_approved(std::string_view value) const { return std::ranges::count(labels_.approved, value) > 0; }
  bool is_approved_address(std::string_view address) const {
    return std::ranges::any_of(labels_.approved,
                               [&](const std::string& value) { return names(value, address); });
  }

  /// The origin of the last untrusted text that has the value; null: no such text.
  const LabelledText* source_of(std::string_view value) const {
    const auto has = [&](const LabelledText& text) {
      return text.trust == Trust::kUntrusted && contains(text.text, value);
    };
    const auto found = std::ranges::find_if(labels_.texts.rbegin(), labels_.texts.rend(), has);
    return found == labels_.texts.rend() ? nullptr : &*found;
  }
  const LabelledText* near_source_of(std::string_view value) const {
    const auto has = [&](const LabelledText& text) {
      return text.trust == Trust::kUntrusted && resembles(text.text, value);
    };
    const auto found = std::ranges::find_if(labels_.texts.rbegin(), labels_.texts.rend(), has);
    return found == labels_.texts.rend() ? nullptr : &*found;
  }

  void judge_destination(const Scalar& scalar, const std::string& plain, std::vector<Finding>& found) const {
    if (is_trusted(plain) || is_approved(plain)) return;
    const LabelledText* source = source_of(plain);
    if (source == nullptr) source = near_source_of(plain);
    if (source == nullptr && !is_tainted_) return;
    found.push_back({scalar.path, scalar.value, source != nullptr ? source->origin : "", false});
  }

  void judge_content(const Scalar& scalar, const std::string& plain, std::vector<Finding>& found) const {
    if (is_approved(plain)) return;
    for (const std::string& address : addresses_in(plain)) {
      if (is_trusted(address) || is_approved_address(address)) continue;
      const LabelledText* const source = source_of(address);
      if (source == nullptr && !is_tainted_) continue;
      found.push_back({scalar.path, address, source != nullptr ? source->origin : "", true});
    }
  }

  const Labels& labels_;
  const ToolLabel& tool_;
  std::vector<std::string> read_;
  bool is_tainted_ = false;
};

std::string shown(const std::string& value) {
  if (value.size() <= kMaxShownValue) return to_json_text(Json(value));
  std::size_t end = kMaxShownValue;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0U) == 0x80U) --end;
  return to_json_text(Json(value.substr(0, end))) + "...";
}

std::string joined_names(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return text;
}

std::string reason_of_findings(const ToolCallPart& call, const Verdict& verdict) {
  std::string text = '"' + call.name +
                     "\" has effects, and the model has read data that may carry instructions (" +
                     joined_names(verdict.read) + "). Where the values come from: ";
  for (std::size_t i = 0; i < verdict.findings.size() && i < kMaxFindings; ++i)
    text += (i == 0 ? "" : "; ") + to_text(verdict.findings[i]);
  if (verdict.findings.size() > kMaxFindings)
    text += "; and " + std::to_string(verdict.findings.size() - kMaxFindings) + " more";
  return text + '.';
}

bool is_allowed_exactly(const PolicyRules& rules, const ToolCallPart& call) {
  return std::ranges::any_of(rules.calls,
                             [&](const CallRule& rule) { return !rule.any_ending && allows(rule, call); });
}

}  // namespace

std::string to_text(const Finding& finding) {
  const std::string from =
      finding.origin.empty() ? "in no text of a person or developer" : "copied from " + finding.origin;
  if (finding.argument.empty()) return "no argument shows that a person wants this call";
  if (finding.in_content) return finding.argument + " has the address " + shown(finding.value) + ": " + from;
  return finding.argument + " = " + shown(finding.value) + ": " + from;
}

Verdict judge(const FlowRules& rules, const Labels& labels, const ToolDefinition& tool,
              const ToolCallPart& call) {
  Verdict verdict;
  const ToolLabel of_tool = label_of(rules, tool);
  if (rules.mode == FlowMode::kOff || !of_tool.is_sink) return verdict;
  CallJudge judge_of_call(labels, of_tool);
  if (judge_of_call.has_read()) {
    if (const auto key = repeated_key(call.arguments)) {
      verdict.permission =
          deny("The arguments of \"" + call.name + "\" are refused: " + repeated_key_problem(*key) + ".");
      return verdict;
    }
    std::vector<Scalar> scalars;
    collect_scalars(parse_json(call.arguments).value_or(nullptr), "", "", scalars);
    verdict.findings = judge_of_call.findings(scalars);
  }
  verdict.read = judge_of_call.take_read();
  if (verdict.findings.empty()) return verdict;
  std::string reason = reason_of_findings(call, verdict);
  verdict.permission =
      rules.mode == FlowMode::kDeny ? deny(std::move(reason)) : needs_approval(std::move(reason));
  return verdict;
}

Verdict judge(const std::vector<PolicyRules>& rules, const State& state, const ToolDefinition& tool,
              const ToolCallPart& call, const CallId& within) {
  Verdict strictest;
  const GivenFlow* const given = given_to(rules);
  for (const PolicyRules& layer : rules) {
    if (layer.flow.mode == FlowMode::kOff || is_allowed_exactly(layer, call)) continue;
    if (!label_of(layer.flow, tool).is_sink) continue;
    FlowRules own = layer.flow;
    own.has_given = given != nullptr;
    if (given != nullptr) own.given = *given;
    Verdict verdict = judge(own, label(own, state, within), tool, call);
    if (strictness(verdict.permission) < strictness(strictest.permission)) continue;
    if (verdict.findings.empty() && !strictest.findings.empty()) continue;
    verdict.layer = layer.source;
    strictest = std::move(verdict);
  }
  return strictest;
}

Permission narrowed(Permission permission, const Verdict& verdict) {
  if (strictness(verdict.permission) == 0 || std::holds_alternative<Deny>(permission)) return permission;
  const auto* const before = std::get_if<NeedsApproval>(&permission);
  const auto* const asked = std::get_if<NeedsApproval>(&verdict.permission);
  if (before != nullptr && asked != nullptr && !before->reason.empty())
    return needs_approval(before->reason + ' ' + asked->reason);
  return verdict.permission;
}

}  // namespace praxis::flow
