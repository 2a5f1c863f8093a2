// What each command was asked to do: plain values that `app.cpp` fills from the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "praxis/base/time.hpp"
#include "praxis/core/records.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::cli {

/// Where a command works.
struct Place {
  std::string folder;   ///< `-C`; empty for the current one
  std::string journal;  ///< `--journal`; empty: as configured
};

/// How the progress and result of a turn are shown.
struct TurnOutput {
  bool json = false;
  bool stream = true;
  std::string file;       ///< `-o`: gets the last message; empty for none
  std::string record_to;  ///< `--record`: a folder that gets the exchanges with models; empty for none
};

struct RunOptions {
  Place place;
  TurnOutput output;
  std::optional<std::string> first;   ///< an agent or the prompt
  std::optional<std::string> second;  ///< the prompt after an agent
  std::string model;
  std::string schema;               ///< file with the JSON Schema of the answer; empty for free text
  std::vector<std::string> attach;  ///< files and addresses that go with the prompt
  std::optional<MicroUsd> max_usd;
  std::optional<std::uint32_t> max_steps;
  std::optional<Millis> timeout;
};

struct ResumeOptions {
  Place place;
  TurnOutput output;
  std::string id;
  std::optional<std::string> prompt;
  std::vector<std::string> allow, deny, edit, answer;
  std::string reason;
  std::string agent;
  std::string model;
  bool force = false;
};

struct RunsOptions {
  Place place;
  std::size_t count = 20;
  bool json = false;
  bool all = false;  ///< also sub-agents
};

struct TreeOptions {
  Place place;
  std::string root;  ///< empty: the runs that are not at rest, or the last one
  bool watch = false;
  bool json = false;
  bool all = false;  ///< every run
};

/// A command for one node of the tree.
struct TreeCommandOptions {
  Place place;
  std::string name;  ///< as it was typed: `stop`, `steer`, ...
  CommandVerb verb = CommandVerb::kAnnotate;
  std::string node;
  std::string text;
  bool json = false;
};

struct ApproveOptions {
  Place place;
  TurnOutput output;  ///< of the run that goes on
  std::string id;     ///< empty: list what waits
  bool allow = false;
  bool deny = false;
  bool always = false;              ///< allow, also next time
  bool yes = false;                 ///< without asking whether the rule is right
  std::optional<std::string> edit;  ///< file with the arguments
  std::optional<std::string> answer;
  std::string reason;
  std::string agent;  ///< `--agent` of the run that goes on
};

struct ShowOptions {
  Place place;
  std::string id;
  bool json = false;
};

struct LogsOptions {
  Place place;
  std::string id;
  bool json = false;
};

struct ForkOptions {
  Place place;
  std::string id;  ///< with `@STEP` at its end, or without
  std::optional<std::uint64_t> seq;
  std::string model;
};

struct RewindOptions {
  Place place;
  std::string id;
  std::string turn;
};

struct ReplayOptions {
  Place place;
  std::string id;
  std::string agent;
  bool json = false;
};

struct ExportOptions {
  Place place;
  std::string id;
  std::string file;
};

struct ImportOptions {
  Place place;
  std::string file;
};

struct ModelsOptions {
  Place place;
  std::string name;  ///< a provider, or a model in full; empty for all configured providers
  bool json = false;
  bool all = false;  ///< also providers for which nothing is set
};

struct DoctorOptions {
  Place place;
  bool json = false;
  bool online = false;  ///< also ask each provider's server for an answer
};

/// Text that was asked for: help, the version, a completion script, the man page.
struct PrintText {
  std::string text;
};

using Invocation =
    std::variant<PrintText, RunOptions, ResumeOptions, ApproveOptions, TreeOptions, TreeCommandOptions,
                 RunsOptions, ShowOptions, LogsOptions, ForkOptions, RewindOptions, ReplayOptions,
                 ExportOptions, ImportOptions, ModelsOptions, DoctorOptions>;

}  // namespace praxis::cli
