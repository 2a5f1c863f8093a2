#include "app/filtered_prompts.hpp"

#include <utility>

#include "app/policy_table.hpp"
#include "policy/filters.hpp"

namespace praxis::app {
namespace {

class FilteredPrompts final : public PromptStore {
 public:
  FilteredPrompts(std::shared_ptr<PromptStore> store, std::shared_ptr<TemplateEngines> engines,
                  filters::FilterSetPtr filters)
      : PromptStore(std::move(engines)), store_(std::move(store)), filters_(std::move(filters)) {}

  Result<PromptTemplate> put(PromptTemplate draft, const std::string& author) override {
    filters::Scan scan(*filters_, filters::Point::kPrompt, "");
    scan.text(draft.text);
    scan.text(draft.name);
    scan.json(draft.metadata);
    if (scan.denies())
      return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy,
                  scan.why("denies", "the prompt \"" + draft.id + '"'));
    if (!scan.redacted_by().empty()) {
      JsonArray ids(scan.redacted_by().begin(), scan.redacted_by().end());
      if (!draft.metadata.is_object()) draft.metadata = JsonObject{};
      draft.metadata.as_object()["redacted_by"] = std::move(ids);
    }
    return store_->put(std::move(draft), author);
  }

  Result<std::optional<PromptTemplate>> get(const std::string& id, const std::string& version) override {
    return store_->get(id, version);
  }
  Result<std::vector<PromptTemplate>> list(const PromptQuery& query) override { return store_->list(query); }
  Result<std::vector<PromptTemplate>> versions(const std::string& id) override {
    return store_->versions(id);
  }
  Status label(const std::string& id, const std::string& label, const std::string& version,
               const std::string& author) override {
    return store_->label(id, label, version, author);
  }
  Result<std::vector<std::pair<std::string, std::string>>> labels(const std::string& id) override {
    return store_->labels(id);
  }
  Result<std::vector<PromptChange>> changes(const std::string& id) override { return store_->changes(id); }

 private:
  const std::shared_ptr<PromptStore> store_;
  const filters::FilterSetPtr filters_;
};

}  // namespace

std::shared_ptr<PromptStore> filtered_prompts(std::shared_ptr<PromptStore> store,
                                              std::shared_ptr<TemplateEngines> engines,
                                              const std::vector<PolicyRules>& layers) {
  AgentSpec configured;
  configured.bounds = bounds_of(layers);
  auto filters = filters::filters_of(configured);
  if (!filters || !filters->has(filters::Point::kPrompt)) return store;
  return std::make_shared<FilteredPrompts>(std::move(store), std::move(engines), std::move(filters));
}

}  // namespace praxis::app
