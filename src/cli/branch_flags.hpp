// The arguments of `fork` and `replay` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kForkExamples =
    "  praxis fork last\n"
    "  praxis fork 01K9X@3 --model openai:gpt-5\n"
    "  praxis fork 01K9X@3 --prompt \"Try it without the cache\"\n"
    "  praxis fork 01K9X@t2 --edit\n"
    "  praxis fork 01K9X --seq 12";
inline constexpr const char* kReplayExamples =
    "  praxis replay last\n"
    "  praxis replay 01K9X --to 12\n"
    "  praxis replay 01K9X --agent changed.toml --json\n"
    "  praxis replay last --tool search=fail\n"
    "  praxis replay last --from 3 --model openai:X";

inline void add_fork_flags(CLI::App* fork, ForkOptions& options) {
  fork->add_option(
          "ID[@STEP]", options.id,
          "Run id; with @STEP, branch after that step of the last turn; with @t2 or @t2.3, after that "
          "turn or step")
      ->type_name("")
      ->required();
  fork->add_option("--seq", options.seq, "Branch after the record with this number")
      ->type_name("N")
      ->check(CLI::Validator(is_number_from_1, ""));
  fork->add_option("--model", options.model, "Model of the branch")->type_name("MODEL");
  fork->add_flag("--files", options.files,
                 "Take the files back too: to what they were there, as far as the run changed them");
  CLI::Option* prompt =
      fork->add_option(
              "--prompt", options.prompt,
              "Run the branch with this message: as the next turn, or, within a turn, at its next step")
          ->type_name("TEXT");
  fork->add_flag("--edit", options.edit,
                 "Edit the message that began the turn there, and run a branch from before it with what was "
                 "saved")
      ->excludes(prompt);
}

inline void add_replay_flags(CLI::App* replay, ReplayOptions& options) {
  add_id(replay, options.id);
  CLI::Option* agent = takes_path(
      replay->add_option("--agent", options.agent, "Replay as if the run had used this agent file"), "FILE");
  CLI::Option* to =
      replay
          ->add_option("--to", options.to,
                       "Replay up to the record with this number, and show the conversation as it was then")
          ->type_name("SEQ")
          ->check(CLI::Validator(is_number_from_1, ""));
  add_repeated(replay, "--tool", options.tools,
               "Run it again, in a new run, with the results of this tool from elsewhere: 'recorded' (as all "
               "other tools), 'live' (as the rules allow), 'static:FILE' or 'fail'",
               "NAME=SOURCE");
  replay->add_option("--model", options.model, "Run it again with the answers of this model")
      ->type_name("MODEL");
  replay->add_option("--prompt", options.prompt, "Run it again with this message in place of the first")
      ->type_name("TEXT");
  replay
      ->add_option("--from", options.from,
                   "Run it again from this step on: '3' of the last turn, 't2' or 't2.3'")
      ->type_name("STEP");
  for (const char* name : {"--tool", "--model", "--prompt", "--from"})
    replay->get_option(name)->excludes(agent)->excludes(to);
  add_accepted(replay, options.accept_agent);
  add_home(replay, options.allow_home);
}

}  // namespace praxis::cli
