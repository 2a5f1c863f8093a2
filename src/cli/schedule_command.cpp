// `schedule`: keeps schedules next to a journal, and carries them out in the foreground.
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/schedules.hpp"
#include "base/time_zone.hpp"
#include "base/visible_text.hpp"
#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"
#include "server/schedule_thread.hpp"

namespace praxis::cli {
namespace {

using ScheduleVerb = ScheduleOptions::Verb;

/// The name of the machine's time zone, from `TZ` or the link /etc/localtime; `UTC` if neither says it.
std::string zone_of_machine() {
  std::string name = app::environment_variable("TZ");
  if (name.starts_with(':')) name.erase(0, 1);
  constexpr std::string_view kFolder = "/zoneinfo/";
  std::error_code error;
  if (name.empty()) name = std::filesystem::read_symlink("/etc/localtime", error).string();
  if (const auto at = name.find(kFolder); at != std::string::npos) name.erase(0, at + kFolder.size());
  return TimeZone::find(name) ? name : "UTC";
}

app::Missed missed_of(const std::string& word) {
  if (word == "skip") return app::Missed::kSkip;
  return word == "all" ? app::Missed::kAll : app::Missed::kOnce;
}

/// One use of the command.
class ScheduleWork {
 public:
  ScheduleWork(const ScheduleOptions& options, app::Workspace workspace, Console& console)
      : options_(options), workspace_(std::move(workspace)), console_(console) {}

  Result<ExitStatus> run() {
    switch (options_.verb) {
      case ScheduleVerb::kAdd:
        return add();
      case ScheduleVerb::kList:
        return list();
      case ScheduleVerb::kRemove:
      case ScheduleVerb::kPause:
      case ScheduleVerb::kUnpause:
        return change();
      case ScheduleVerb::kRun:
        return carry_out();
    }
    std::unreachable();
  }

 private:
  Result<ExitStatus> add() {
    if (options_.first.empty() || options_.agent.empty() || options_.prompt.empty())
      return fail(app::usage_error("add needs times, an agent and a prompt",
                                   "praxis schedule add \"0 6 * * 1-5\" AGENT PROMPT"));
    const auto agent = app::find_agent_or_preset(workspace_, options_.agent);
    if (!agent) return fail(agent.error());
    // A file that is found from here may not be found from where the schedule is carried out.
    const bool is_name = !options_.agent.contains('/') && !options_.agent.ends_with(".toml");
    if (!*agent || !is_name) return fail(app::not_in_agent_folder(workspace_, options_.agent));
    const UnixMillis now = system_environment()->now();
    const app::Schedule schedule{.id = system_environment()->new_id(),
                                 .times = options_.first,
                                 .zone = options_.zone.empty() ? zone_of_machine() : options_.zone,
                                 .agent = options_.agent,
                                 .prompt = options_.prompt,
                                 .missed = missed_of(options_.missed),
                                 .done = now};
    const auto next = app::next_time(schedule, now);
    if (!next) return fail(next.error());
    const auto store = app::ScheduleStore::open(workspace_, true);
    if (!store) return fail(store.error());
    if (auto added = (*store)->add(schedule); !added) return fail(added.error());
    console_.result({{"schedule", app::to_json(schedule)}, {"next", to_iso8601(*next)}});
    if (!options_.json) {
      console_.out.line(schedule.id);
      console_.err.line("first run at " + to_iso8601(*next) + ", by 'praxis serve' or 'praxis schedule run'");
    }
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> list() {
    std::vector<app::Schedule> all;
    if (const auto store = app::ScheduleStore::open(workspace_, false)) {
      auto read = (*store)->list();
      if (!read) return fail(read.error());
      all = *std::move(read);
    } else if (store.error().kind() != ErrorKind::kNotFound) {
      return fail(store.error());
    }
    for (const app::Schedule& each : all) {
      const auto next = app::next_time(each, system_environment()->now());
      const std::string when = each.paused ? "paused" : next ? to_iso8601(*next) : "never";
      if (options_.json) {
        JsonObject item = app::to_json(each).get_object();
        item["next"] = each.paused || !next ? Json(nullptr) : Json(when);
        console_.item("schedule", item);
      } else {
        console_.out.line(visible_text(fmt::format("{}  {:<24}  {} {}  {}  {}", each.id, when, each.times,
                                                   each.zone, each.agent, app::one_line(each.prompt, 40))));
      }
    }
    if (all.empty() && !options_.json) console_.err.line("there are no schedules");
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> change() {
    if (options_.first.empty())
      return fail(app::usage_error("the id of a schedule is missing", "praxis schedule list shows them"));
    const auto store = app::ScheduleStore::open(workspace_, false);
    if (!store && store.error().kind() == ErrorKind::kNotFound)
      return fail(
          app::usage_error("no schedule " + app::in_quotes(options_.first), "there is no schedule yet"));
    if (!store) return fail(store.error());
    const auto found = (*store)->find(options_.first);
    if (!found) return fail(found.error());
    const bool is_pause = options_.verb == ScheduleVerb::kPause;
    const Status changed = options_.verb == ScheduleVerb::kRemove
                               ? (*store)->remove(found->id)
                               : (*store)->pause(found->id, is_pause, system_environment()->now());
    if (!changed) return fail(changed.error());
    console_.result({{"schedule", found->id}});
    if (!options_.json) console_.out.line(found->id);
    return ExitStatus::kFinished;
  }

  Result<ExitStatus> carry_out() {
    // An error now, not a warning later.
    if (const auto store = app::ScheduleStore::open(workspace_, true); !store) return fail(store.error());
    Interrupts interrupts;
    std::stop_source stop;
    interrupts.on_first([&] { stop.request_stop(); });
    console_.err.line("praxis: carrying out the schedules of " + workspace_.journal);
    auto ended = server::run_schedules(
        workspace_,
        [&](const std::string& text) { console_.err.line(visible_text("praxis: warning: " + text)); },
        stop.get_token());
    if (!ended) return fail(ended.error());
    return ExitStatus::kFinished;
  }

  const ScheduleOptions& options_;
  app::Workspace workspace_;
  Console& console_;
};

}  // namespace

Result<ExitStatus> execute(const ScheduleOptions& options, Console& console) {
  auto workspace = open_place(options.place, console, {});
  if (!workspace) return fail(workspace.error());
  return ScheduleWork(options, *std::move(workspace), console).run();
}

}  // namespace praxis::cli
