// The requests to models in every wire protocol: as sent, and again from the log.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/call_review.hpp"
#include "models/request_writer.hpp"
#include "praxis/core/next.hpp"
#include "praxis/praxis.hpp"
#include "runtime/offered_tools.hpp"

namespace praxis::testing {

/// The requests of one conversation in every wire protocol at once.
class Wires {
 public:
  std::string write(const ModelRequest& request) {
    std::string bodies;
    for (RequestWriter& writer : writers_) bodies += *writer.write(request) + '\n';
    return bodies;
  }

 private:
  static RequestWriter writer_for(std::string_view api) {
    return RequestWriter(make_codec(api, {.provider = "p", .model = "m"}).value());
  }
  std::array<RequestWriter, 5> writers_{writer_for("chat"), writer_for("responses"), writer_for("messages"),
                                        writer_for("gemini"), writer_for("ollama")};
};

/// Renders the requests to its model as an adapter with a cache does, and keeps the bytes.
class TappedModel final : public Model {
 public:
  explicit TappedModel(std::shared_ptr<Model> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  ModelCapabilities capabilities() const override { return inner_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return inner_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(inner_->open_session(), *this);
  }

  std::vector<std::string> sent;  ///< one request per element, in all protocols

 private:
  struct Session final : ModelSession {
    Session(std::unique_ptr<ModelSession> session, TappedModel& of) : inner(std::move(session)), model(of) {}
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      model.sent.push_back(wires.write(request));
      inner->start(request, std::move(sink), std::move(stop));
    }
    const std::unique_ptr<ModelSession> inner;
    TappedModel& model;
    Wires wires;
  };

  const std::shared_ptr<Model> inner_;
};

inline bool is_model_call(const StoredRecord& stored) {
  const auto* intent = std::get_if<records::EffectIntended>(&stored.record.body);
  return intent != nullptr && intent->kind == EffectKind::kModel;
}

/// Returns the requests of a log, rendered from its records alone, each without the cache of the earlier
/// ones.
inline std::vector<std::string> requests_of(const std::vector<StoredRecord>& log,
                                            const AgentDescription& agent, bool stream = true) {
  std::vector<std::string> requests;
  for (const StoredRecord& stored : log) {
    if (!is_model_call(stored)) continue;
    const auto state = fold(log, stored.seq);
    if (!state) throw std::runtime_error(state.error().message);
    ModelQuestion question = question_of(*state, std::get<records::EffectIntended>(stored.record.body));
    ModelRequest request;
    request.instructions = std::move(question.instructions);
    request.options = std::move(question.options);
    request.history = std::move(question.history);
    request.non_strict = question.non_strict;
    request.tools = OfferedTools().of(agent.tools.definitions(), driver::CallReview().rules(state->agent));
    request.stream = stream;
    request.session = state->id;
    request.agent = state->agent->id;
    requests.push_back(Wires().write(request));
  }
  return requests;
}

}  // namespace praxis::testing
