// What fills the window of a run's model, by part: the request that would be sent now. For `/context` of a
// chat and `praxis show --context`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

enum class ContextKind : std::uint8_t {
  kInstructions,
  kFolderFile,  ///< with instructions of the folder, such as `AGENTS.md`
  kTools,       ///< their definitions
  kSkills,      ///< the list from which the model chooses
  kNotes,       ///< recalled from memory
  kSystem,      ///< system and developer messages
  kSummary,     ///< of messages that were compacted
  kUser,
  kAssistant,  ///< with its calls
  kResults,    ///< of tools
};
std::string_view to_string(ContextKind kind);

struct ContextPart {
  ContextKind kind;
  std::string name;       ///< of a file, safe to show; else empty
  std::size_t count = 0;  ///< tools, messages or blocks of notes; 0: it is one text
  std::int64_t tokens = 0;
};

struct ContextReport {
  std::string model;
  std::int64_t used = 0;    ///< tokens; what the parts add up to
  std::int64_t window = 0;  ///< tokens; 0: unknown
  /// Whether the provider counted `used`. The parts are estimates that are scaled to it.
  bool is_counted = false;
  /// Tokens above which older messages are summarised; absent: they never are.
  std::optional<std::int64_t> compacts_above;
  bool compacts_itself = false;    ///< the provider does
  std::vector<ContextPart> parts;  ///< in the order of `ContextKind`; none is empty
};

/// The figures are those of the core: `State::used_tokens`, `State::context_window`, its estimator and its
/// mark.
ContextReport context_report(const State& state);

/// Lines of at most `columns` columns without line ends: a bar with the mark, the parts, what is free.
std::vector<std::string> context_lines(const ContextReport& report, std::size_t columns);
/// `{model, used, window?, counted, compacts_above?, parts: [{part, name?, count?, tokens}]}`.
JsonObject context_json(const ContextReport& report);
/// Reads it. Members that are missing keep their defaults, parts of unknown kinds are left out.
ContextReport context_from(const Json& json);

}  // namespace praxis::app
