// For tests: a model that notes which tools it is offered.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/models/model.hpp"

namespace praxis::testing {

/// Passes calls on to a scripted model and notes the tools that each call offers.
class OfferedModel final : public Model {
 public:
  explicit OfferedModel(std::shared_ptr<Model> model) : model_(std::move(model)) {}
  const std::string& name() const override { return model_->name(); }
  ModelCapabilities capabilities() const override { return model_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return model_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Noting>(*this, model_->open_session());
  }
  /// The names of each call's tools, separated by spaces.
  std::vector<std::string> offers() const {
    const std::lock_guard lock(mutex_);
    return offers_;
  }
  /// The definitions of each call's tools, as JSON.
  std::vector<std::string> definitions() const {
    const std::lock_guard lock(mutex_);
    return definitions_;
  }

 private:
  struct Noting final : ModelSession {
    Noting(OfferedModel& noted_by, std::unique_ptr<ModelSession> inner)
        : owner(noted_by), session(std::move(inner)) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      std::string names;
      JsonArray definitions;
      for (const ToolDefinition& tool : request.tools ? *request.tools : std::vector<ToolDefinition>{}) {
        names += (names.empty() ? "" : " ") + tool.name;
        definitions.push_back(to_json(tool));
      }
      {
        const std::lock_guard lock(owner.mutex_);
        owner.offers_.push_back(std::move(names));
        owner.definitions_.push_back(to_json_text(definitions));
      }
      session->start(request, std::move(sink), std::move(stop));
    }
    OfferedModel& owner;
    std::unique_ptr<ModelSession> session;
  };

  const std::shared_ptr<Model> model_;
  mutable std::mutex mutex_;
  std::vector<std::string> offers_, definitions_;
};

}  // namespace praxis::testing
