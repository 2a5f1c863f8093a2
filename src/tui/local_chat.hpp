// A chat on a run that this process works on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/runtime/runtime.hpp"
#include "tui/chat_run.hpp"

namespace praxis::tui {

/// The runs of a journal.
class LocalChatPlace : public ChatPlace {
 public:
  /// Both must outlive the place; `runtime` is set before the first use.
  LocalChatPlace(const app::Workspace& workspace, const std::shared_ptr<Runtime>& runtime)
      : workspace_(workspace), runtime_(runtime) {}
  Result<SessionId> find(const std::string& text) override;
  Result<SessionId> fork(const std::string& text) override;
  Result<std::vector<SessionRow>> runs() override;
  Result<std::vector<Choice>> models() override;
  Result<std::vector<std::string>> agents() override;
  Examination doctor() override;

 private:
  const app::Workspace& workspace_;
  const std::shared_ptr<Runtime>& runtime_;
};

/// A run of this process. `team`: whose conversation it is; null: one agent's. `author`: of commands and
/// approvals. `workspace` must outlive it.
std::unique_ptr<ChatRun> make_local_run(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
                                        Author author, Session session, std::shared_ptr<Team> team);

}  // namespace praxis::tui
