// Any journal that can be decoded: it is refused, or folds to a state from which the loop continues until it
// is idle.
#include <cstdint>
#include <cstdlib>

#include "praxis/core/next.hpp"
#include "records.hpp"

namespace {

struct AlwaysAskModel final : praxis::Planner {
  praxis::PlanStep plan(const praxis::State&) const override { return praxis::AskModel{}; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace praxis;
  std::string_view journal(reinterpret_cast<const char*>(data), size);
  State state;
  while (!journal.empty()) {
    auto body = next_record(journal);
    if (!body) break;
    auto after = apply(state, Record{{}, *std::move(body)});
    if (!after) break;
    state = *std::move(after);
  }
  if (!state.agent) return 0;
  to_json(result_of(state));
  for (int i = 0; i < 1'000; ++i) {
    const auto records = derive(state, next(state, AlwaysAskModel{}));
    if (records.empty()) return 0;
    for (const RecordBody& record : records) {
      auto after = apply(std::move(state), Record{{}, record});
      if (!after) std::abort();
      state = *std::move(after);
    }
  }
  std::abort();
}
