// Filters of content: `[[policy.filters]]`. They look at what the arguments, results and messages say, and
// deny, ask or redact; they never allow what rules forbid. Pure. Patterns are RE2's, whose time grows with
// the text alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/json/json.hpp"
#include "praxis/policy/policy.hpp"
#include "redact/redaction.hpp"

namespace re2 {
class RE2;
}

namespace praxis::filters {

/// Where content is looked at.
enum class Point : std::uint8_t {
  kToolInput,   ///< the arguments of a call
  kToolOutput,  ///< what a call gave, before it is recorded
  kMemory,      ///< the arguments of a call that writes to memory
  kModel,       ///< the request to a model
  kPrompt,      ///< what is sent into a run, and new versions of prompts
  kShown,       ///< what observers and callers see of a run
  kExport,      ///< what is exported of a run
};
std::string_view to_string(Point point);

/// What a filter does with content that it matches, from the mildest.
enum class Action : std::uint8_t {
  kAllow,   ///< the filters after it in the same file are not asked about this text
  kRedact,  ///< what matches is replaced by a mark
  kAsk,     ///< the call waits for an approval
  kDeny,
};
std::string_view to_string(Action action);

/// A part of the text matches.
struct HasMatch {
  std::string text;        ///< the pattern, or the name of a Unicode script
  bool is_script = false;  ///< letters of the script `text`
  std::shared_ptr<const re2::RE2> compiled;
};
/// The text, image or file has more bytes.
struct LongerThan {
  std::size_t bytes = 0;
};
/// An image or file of this MIME type; `*` at the end stands for any ending. What states no type matches.
struct HasMedia {
  std::string type;  ///< in lower case
};
/// The text has a secret, or personal data, by the rules of docs/secrets.md; their marks replace it.
struct HasSecret {
  redact::Redaction finder;
};
/// A model answers a question about the text (runtime/model_judge.hpp); `Scan` does not ask it.
struct AsksModel {
  std::string question;
  std::string model;  ///< empty: that of the agent
};
using Test = std::variant<HasMatch, LongerThan, HasMedia, HasSecret, AsksModel>;

struct Filter {
  std::string id;
  std::vector<Point> at;
  std::vector<std::string> tools;  ///< names; `*` at the end stands for any ending; empty: all of the point
  Test test;
  Action action = Action::kDeny;
  std::string reason;  ///< for who is asked, and for the model; may be empty
};

inline constexpr std::size_t kMostFilters = 100;  ///< of one file
/// Of text that the filters read at one point of one call; what has more is denied.
inline constexpr std::size_t kMostBytes = std::size_t{16} << 20;

/// `{id, at: POINT|[POINT...], tools?, one of matches, script, finds, longer_than, media_type and asks,
/// model?, action, reason?}`. Error `kInput`: a key, name or pattern is not valid, or the point cannot do
/// this.
Result<Filter> filter_from_json(const Json& json);

/// All filters of a file; null: none. Error `kInput` also: more than `kMostFilters`, or two have one id; its
/// detail has the `index` of the filter.
Result<std::vector<Filter>> filters_from_json(const Json& json);

/// The filters of an agent and of all above it. Immutable, thread-safe.
class FilterSet {
 public:
  /// A filter that cannot be read denies everything: what it was to stop is unknown.
  explicit FilterSet(const AgentSpec& agent);
  /// The filters of one file.
  explicit FilterSet(std::vector<Filter> filters) : layers_{std::move(filters)} {}
  /// By file, in the order of the file.
  const std::vector<std::vector<Filter>>& layers() const { return layers_; }
  /// Whether some filter is about this point.
  bool has(Point point) const;

 private:
  void add(const Json& policy);

