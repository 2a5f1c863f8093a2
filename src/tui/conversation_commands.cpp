// The `/commands` of a chat.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/context_report.hpp"
#include "app/plain_text.hpp"
#include "app/transcript.hpp"
#include "app/values.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/base/suggest.hpp"
#include "tui/chat_commands.hpp"
#include "tui/conversation.hpp"

namespace praxis::tui {
namespace {

constexpr std::string_view kStopFirst = "the agent works: Esc stops it first";

}  // namespace

std::string Conversation::command(const std::string& line, std::size_t columns) {
  const auto space = std::min(line.find(' '), line.size());
  const std::string name = line.substr(1, space - 1);
  const auto first = line.find_first_not_of(' ', space);
  std::string rest = first == std::string::npos ? "" : line.substr(first);
  while (rest.ends_with(' ') || rest.ends_with('\n')) rest.pop_back();
  using Action = std::function<std::string()>;
  const std::vector<std::pair<std::string, Action>> commands{
      {"help", [] { return chat_help(); }},
      {"tree",
       [&] {
         std::string text;
         for (const std::string& each : tree(columns)) text += each + '\n';
         return text.empty() ? "no agent is active\n" : text;
       }},
      {"cost", [&] { return cost(); }},
      {"context", [&] { return context(columns); }},
      {"doctor", [&] { return doctor(); }},
      {"queue", [&] { return change_queue(rest); }},
      {"compact", [&] { return compact(); }},
      {"approvals", [&] { return waiting_steps(columns); }},
      {"resume", [&] { return resume_run(rest, columns); }},
      {"new", [&] { return open({.model = rest}, Past::kShow, columns); }},
      {"fork", [&] { return fork_run(rest, columns); }},
      {"rewind", [&] { return rewind_run(rest, [] {}); }},
      {"diff", [&] { return diff(); }},
      {"undo", [&] { return undo_files(rest); }},
      {"model", [&] { return change_model(rest, columns); }},
      {"agent", [&] { return change_member(rest, columns); }},
      {"export", [&] { return export_run(rest); }},
      {"quit", [&] { return leaves_ = true, std::string(); }}};
  for (const auto& [known, action] : commands) {
    if (known == name) return action();
  }
  std::vector<std::string> names;
  for (const auto& [known, action] : commands) names.push_back(known);
  const auto nearest = closest(name, names);
  return styles_.error(fmt::format("there is no /{}{}; /help lists the commands", app::one_line(name, 40),
                                   nearest ? fmt::format("; did you mean /{}?", *nearest) : "")) +
         '\n';
}

std::string Conversation::cost() const {
  const Usage own = run_->figures().usage;
  return fmt::format("this run: {}\ninput {}, of it {} from a cache; output {}, of it {} reasoning\n",
                     app::show_usage(own), own.input, own.cache_read, own.output, own.reasoning);
}

std::string Conversation::context(std::size_t columns) const {
  const auto report = run_->context();
  if (!report) return failure(report.error());
  std::string text;
  for (const std::string& line : app::context_lines(*report, columns)) text += line + '\n';
  return text;
}

/// Looks in the background: checks of files, of a server and of the sandbox take their time.
std::string Conversation::doctor() {
  if (std::exchange(examining_, true)) return styles_.dim("this is being checked: Esc leaves it") + '\n';
  executor()->post_blocking(
      [examine = setup_.place.doctor(), feed = feed_] { feed->add_item(Examined{examine()}); });
  return "";
}

/// Nothing if the user did not wait for it.
std::string Conversation::take_examined(const Examined& examined) {
  if (!std::exchange(examining_, false)) return "";
  const auto& findings = examined.findings;
  if (!findings) return failure(findings.error());
  std::string text;
  for (const app::Finding& finding : *findings) {
    const std::string status = fmt::format("{:8}", to_string(finding.health));
    text += finding.health == app::Health::kBad       ? styles_.error(status)
            : finding.health == app::Health::kMissing ? styles_.warning(status)
                                                      : status;
    text += visible_text(fmt::format("{}: {}", finding.name, finding.detail)) + '\n';
  }
  return text +
         (app::are_healthy(*findings) ? "everything that was checked works"
                                      : styles_.error("not everything works")) +
         '\n';
}

std::string Conversation::waiting_steps(std::size_t columns) const {
  if (cards_.empty()) return "nothing waits for you\n";
  std::string text;
  for (const StepCard& card : cards_) {
    for (const std::string& line : card.lines(columns, 1000, false, styles_)) text += line + '\n';
  }
  return text;
}

/// Opens another run in place of this one, which is closed.
std::string Conversation::open(const ChatOpening& opening, Past past, std::size_t columns) {
  if (is_busy()) return styles_.error(std::string(kStopFirst)) + '\n';
  // Two handles on one run are not possible: this one is closed first, and opened again if the other fails.
  const std::string before = is_recorded() ? id_.str() : "";
  if (auto closed = run_->close(); !closed) return failure(closed.error());
  auto opened = setup_.place.open(opening);
  std::string text;
  if (!opened) {
    text = failure(opened.error());
    opened = setup_.place.open({.id = before});
    if (!opened) {
      leaves_ = true;
      return text + failure(opened.error());
    }
  }
  run_ = *std::move(opened);
  follow();
  std::string shown = begin(columns);
  if (!text.empty()) return text;
  if (past == Past::kHide) shown.clear();
  return shown + styles_.dim(fmt::format("run {}, model {}", id_.str(), app::one_line(model_, 200))) + '\n';
}

std::string Conversation::resume_run(const std::string& text, std::size_t columns) {
  if (text.empty() && !setup_.plain) return offer_runs();
  const auto root = setup_.place.find(text.empty() ? "last" : text);
  if (!root) return failure(root.error());
  return *root == id() ? "this run is open\n" : open({.id = root->str()}, Past::kShow, columns);
}

std::string Conversation::fork_run(const std::string& text, std::size_t columns) {
  if (is_busy()) return styles_.error(std::string(kStopFirst)) + '\n';
  if (text.empty() && !is_recorded()) return styles_.error("there is nothing to fork yet") + '\n';
  const auto branch = setup_.place.fork(text.empty() ? id().str() : text);
  return branch ? open({.id = branch->str()}, Past::kHide, columns) : failure(branch.error());
}

/// Calls `done` when the conversation has gone back.
std::string Conversation::rewind_run(std::string turn, const std::function<void()>& done) {
  if (is_busy()) return styles_.error(std::string(kStopFirst)) + '\n';
  if (turn.empty()) turn = last_turn_.str();
  if (turn.empty()) return styles_.error("there is no turn to take back") + '\n';
  if (const Status rewound = run_->rewind(TurnId(turn)); !rewound) return failure(rewound.error());
  done();
  return styles_.dim("the conversation stands before " + app::one_line(turn, 40)) + '\n';
}

std::string Conversation::change_model(const std::string& model, std::size_t columns) {
  if (model.empty() && setup_.plain) return app::one_line(model_, 200) + '\n';
  if (model.empty()) return offer_models();
  return open({.id = is_recorded() ? id().str() : "", .model = model}, Past::kHide, columns);
}

/// Selects the member that answers; without a team, begins a run of another agent. Without a name: offers
/// them, or says who answers.
std::string Conversation::change_member(const std::string& member, std::size_t columns) {
  if (member.empty() && !setup_.plain) return offer_agents();
  Members members = run_->members();
  if (members.all.empty()) {
    if (!member.empty()) return open({.agent = member}, Past::kShow, columns);
    return styles_.error("this run has one agent; /agent NAME begins a run of another") + '\n';
  }
  if (is_busy() && !member.empty()) return styles_.error(std::string(kStopFirst)) + '\n';
  if (!member.empty()) {
    if (const Status set = run_->set_member(member); !set) return failure(set.error());
    members = run_->members();
  }
  std::string others;
  for (const std::string& each : members.all) {
    if (each != members.current) others += (others.empty() ? "" : ", ") + each;
  }
  return styles_.dim(app::one_line(members.current + " answers; others: " + others, 1000)) + '\n';
}

std::string Conversation::export_run(const std::string& file) const {
  if (file.empty()) return styles_.error("export to which file? /export chat.md") + '\n';
  const auto said = run_->transcript();
  if (!said) return failure(said.error());
  const std::string text = app::transcript_markdown(*said);
  const Status written = setup_.write(file, text);
  return written ? styles_.dim("written to " + app::one_line(file, 200)) + '\n' : failure(written.error());
}

}  // namespace praxis::tui
