#include "evals/recorded_outcomes.hpp"

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <utility>
#include <variant>

#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

/// Records hold half of a digest.
std::string key_of(const Digest& history) {
  constexpr std::size_t kHalf = 16;
  return history.hex(kHalf);
}

std::string key_of(std::string_view tool, const Json& arguments) {
  return std::string(tool) + '\n' + to_canonical_json(arguments);
}

std::string key_of(const ParkedStep& step) { return step.digest.hex() + '\n' + step.prompt; }

/// Empty arguments and `null` mean `{}`.
Json arguments_of(std::string_view text) {
  auto json = parse_json(text);
  return json && !json->is_null() ? *std::move(json) : Json(JsonObject{});
}

std::vector<MemoryChange> memory_of(const Json& list) {
  std::vector<MemoryChange> changes;
  if (const JsonArray* const all = list.if_array()) {
    for (const Json& each : *all) {
      changes.push_back(
          {json_string(each, "store"), json_string(each, "key"), json_string(each, "operation")});
    }
  }
  return changes;
}

ToolOutput output_of(const ToolOutcome& outcome) {
  return {outcome.result.text, outcome.value, outcome.result.images, memory_of(outcome.memory),
          outcome.result.files};
}

/// What the handler gave, before hooks changed it; nothing if the call did not end by itself.
std::optional<Result<ToolOutput>> outcome_of(const records::EffectSettled& settled) {
  if (settled.original) {
    if (settled.original->result) return output_of(*settled.original->result);
    if (settled.original->error) return fail(*settled.original->error);
  }
  if (const auto* outcome = std::get_if<ToolOutcome>(&settled.result)) return output_of(*outcome);
  if (settled.error) return fail(*settled.error);
  return std::nullopt;
}

/// Takes the first of what is kept under the key; with `keep_last`, the last one stays.
template <class T>
std::optional<T> take(std::map<std::string, std::deque<T>, std::less<>>& all, const std::string& key,
                      bool keep_last) {
  const auto found = all.find(key);
  if (found == all.end() || found->second.empty()) return std::nullopt;
  if (keep_last && found->second.size() == 1) return found->second.front();
  T first = std::move(found->second.front());
  found->second.pop_front();
  return first;
}

}  // namespace

/// Walks a log with its state, which knows the arguments of calls as they ran.
class RecordedOutcomes::Reader {
 public:
  Reader(RecordedOutcomes& outcomes, bool keeps) : outcomes_(outcomes), keeps_(keeps) {}

  Status read(const StoredRecord& stored) {
    if (auto applied = apply_to(state_, stored.record); !applied) return applied;
    const RecordBody& body = stored.record.body;
    if (const auto* intent = std::get_if<records::EffectIntended>(&body)) {
      intend(*intent);
    } else if (const auto* settled = std::get_if<records::EffectSettled>(&body)) {
      settle(*settled);
    } else if (const auto* parked = std::get_if<records::Parked>(&body)) {
      parked_[parked->step.id.str()] = key_of(parked->step);
    } else if (const auto* decided = std::get_if<records::Decided>(&body)) {
      decide(*decided);
    }
    return {};
  }
  void keep(bool keeps) { keeps_ = keeps; }

 private:
  void intend(const records::EffectIntended& intent) {
    if (intent.kind == EffectKind::kModel) {
      asked_[intent.effect.str()] = key_of(intent.request.history);
    } else if (intent.kind == EffectKind::kTool && state_.turn) {
      if (const CallState* const call = state_.find_call(intent.call))
        asked_[intent.effect.str()] = key_of(intent.tool, arguments_of(call->call.arguments));
    }
  }
  void settle(const records::EffectSettled& settled) {
    const auto asked = asked_.find(settled.effect.str());
    if (asked == asked_.end() || !keeps_) return;
    if (const auto* answer = std::get_if<ModelResponse>(&settled.result)) {
      outcomes_.answers_[asked->second].push_back(*answer);
    } else if (asked->second.contains('\n')) {
      if (auto outcome = outcome_of(settled))
        outcomes_.results_[asked->second].push_back(*std::move(outcome));
    }
  }
  void decide(const records::Decided& decided) {
    const auto parked = parked_.find(decided.park.str());
    if (parked == parked_.end() || !keeps_) return;
    outcomes_.decisions_[parked->second].emplace_back(decided.verb, decided.text);
  }

