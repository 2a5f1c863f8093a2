// The arguments of `eval` and `stats` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "app/values.hpp"
#include "cli/options.hpp"
#include "cli/shared_options.hpp"
#include "praxis/base/duration.hpp"

namespace praxis::cli {

inline constexpr const char* kEvalHelp = "Put the cases of a suite to agents and judge what they answer";
inline constexpr const char* kEvalExamples =
    "  praxis eval suite.toml\n"
    "  praxis eval suite.toml --json > base.jsonl\n"
    "  praxis eval suite.toml --baseline base.jsonl\n"
    "  praxis eval cases.csv --threshold 0.9\n"
    "  praxis eval suite.toml --html report.html\n"
    "  praxis eval suite.toml --replay\n"
    "  praxis eval add last suite.toml";

inline void add_eval_flags(CLI::App* eval, EvalOptions& options) {
  eval->add_option("SUITE", options.words,
                   "Suite (TOML) or cases (JSONL, CSV). Or: add RUN SUITE, which adds a case made from a run")
      ->type_name("");
  eval->add_option("--model", options.model, "Model of variants that name none, as PROVIDER:NAME")
      ->type_name("MODEL");
  add_repeated(eval, "--tag", options.tags, "Only cases with this tag, or with one of several", "TAG");
  eval->add_option("-j,--jobs", options.jobs, "Runs at the same time")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U).description(""))
      ->capture_default_str();
  eval->add_flag("--replay", options.replay,
                 "Make recorded runs again off-line: models and tools answer from the log; exit with 7 if a "
                 "request is not as recorded");
  eval->add_option("--round", options.round,
                   "Name of the runs: another name runs everything again, the same one reads what has ended")
      ->type_name("NAME");
  add_parsed<MicroUsd>(eval, "--max-usd", options.max_usd,
                       "Begin no further run once those of this evaluation cost this amount", "AMOUNT",
                       app::parse_usd);
  eval->add_option("--threshold", options.threshold,
                   "Exit with 8 if the score of a variant is below this, from 0 to 1")
      ->type_name("SCORE")
      ->check(CLI::Range(0.0, 1.0).description(""));
  takes_path(eval->add_option("--baseline", options.baseline,
                              "Compare with this output of --json; exit with 8 if a variant is worse"),
             "FILE");
  takes_path(eval->add_option("--junit", options.junit, "Also write JUnit XML to this file"), "FILE");
  takes_path(eval->add_option("--html", options.html, "Also write a report in HTML to this file"), "FILE");
  eval->add_flag("-q,--quiet", options.quiet, "Show no progress");
  add_home(eval, options.allow_home);
  add_json(eval, options.json, "run of a case");
  add_place(eval, options.place);
}

inline constexpr const char* kStatsHelp =
    "Measure the runs in the journal: success, steps, tools, tokens, cost, waiting, retries";
inline constexpr const char* kStatsExamples =
    "  praxis stats\n"
    "  praxis stats --by tool --since 7d\n"
    "  praxis stats --by model --json\n"
    "  praxis stats --html stats.html";

inline void add_stats_flags(CLI::App* stats, StatsOptions& options) {
  using By = app::StatsBy;
  const std::map<std::string, By> by{{"agent", By::kAgent},
                                     {"model", By::kModel},
                                     {"tool", By::kTool},
                                     {"day", By::kDay},
                                     {"tenant", By::kTenant}};
  takes_word(stats->add_option("--by", options.by, "A line for each agent, model, tool, day or tenant")
                 ->type_name("WHAT"),
             by);
  add_parsed<Millis>(stats, "--since", options.since, "Only what ended within this time: 2h, 7d", "TIME",
                     parse_duration);
  takes_path(
      stats->add_option("--html", options.html,
                        "Also write all measures to this file in HTML: in all, and by agent, model, tool, "
                        "day and tenant"),
      "FILE");
  add_json(stats, options.json, "line");
  add_place(stats, options.place);
}

}  // namespace praxis::cli
