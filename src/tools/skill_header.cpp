#include "tools/skill_header.hpp"

#include <yaml.h>

#include <algorithm>
#include <cstddef>

namespace praxis {
namespace {

constexpr std::size_t kMostNested = 16;
constexpr std::string_view kFence = "---";

std::unexpected<Error> bad_header(const std::string& why) {
  return fail(ErrorCode::kInput, "the header of SKILL.md " + why);
}

/// The events of libyaml for one document, one at a time.
class YamlEvents {
 public:
  explicit YamlEvents(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlEvents() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  /// The next event, valid until the one after it.
  Result<const yaml_event_t*> next() {
    yaml_event_delete(&event_);
    event_ = {};
    if (yaml_parser_parse(&parser_, &event_) != 0) return &event_;
    const std::string problem = parser_.problem == nullptr ? "not readable" : parser_.problem;
    return bad_header("is not valid YAML: line " + std::to_string(parser_.problem_mark.line + 1) + ": " +
                      problem);
  }

 private:
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
};

/// Reads the fields of the outermost map and passes over what is nested in it.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : events_(text) {}

  Result<SkillFields> read() {
    while (!ended_) {
      const auto event = events_.next();
      if (!event) return fail(event.error());
      if (auto taken = take(**event); !taken) return fail(taken.error());
    }
    if (!is_map_) return bad_header("has no fields");
    return std::move(fields_);
  }

 private:
  Status take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_STREAM_END_EVENT:
        ended_ = true;
        return {};
      case YAML_ALIAS_EVENT:
        return bad_header("contains a reference (*), which is not read");
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT:
        return begin(event.type == YAML_MAPPING_START_EVENT);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        if (--depth_ == 1) in_value_ = false;
        return {};
      case YAML_SCALAR_EVENT:
        return scalar({reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length});
      default:
        return {};
    }
  }

  Status begin(bool map) {
    if (depth_ == 0 && !map) return bad_header("must be a list of fields such as \"name: my-skill\"");
    if (depth_ == 0) is_map_ = true;
    if (depth_ == 1 && !in_value_) return bad_header("has a field whose name is not a text");
    if (++depth_ > kMostNested)
      return bad_header("is nested more than " + std::to_string(kMostNested) + " levels");
    return {};
  }

  Status scalar(std::string text) {
    if (depth_ == 0) return bad_header("must be a list of fields such as \"name: my-skill\"");
    if (depth_ > 1) return {};
    if (std::exchange(in_value_, !in_value_)) {
      fields_.back().second = std::move(text);
      return {};
    }
    if (std::ranges::count(fields_, text, &SkillFields::value_type::first) > 0)
      return bad_header("has the field \"" + text + "\" twice");
    fields_.emplace_back(std::move(text), "");
    return {};
  }

  YamlEvents events_;
  SkillFields fields_;
  std::size_t depth_ = 0;
  bool is_map_ = false;
  bool in_value_ = false;  ///< of the outermost map: the value of a field follows
  bool ended_ = false;
};

/// The line at `start` without its end.
std::string_view line_from(std::string_view text, std::size_t start) {
  std::string_view line = text.substr(start, text.find('\n', start) - start);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<SkillText> split_skill(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (line_from(text, 0) != kFence)
    return fail(ErrorCode::kInput, "SKILL.md must begin with a line \"---\", the fields, and a line \"---\"");
  const std::size_t first = std::min(text.find('\n'), text.size() - 1) + 1;
  for (std::size_t at = first; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (line_from(text, at) == kFence) return SkillText{text.substr(first, at - first), text.substr(end)};
    at = end;
  }
  return bad_header("has no end: a line \"---\" is missing");
}

Result<SkillFields> read_skill_header(std::string_view header) { return HeaderReader(header).read(); }

}  // namespace praxis
