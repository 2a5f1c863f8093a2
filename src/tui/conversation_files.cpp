// `/diff` and `/undo` of a chat: what the run changed in files.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "app/plain_text.hpp"
#include "app/run_files.hpp"
#include "tui/conversation.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kMostDiffLines = 400;

std::string coloured(const std::string& line, const Styles& styles) {
  if (line.starts_with("@@")) return styles.dim(line);
  if (line.starts_with('+')) return styles.added(line);
  return line.starts_with('-') ? styles.removed(line) : line;
}

}  // namespace

std::string Conversation::diff() const {
  const auto diffs = run_->diffs(is_busy());
  if (!diffs) return failure(diffs.error());
  if (diffs->empty()) return styles_.dim("no file was changed") + '\n';
  std::string text;
  std::size_t lines = 0, added = 0, removed = 0;
  for (const app::FileDiff& diff : *diffs) {
    added += diff.added;
    removed += diff.removed;
    if (diff.status == "not_kept") text += styles_.dim("not kept: " + app::exact(diff.name)) + '\n';
    for (const std::string& line : diff.lines) {
      if (++lines <= kMostDiffLines) text += coloured(line, styles_) + '\n';
    }
  }
  if (lines > kMostDiffLines)
    text += styles_.dim(fmt::format("... {} more lines: praxis diff {}", lines - kMostDiffLines, id_.str())) +
            '\n';
  const char* const plural = diffs->size() == 1 ? "" : "s";
  return text +
         styles_.dim(fmt::format("{} file{} changed, +{} -{}", diffs->size(), plural, added, removed)) + '\n';
}

/// `rest`: a turn, from which on files are taken back; empty: the last one; `redo`: takes the last undo back.
/// The first time says what would change; the same command again does it.
std::string Conversation::undo_files(const std::string& rest) {
  if (is_busy()) return styles_.error("the agent works: Esc stops it first") + '\n';
  if (!is_recorded()) return styles_.dim("no file was changed") + '\n';
  const UndoWish wish{.redo = rest == "redo", .before = rest.empty() ? last_turn_ : TurnId(rest)};
  auto plan = run_->undo(wish, false);
  if (!plan) return failure(plan.error());
  const bool again = std::exchange(undo_asked_, rest + '\n') == rest + '\n';
  const std::size_t wanted = app::counts_of(*plan).restored;
  const bool acts = again && wanted > 0;
  if (acts || wanted == 0) undo_asked_.clear();
  if (acts) plan = run_->undo(wish, true);
  if (!plan) return failure(plan.error());
  std::string text;
  for (const std::string& line : app::restore_lines(*plan, acts)) text += line + '\n';
  const std::size_t count = app::counts_of(*plan).restored;
  const std::string command = "/undo" + (rest.empty() ? "" : ' ' + app::one_line(rest, 40));
  const std::string files_text = fmt::format("{} file{}", count, count == 1 ? "" : "s");
  if (count == 0) return text + styles_.dim("no file changes") + '\n';
  if (!acts) return text + styles_.dim(fmt::format("{} again changes {}", command, files_text)) + '\n';
  return text + styles_.dim(fmt::format("{} changed; /undo redo takes that back", files_text)) + '\n';
}

}  // namespace praxis::tui
