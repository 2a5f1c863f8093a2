// For tests of this room: a folder whose changes by calls are kept, and a person who edits in it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "praxis/tools/code_tools.hpp"
#include "snapshots/kept_tool.hpp"
#include "snapshots/restore.hpp"
#include "tools/testing/call.hpp"

namespace praxis {

class KeptFolder : public testing::Test {
 protected:
  KeptFolder() {
    scratch_.write("work/a.txt", "one\n");
    history_ = FileHistory::open(scratch_.str("journal.db.files"), true).value();
  }

  std::string work(std::string_view below = "") const { return scratch_.str("work" + std::string(below)); }

  /// A call of a session; returns its output or its error.
  std::string call_in(const Tool& tool, const Json& arguments, std::stop_token stop = {}) {
    ToolSet set;
    EXPECT_TRUE(set.add(tool));
    ToolContext context;
    context.session = SessionId{"s"};
    context.idempotency_key = "s/e" + std::to_string(++calls_);
    context.stop = std::move(stop);
    return text_of(set.execute(context, tool.definition.name, to_json_text(arguments)));
  }
  OpenHistory opener() const {
    return [history = history_] { return Result<FileHistoryPtr>(history); };
  }
  std::string write(const std::string& path, const std::string& content) {
    return call_in(kept_tool(file_write_tool({work()}), opener(), {{work()}, {}}, "path"),
                   {{"path", path}, {"content", content}});
  }
  /// A program that may write the folder.
  std::string program(std::function<void()> body, std::stop_token stop = {}) {
    Tool tool;
    tool.definition.name = "shell";
    tool.definition.parameters = {{"type", "object"}};
    tool.handler = [body = std::move(body)](ToolContext&, const Json&) -> Result<ToolOutput> {
      body();
      return ToolOutput{"done", nullptr, {}, {}};
    };
    return call_in(kept_tool(std::move(tool), opener(), {{work()}, {}}), JsonObject{}, std::move(stop));
  }
  void by_hand(const std::string& path, const std::string& content) const {
    scratch_.write("work/" + path, content);
  }

  std::vector<FileOperation> operations() { return history_->operations({SessionId{"s"}}).value(); }
  std::vector<PathChange> last_changes() { return history_->changes(operations().back().id).value(); }
  FileOperation undo_operation() const {
    FileOperation operation;
    operation.session = SessionId{"s"};
    operation.tool = kUndoOperation;
    return operation;
  }
  /// Undoes all operations after the first `kept`; returns what became of each path.
  std::map<std::string, RestoreVerdict> undo(std::size_t kept = 0) {
    auto all = operations();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
    auto plan = plan_undo(*history_, all).value();
    EXPECT_TRUE(carry_out(*history_, undo_operation(), plan));
    std::map<std::string, RestoreVerdict> verdicts;
    for (const RestoreStep& step : plan)
      verdicts[std::filesystem::relative(step.change.path, real_work())] = step.verdict;
    return verdicts;
  }
  std::string real_work() const { return std::filesystem::canonical(work()).string(); }

  /// All files and links below the folder with what they hold, folders with nothing.
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(work())) {
      const std::string name = std::filesystem::relative(entry.path(), work());
      if (entry.is_symlink()) {
        all[name] = "-> " + std::filesystem::read_symlink(entry.path()).string();
      } else {
        all[name] = entry.is_directory() ? "/" : scratch_.read("work/" + name);
      }
    }
    return all;
  }

  ScratchFolder scratch_;
  FileHistoryPtr history_;
  int calls_ = 0;
};

}  // namespace praxis
