// Any conversation that can be read: its normal form needs no repairs, however it is cut.
#include <cstdint>
#include <cstdlib>

#include "praxis/core/history.hpp"
#include "praxis/json/json.hpp"

namespace {

void check(const praxis::History& history) {
  std::vector<praxis::Message> messages;
  for (const praxis::MessagePtr& message : history.messages()) messages.push_back(*message);
  const praxis::Normalised again = praxis::normalise(messages);
  if (!again.repairs.empty() || again.history.digest() != history.digest()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace praxis;
  const auto json = parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const auto conversation = conversation_from_json(*json);
  if (!conversation) return 0;
  HistoryBuilder builder;
  for (const Message& message : conversation->messages) {
    builder.push(std::make_shared<const Message>(message));
    check(builder.history());
  }
  if (const std::size_t cut = choose_cut(builder.history(), {4, 100})) builder.cut(cut);
  check(builder.history());
  builder.close_open_calls("cancelled");
  builder.keep_first(builder.history().messages().size() / 2);
  check(builder.history());
  return 0;
}