  RecordedOutcomes& outcomes_;
  bool keeps_;
  State state_;
  std::map<std::string, std::string> asked_;   ///< by effect: the key of its question
  std::map<std::string, std::string> parked_;  ///< by parked step: its key
};

Result<std::shared_ptr<RecordedOutcomes>> RecordedOutcomes::from(const std::vector<StoredRecord>& records,
                                                                 std::uint64_t seq) {
  auto outcomes = std::make_shared<RecordedOutcomes>();
  // First what follows `seq`, so that it is handed out first.
  for (const bool after : {true, false}) {
    Reader reader(*outcomes, false);
    for (const StoredRecord& stored : records) {
      reader.keep((stored.seq > seq) == after);
      if (auto read = reader.read(stored); !read) return fail(read.error());
    }
  }
  return outcomes;
}

std::optional<ModelResponse> RecordedOutcomes::answer(const Digest& history) {
  const std::scoped_lock lock(mutex_);
  return take(answers_, key_of(history), false);
}

std::optional<Result<ToolOutput>> RecordedOutcomes::result(std::string_view tool, const Json& arguments) {
  const std::scoped_lock lock(mutex_);
  return take(results_, key_of(tool, arguments), true);
}

std::optional<Approval> RecordedOutcomes::decision(const ParkedStep& step) {
  const std::scoped_lock lock(mutex_);
  return take(decisions_, key_of(step), false);
}

namespace {

/// What the sessions of a recorded model share.
struct SharedRecord {
  RecordedModelOptions options;
  std::atomic<std::uint64_t> recorded = 0;
  std::atomic<std::uint64_t> live = 0;
};

class RecordedSession final : public ModelSession {
 public:
  explicit RecordedSession(std::shared_ptr<SharedRecord> shared) : shared_(std::move(shared)) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    if (stop.stop_requested()) return sink->on_done(fail(ErrorCode::kCancelled, "the call was stopped"));
    if (auto answer = shared_->options.outcomes->answer(request.history.digest())) {
      ++shared_->recorded;
      return sink->on_done(*std::move(answer));
    }
    if (!shared_->options.live) {
      return sink->on_done(fail(ErrorCode::kModel, ErrorKind::kInvalidRequest,
                                "the recorded run has no answer to this conversation"));
    }
    ++shared_->live;
    if (!live_) live_ = shared_->options.live->open_session();
    live_->start(request, std::move(sink), std::move(stop));
  }

 private:
  const std::shared_ptr<SharedRecord> shared_;
  std::unique_ptr<ModelSession> live_;
};

class ModelOfRecord final : public RecordedModel {
 public:
  explicit ModelOfRecord(RecordedModelOptions options) { shared_->options = std::move(options); }

  const std::string& name() const override { return shared_->options.name; }
  ModelCapabilities capabilities() const override {
    if (shared_->options.live) return shared_->options.live->capabilities();
    ModelCapabilities recorded;
    recorded.context_window = shared_->options.profile.context_window;
    recorded.compaction = shared_->options.profile.compacts;
    recorded.counting = shared_->options.profile.counting;
    return recorded;
  }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<RecordedSession>(shared_); }
  MicroUsd price(const Usage& usage) const override {
    return shared_->options.live ? shared_->options.live->price(usage) : MicroUsd{};
  }
  AnswerCount count() const override { return {shared_->recorded, shared_->live}; }

 private:
  const std::shared_ptr<SharedRecord> shared_ = std::make_shared<SharedRecord>();
};

}  // namespace

std::shared_ptr<RecordedModel> recorded_model(RecordedModelOptions options) {
  return std::make_shared<ModelOfRecord>(std::move(options));
}

}  // namespace praxis::evals
