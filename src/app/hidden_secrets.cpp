#include "app/hidden_secrets.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include "runtime/redacted_results.hpp"

namespace praxis::app {
namespace {

bool has_secrets(const std::shared_ptr<SecretBroker>& secrets) {
  return secrets != nullptr && !secrets->rules().empty();
}

/// Passes everything on, and hides secrets in the progress.
class HidingScope final : public CallScope {
 public:
  HidingScope(std::shared_ptr<CallScope> scope, std::shared_ptr<SecretBroker> secrets)
      : scope_(std::move(scope)), secrets_(std::move(secrets)) {}

  Result<std::shared_ptr<ChildSession>> spawn(AgentSpec spec, std::vector<Tool> tools) override {
    return scope_->spawn(std::move(spec), std::move(tools));
  }
  Result<std::shared_ptr<ChildSession>> clone(const std::string& purpose) override {
    return scope_->clone(purpose);
  }
  Result<SessionId> detach(AgentSpec spec, std::vector<Tool> tools, std::string prompt) override {
    return scope_->detach(std::move(spec), std::move(tools), std::move(prompt));
  }
  Result<ToolOutput> call(std::string tool, std::string arguments) override {
    return scope_->call(std::move(tool), std::move(arguments));
  }
  const std::vector<Tool>& tools() const override { return scope_->tools(); }
  void call_all(std::vector<InnerCall> calls, InnerCallDone done) override {
    scope_->call_all(std::move(calls), std::move(done));
  }
  bool continue_after(const std::vector<SubAgent>& agents) override { return scope_->continue_after(agents); }
  void progress(std::string text, std::optional<double> fraction) override {
    scope_->progress(secrets_->redaction().text(std::move(text)), fraction);
  }
  Status read_memory(std::string_view store,
                     const std::function<void(const MemoryStore&)>& read) const override {
    return scope_->read_memory(store, read);
  }

 private:
  const std::shared_ptr<CallScope> scope_;
  const std::shared_ptr<SecretBroker> secrets_;
};

class HidingPrompts final : public PromptSource {
 public:
  HidingPrompts(std::shared_ptr<PromptSource> source, std::shared_ptr<SecretBroker> secrets)
      : source_(std::move(source)), secrets_(std::move(secrets)) {}

  const std::string& server() const override { return source_->server(); }
  Result<std::vector<OfferedPrompt>> list(const std::stop_token& stop) override {
    return hidden(source_->list(stop));
  }
  Result<std::string> text(const OfferedPrompt& prompt, const JsonObject& arguments,
                           const std::stop_token& stop) override {
    auto text = hidden(source_->text(prompt, arguments, stop));
    if (!text) return text;
    return secrets_->redaction().text(*std::move(text));
  }

 private:
  template <class T>
  Result<T> hidden(Result<T> result) const {
    if (!result) secrets_->redaction().redact(result.error());
    return result;
  }

  const std::shared_ptr<PromptSource> source_;
  const std::shared_ptr<SecretBroker> secrets_;
};

}  // namespace

Tool hiding_secrets(Tool tool, const std::shared_ptr<SecretBroker>& secrets) {
  const bool waits_for_agents = tool.handler.target<ContinuingHandler>() != nullptr;
  if (!tool.handler || !has_secrets(secrets) || waits_for_agents) return tool;
  tool.handler = [secrets, run = std::move(tool.handler)](ToolContext& context, const Json& arguments) {
    const std::shared_ptr<CallScope> scope = context.scope;
    if (scope) context.scope = std::make_shared<HidingScope>(scope, secrets);
    auto output = run(context, arguments);
    context.scope = scope;
    remove_secrets(output, secrets->redaction());
    return output;
  };
  return tool;
}

ToolSource hiding_secrets(ToolSource source, std::shared_ptr<SecretBroker> secrets) {
  if (!has_secrets(secrets)) return source;
  return [source = std::move(source), secrets = std::move(secrets)] {
    std::vector<Tool> tools;
    try {
      tools = source();
    } catch (const std::exception& error) {
      throw std::runtime_error(secrets->redaction().text(error.what()));
    }
    for (Tool& tool : tools) {
      tool.definition.description = secrets->redaction().text(std::move(tool.definition.description));
      tool = hiding_secrets(std::move(tool), secrets);
    }
    return tools;
  };
}

std::shared_ptr<PromptSource> hiding_secrets(std::shared_ptr<PromptSource> source,
                                             std::shared_ptr<SecretBroker> secrets) {
  if (!has_secrets(secrets)) return source;
  return std::make_shared<HidingPrompts>(std::move(source), std::move(secrets));
}

}  // namespace praxis::app
