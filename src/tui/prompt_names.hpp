// The commands of a chat with the prompts of the agent's servers, for completion: looked up in the
// background, because a server may have to be started.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "app/slash_prompt.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/runtime/user_prompts.hpp"
#include "tui/choice_list.hpp"

namespace praxis::tui {

/// One thread, apart from the look-up itself.
class PromptNames {
 public:
  /// `wake` is called from another thread when prompts have been found.
  PromptNames(std::shared_ptr<Executor> executor, app::PromptSources sources, std::function<void()> wake);
  ~PromptNames();
  PromptNames(const PromptNames&) = delete;
  PromptNames& operator=(const PromptNames&) = delete;

  /// Asks the servers, once.
  void look_up();
  /// The commands; those of the chat alone until the servers have answered. Another list is another object.
  std::shared_ptr<const std::vector<Choice>> choices() const;

 private:
  struct Found;

  const std::shared_ptr<Executor> executor_;
  const app::PromptSources sources_;
  const std::function<void()> wake_;
  const std::shared_ptr<Found> found_;
  std::stop_source stop_;
  bool looked_ = false;
};

}  // namespace praxis::tui
