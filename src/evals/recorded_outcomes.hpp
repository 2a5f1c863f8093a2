// What a recorded run got from outside: answers of models, results of tools, decisions of approvers. A replay
// takes them from here instead of asking again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/domain/approval.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/model.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis::evals {

/// The outcomes of one log. Outcomes of the same question are handed out in their recorded order.
/// Thread-safe.
class RecordedOutcomes {
 public:
  /// Reads the records after `seq`, and uses those before it for questions that only they answer. Error
  /// `kJournal`.
  static Result<std::shared_ptr<RecordedOutcomes>> from(const std::vector<StoredRecord>& records,
                                                        std::uint64_t seq);

  /// The next answer to this conversation, by its digest; nothing if the record has no further one.
  std::optional<ModelResponse> answer(const Digest& history);
  /// The next outcome of a call with these arguments, and the last one again after that; nothing if the
  /// record has none.
  std::optional<Result<ToolOutput>> result(std::string_view tool, const Json& arguments);
  /// The next decision about such a step; nothing if the record has no further one.
  std::optional<Approval> decision(const ParkedStep& step);

 private:
  class Reader;

  std::mutex mutex_;
  std::map<std::string, std::deque<ModelResponse>, std::less<>> answers_;
  std::map<std::string, std::deque<Result<ToolOutput>>, std::less<>> results_;
  std::map<std::string, std::deque<Approval>, std::less<>> decisions_;
};

/// How many answers a replay took from the record, and how many it asked a model for.
struct AnswerCount {
  std::uint64_t recorded = 0;
  std::uint64_t live = 0;
};

/// A model that gives the recorded answer to each conversation that the record has, and asks `live` about
/// any other.
class RecordedModel : public Model {
 public:
  /// The number of answers so far. Thread-safe.
  virtual AnswerCount count() const = 0;
};

/// What a recorded model stands for.
struct RecordedModelOptions {
  std::string name;           ///< of the recorded run's model
  ModelProfile profile = {};  ///< what the record says of it; counts without `live`
  std::shared_ptr<RecordedOutcomes> outcomes;
  std::shared_ptr<Model> live = nullptr;  ///< null: a conversation that the record does not have is an error
};
std::shared_ptr<RecordedModel> recorded_model(RecordedModelOptions options);

}  // namespace praxis::evals
