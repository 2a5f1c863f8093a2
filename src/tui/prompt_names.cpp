#include "tui/prompt_names.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "tui/chat_commands.hpp"

namespace praxis::tui {
namespace {

using Choices = std::shared_ptr<const std::vector<Choice>>;

Choices with_prompts(const std::vector<OfferedPrompt>& prompts) {
  std::vector<Choice> choices = command_choices();
  for (const OfferedPrompt& each : prompts) {
    const std::string takes = app::prompt_usage(each);
    choices.push_back({each.name, '/' + each.name, takes + (takes.empty() ? "" : ": ") + each.description});
  }
  return std::make_shared<const std::vector<Choice>>(std::move(choices));
}

}  // namespace

struct PromptNames::Found {
  std::mutex mutex;
  Choices choices = with_prompts({});
};

PromptNames::PromptNames(std::shared_ptr<Executor> executor, app::PromptSources sources,
                         std::function<void()> wake)
    : executor_(std::move(executor)),
      sources_(std::move(sources)),
      wake_(std::move(wake)),
      found_(std::make_shared<Found>()) {}

PromptNames::~PromptNames() { stop_.request_stop(); }

void PromptNames::look_up() {
  if (sources_.empty() || std::exchange(looked_, true)) return;
  executor_->post_blocking([found = found_, sources = sources_, wake = wake_, stop = stop_.get_token()] {
    auto choices = with_prompts(app::offered_prompts(sources, stop));
    {
      const std::lock_guard lock(found->mutex);
      found->choices = std::move(choices);
    }
    if (!stop.stop_requested()) wake();
  });
}

Choices PromptNames::choices() const {
  const std::lock_guard lock(found_->mutex);
  return found_->choices;
}

}  // namespace praxis::tui