  std::vector<std::vector<Filter>> layers_;
};
/// As `filter`, but redacts this passage, wherever it stands.
Filter finding(Filter filter, const std::string& passage);
/// The filters at a point that ask a model about a call of `tool`.
std::vector<const Filter*> judges(const FilterSet& set, Point point, std::string_view tool);
using FilterSetPtr = std::shared_ptr<const FilterSet>;
/// Null if the agent has no filters.
FilterSetPtr filters_of(const AgentSpec& agent);

/// What filters found in one piece of content.
struct Found {
  std::size_t bytes = 0;               ///< of text that was read
  const Filter* stopped_by = nullptr;  ///< as `Scan::stopped_by`
  std::vector<std::string> redacted_by = {};
};

/// Reads the content of one call at one point, text by text, and remembers what filters found.
class Scan {
 public:
  /// `tool`: whose arguments or result it is; empty at `kModel`. Filters that name no tools count if `all`.
  /// `set` outlives the scan.
  Scan(const FilterSet& set, Point point, std::string_view tool, bool all = true);

  /// Looks at a text, and redacts it in place. `name`: of the member that it is the value of. Returns true if
  /// it changed.
  bool text(std::string& text, std::string_view name = {});
  /// A text as the model reads it, then what its escapes stand for if it is JSON.
  bool content(std::string& text, std::string_view name = {});
  /// Each string and number of a value, the names of members among them.
  bool json(Json& json, std::string_view name = {});
  /// Text of a JSON value, whose strings are looked at without their escapes; a single text if it is not one.
  bool json_text(std::string& text);
  /// Whether an image or file may stay.
  bool keeps(std::string_view mime, std::size_t bytes);

  /// The filter that asks or denies: the strictest, the first of these; null: none does.
  const Filter* stopped_by() const { return stopped_by_; }
  /// What was found so far; as long as it did not have too much text.
  Found found() const { return {read_, stopped_by_, redacted_by_}; }
  /// Takes what another scan at this point found in a piece, as if this one had read it. Returns false, and
  /// takes nothing, if that would be too much text: this scan then has to read the piece itself.
  bool add(const Found& found);
  /// Whether `stopped_by` denies.
  bool denies() const;
  /// `The filter "x" DOES WHAT: reason`, of `stopped_by`.
  std::string why(std::string_view does, std::string_view what) const;
  /// The filters that redacted something, in the order of the first find.
  const std::vector<std::string>& redacted_by() const { return redacted_by_; }
  /// As `records::EffectSettled::by`; empty: no filter applied.
  std::string by() const;

 private:
  bool fits(std::size_t bytes);
  void stop(const Filter& filter);
  void note_redaction(const Filter& filter);
  bool apply(const std::vector<const Filter*>& layer, std::string& text, std::string_view name);

  std::vector<std::vector<const Filter*>> layers_;  ///< those that concern the call
  std::size_t read_ = 0;                            ///< bytes of text
  bool too_long_ = false;
  const Filter* stopped_by_ = nullptr;
  std::vector<std::string> redacted_by_;
};

/// What stands for redacted content.
std::string mark(const Filter& filter);
/// What stands for a text that a filter denies where texts leave a run.
std::string withheld(const Filter& filter);
/// The filters at a point where texts leave a run, for a redaction; null: there are no such filters.
redact::TextRulePtr text_rule(FilterSetPtr set, Point point);
/// Whom the log names for a decision of these filters.
Author author_of(const std::vector<std::string>& ids);

/// The decision of a scan at `kPrompt` for the log, about no call: `kReject` with the reason, or `kEdit`.
/// `std::nullopt` if no filter applied.
std::optional<records::Decided> said(const Scan& scan);

/// What filters say about a call that is about to run.
struct CallVerdict {
  Permission permission = allow();
  Author author = {};                         ///< of what asks or denies
  std::optional<std::string> arguments = {};  ///< redacted ones, which replace those of the call
  std::vector<std::string> redacted_by = {};
};
/// Applies the filters at `kToolInput`, and those at `kMemory` if the call writes to memory (`remember`, and
/// `put` of `kv`) or they name its tool.
CallVerdict judge(const FilterSet& set, const ToolCallPart& call);

}  // namespace praxis::filters
