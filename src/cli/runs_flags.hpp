// The arguments of `runs` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "app/run_list.hpp"
#include "cli/runs_words.hpp"
#include "cli/shared_options.hpp"
#include "praxis/base/duration.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {

inline constexpr const char* kRunsDescription =
    "List the runs in the journal, newest first; search, name, tag and remove them";
inline constexpr const char* kRunsExamples =
    "  praxis runs\n"
    "  praxis runs websocket --agent reviewer --since 7d\n"
    "  praxis runs -n 100 --json | jq -r 'select(.status == \"awaiting_user\") | .id'\n"
    "  praxis runs name last release-review\n"
    "  praxis runs tag 01K9X good checked\n"
    "  praxis runs rm 01K9X 01K9Y\n"
    "  praxis runs prune --older 30d --dry-run";

/// The time that was so long ago, such as `2h`. Error `kInput`.
inline Result<UnixMillis> parse_time_ago(std::string_view text) {
  const auto ago = parse_duration(text);
  if (!ago) return fail(ago.error());
  return system_environment()->now() + -*ago;
}

inline void add_filters(CLI::App* runs, app::RunFilter& filter) {
  runs->add_option("--search", filter.text,
                   "Only runs that contain this text; as the words without a command")
      ->type_name("TEXT");
  runs->add_option("--agent", filter.agent, "Only runs of the agent with this id")->type_name("ID");
  runs->add_option("--model", filter.model, "Only runs of models with this in their name")
      ->type_name("MODEL");
  runs->add_option_function<std::string>(
          "--status",
          [&filter](const std::string& text) {
            auto parsed = app::parse_status(text);
            if (!parsed) throw CLI::ValidationError("--status", parsed.error().message);
            filter.status = *parsed;
          },
          "Only runs with this status: idle, running, awaiting_user, completed, error, cancelled, "
          "interrupted, deleted, corrupt")
      ->type_name("STATUS");
  runs->add_option("--tag", filter.tag, "Only runs with this tag")->type_name("TAG");
  add_parsed<UnixMillis>(runs, "--since", filter.from,
                         "Only runs that did something within this time: 2h, 7d", "TIME", parse_time_ago);
  add_parsed<UnixMillis>(runs, "--older", filter.until, "Only runs that did nothing for this time: 30d",
                         "TIME", parse_time_ago);
  add_parsed<MicroUsd>(runs, "--min-cost", filter.min_cost,
                       "Only runs that cost at least this, in US dollars", "AMOUNT", app::parse_usd);
  add_parsed<MicroUsd>(runs, "--max-cost", filter.max_cost, "Only runs that cost at most this, in US dollars",
                       "AMOUNT", app::parse_usd);
}

inline void add_runs_flags(CLI::App* runs, RunsOptions& options, RunsWords& words) {
  runs->add_option(
          "WORD", words.words,
          "Text to search for: in names, tags, titles, agents, models and conversations. Or a command: "
          "name RUN NAME, unname RUN, tag RUN TAG..., untag RUN TAG..., rm RUN..., or prune, which "
          "removes the runs that fit the filters")
      ->type_name("");
  runs->add_option("-n,--count", options.count, "List at most this many; 0: all")
      ->type_name("N")
      ->check(CLI::Validator(is_count, ""))
      ->capture_default_str();
  runs->add_flag("--all", options.all, "List sub-agents too");
  add_filters(runs, options.filter);
  runs->add_flag("--yes", words.yes, "Remove without confirmation");
  runs->add_flag("--dry-run", words.dry_run, "List what rm or prune would remove");
  runs->add_flag("--named", words.named, "Prune runs that have a name too");
  add_json(runs, options.json, "run");
  add_place(runs, options.place);
}

}  // namespace praxis::cli
