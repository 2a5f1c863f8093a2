// A suite of an evaluation: cases, the variants of agents that they are put to, and how often. docs/evals.md
// describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evals/check.hpp"

namespace praxis::evals {

/// One task with what its answer must be.
struct EvalCase {
  std::string id;
  std::string prompt;
  std::vector<std::string> files = {};  ///< attached to the prompt: URLs, and paths with the suite's folder
  std::vector<std::string> tags = {};
  double weight = 1;
  Json expected = nullptr;  ///< as given; null: none
  std::vector<Check> checks = {};
};

/// One agent that the cases are put to.
struct Variant {
  std::string name;
  std::string model = {};  ///< empty: that of the agent or the configuration
  std::string agent = {};  ///< an agent file, with the suite's folder, or a name; empty: the default agent
  std::optional<std::string> instructions = {};  ///< replace those of the agent
  Json options = nullptr, limits = nullptr;      ///< laid over those of the agent; tables as in agent files
};

/// An answer to a case that a human judged.
struct Label {
  std::string test;  ///< id of the case
  std::string answer;
  bool pass = false;
};

/// The model that judges answers (`checks::Judged`).
struct JudgeSpec {
  std::string model = {};          ///< empty: that of the configuration
  MicroUsd max_usd{100'000};       ///< of one judgement
  std::vector<Label> labels = {};  ///< answers that show how far it agrees with people
};

struct Suite {
  std::string name;
  std::string folder;  ///< of its file, absolute
  std::uint32_t repeats = 1;
  /// The n-th repeat sends this number plus n - 1 as the vendor's setting `seed`.
  std::optional<std::int64_t> seed = {};
  std::vector<Variant> variants;
  std::vector<EvalCase> cases;
  JudgeSpec judge = {};

  std::size_t runs() const { return cases.size() * variants.size() * repeats; }
};

/// Upper bounds on what a suite may ask for.
inline constexpr std::uint32_t kMaxRepeats = 1000;
inline constexpr std::size_t kMaxVariants = 100;
inline constexpr std::size_t kMaxCases = 100'000;

/// Reads a suite: TOML, which may name files of cases, or such a file itself (JSONL or CSV). Error `kInput`
/// names the file and the place in it.
Result<Suite> read_suite(const std::string& path);
/// The same from the text of a file.
Result<Suite> read_suite(std::string_view text, const std::string& path);

/// Keeps the cases that have one of the tags; all if there are no tags. Error `kInput`: none has one.
Status keep_tagged(Suite& suite, const std::vector<std::string>& tags);

}  // namespace praxis::evals
