// Options that several commands share. For app.cpp only, because CLI11 takes long to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"
#include "cli/options.hpp"
#include "praxis/base/duration.hpp"

namespace praxis::cli {

inline constexpr const char* kIdHelp = "Run id, a unique beginning or end of it, the run's name, or 'last'";

/// The run that a command is about.
inline void add_id(CLI::App* command, std::string& id) {
  command->add_option("ID", id, kIdHelp)->type_name("")->required();
}

/// Makes an option take a path. Refuses an empty one, such as the value of an unset variable in a script.
inline CLI::Option* takes_path(CLI::Option* option, const std::string& type) {
  return option->type_name(type)->check(
      [](const std::string& path) { return path.empty() ? "the path is empty" : std::string(); });
}

/// Makes an option take one of these words. The transformer of CLI11 prints each word with its value, and a
/// value of 0 would end its message.
template <class Choice>
CLI::Option* takes_word(CLI::Option* option, const std::map<std::string, Choice>& words) {
  return option->transform(CLI::Validator(
      [words](std::string& given) {
        if (const auto found = words.find(given); found != words.end()) {
          given = std::to_string(static_cast<int>(found->second));
          return std::string();
        }
        std::string all;
        for (const auto& [word, choice] : words) all += (all.empty() ? "" : ",") + word;
        return given + " not in {" + all + '}';
      },
      ""));
}

/// Refuses what is not a number without a sign; the parser would take -1 for the largest one.
inline std::string is_count(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;
  const bool good = !text.empty() && text.size() <= kMostDigits &&
                    text.find_first_not_of("0123456789") == std::string::npos;
  return good ? "" : '"' + text + "\" is not a number";
}

/// The same for numbers that begin with 1.
inline std::string is_number_from_1(const std::string& text) {
  const bool good = is_count(text).empty() && text.find_first_not_of('0') != std::string::npos;
  return good ? "" : '"' + text + "\" is not a number from 1";
}

inline void add_place(CLI::App* command, app::Place& place) {
  command->add_option("--profile", place.profile, "Use this profile of the configuration")->type_name("NAME");
  takes_path(command->add_option("-C,--directory", place.folder, "Work in this directory"), "DIR");
  takes_path(command->add_option("--journal", place.journal, "Journal file, or 'memory' to keep nothing"),
             "FILE");
}

/// Makes a command act on the runs of a server.
inline void add_server(CLI::App* command, ServerPlace& server) {
  CLI::Option* url =
      command->add_option("--server", server.url, "Act on the runs of this server, not on those of a journal")
          ->type_name("URL");
  takes_path(
      command->add_option("--token-file", server.token_file,
                          "File with the token of --server; otherwise PRAXIS_TOKEN, or the file of the "
                          "local server"),
      "FILE")
      ->needs(url);
}

inline constexpr std::string_view kEnvelope;

/// Makes `--json=yes` an error.
inline void refuse_values_of_flags(CLI::App* command) {
  for (CLI::Option* option : command->get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
}

/// `--json` of a command that lists things: one line for each, and the result last.
inline void add_json(CLI::App* command, bool& json, std::string_view each) {
  const std::string lines = each.empty() ? "" : " one line for each " + std::string(each) + ", then";
  command->add_flag("--json", json, "Write JSON for programs:" + lines + " the result as one line");
}

inline void add_turn_output(CLI::App* command, TurnOutput& output) {
  command->add_flag("--json", output.json,
                    "Write JSON for programs: one line for each event, then the result as one line");
  takes_path(command->add_option("-o,--output", output.file,
                                 "Also write the last message to this file; '-': to standard output only"),
             "FILE");
  command->add_flag_callback(
      "--no-stream", [&output] { output.stream = false; }, "Request answers without streaming");
  command->add_flag("-q,--quiet", output.quiet,
                    "Show no progress, and after a turn that finished nothing but the answer");
  command->add_flag("-v,--verbose", output.verbose, "Show the result of each call, cut after 20 lines");
  command->add_flag("--no-input", output.no_input,
                    "Ask nothing at the terminal: steps that await a human stay parked");
  command->add_flag(
      "--denials-ok", output.denials_ok,
      "Exit as if no rule had denied a call (otherwise a finished or failed turn exits with 4)");
  takes_path(command->add_option("--record", output.record_to,
                                 "Record every exchange with models in this folder; cassette:DIR replays it"),
             "DIR");
}

/// An option whose value one of our parsers reads.
template <class T>
void add_parsed(CLI::App* command, const std::string& name, std::optional<T>& value,
                const std::string& description, const std::string& type,
                Result<T> (*parse)(std::string_view)) {
  command
      ->add_option_function<std::string>(
          name,
          [name, &value, parse](const std::string& text) {
            auto parsed = parse(text);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            value = *parsed;
          },
          description)
      ->type_name(type);
}

/// Limits of the turn.
inline void add_limits(CLI::App* command, TurnLimits& limits) {
  add_parsed<MicroUsd>(command, "--max-usd", limits.max_usd,
                       "Stop when the cost of the turn reaches this amount", "AMOUNT", app::parse_usd);
  command->add_option("--max-steps", limits.max_steps, "Stop after this many steps")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U).description(""));
  add_parsed<Millis>(command, "--timeout", limits.timeout, "Stop after this much active time: 30s, 1h30m",
                     "TIME", parse_duration);
  add_parsed<Millis>(command, "--patience", limits.patience,
                     "Give up after this time if a model's server cannot be reached, is overloaded or stalls",
                     "TIME", parse_duration);
}

/// How a route over several models is tried.
inline void add_route(CLI::App* run, RunOptions& options) {
  add_parsed<RouteOrder>(run, "--route-order", options.route_order,
                         "Which model of a route A|B is tried first: priority, cost or latency", "ORDER",
                         app::parse_route_order);
  add_parsed<MicroUsd>(run, "--route-max-usd", options.route_max_usd,
                       "Skip models of a route whose estimated cost of a call exceeds this", "AMOUNT",
                       app::parse_usd);
}

/// An option that can be given several times, with one value each.
inline void add_repeated(CLI::App* command, const std::string& name, std::vector<std::string>& values,
                         const std::string& description, const std::string& type) {
  command->add_option(name, values, description)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

/// Lets the tools of an agent reach the home folder.
inline void add_home(CLI::App* command, bool& allowed) {
  command->add_flag("--allow-home", allowed,
                    "Let the agent's tools reach your home folder, or a folder above it");
}

/// How a run accepts files of its agent that changed.
inline void add_accepted(CLI::App* command, std::string& accepted) {
  command
      ->add_option("--accept-agent", accepted,
                   "Continue although files of the agent changed, if they have this digest now")
      ->type_name("DIGEST");
}

/// How a run finds its agent file, and accepts a changed one.
inline void add_agent(CLI::App* command, std::string& agent, std::string& accepted) {
  takes_path(command->add_option("--agent", agent, "Agent file, if it is no longer where the run found it"),
             "FILE");
  add_accepted(command, accepted);
}

}  // namespace praxis::cli
