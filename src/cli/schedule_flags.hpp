// The arguments of `schedule` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kScheduleHelp = "Run agents at times of day";
inline constexpr const char* kScheduleExamples =
    "  praxis schedule add \"0 6 * * 1-5\" \\\n"
    "    morning \"Summarise the news\" \\\n"
    "    --missed once --zone Europe/Berlin\n"
    "  praxis schedule list\n"
    "  praxis schedule pause 7Q2K\n"
    "  praxis schedule rm 7Q2K\n"
    "  praxis schedule run";

inline void add_schedule_flags(CLI::App* schedule, ScheduleOptions& options) {
  using Verb = ScheduleOptions::Verb;
  const std::map<std::string, Verb> verbs{{"add", Verb::kAdd},         {"list", Verb::kList},
                                          {"rm", Verb::kRemove},       {"pause", Verb::kPause},
                                          {"unpause", Verb::kUnpause}, {"run", Verb::kRun}};
  takes_word(schedule
                 ->add_option("VERB", options.verb,
                              "add TIMES AGENT PROMPT; list; rm ID; pause ID; unpause ID; run, which carries "
                              "the schedules out until it is ended, as 'praxis serve' does too")
                 ->type_name(""),
             verbs);
  schedule
      ->add_option("TIMES", options.first,
                   "MINUTE HOUR DAY MONTH WEEKDAY as of cron, or @hourly, @daily, @weekly, @monthly, "
                   "@yearly; of other verbs the id of a schedule, or its unique beginning or end")
      ->type_name("");
  schedule
      ->add_option("AGENT", options.agent,
                   "An agent of your folder of agents, or one that 'praxis agents' shows, by its name")
      ->type_name("");
  schedule->add_option("PROMPT", options.prompt, "What the agent is to do")->type_name("");
  schedule
      ->add_option("--missed", options.missed,
                   "What happens to times that passed while no process carried the schedule out: skip, once "
                   "(one run for all), all")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"skip", "once", "all"}).description(""))
      ->capture_default_str();
  schedule->add_option("--zone", options.zone, "Time zone of TIMES; default: that of the machine")
      ->type_name("NAME");
  add_json(schedule, options.json, "schedule");
  add_place(schedule, options.place);
}

}  // namespace praxis::cli
