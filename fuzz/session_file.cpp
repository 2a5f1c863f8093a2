// Arbitrary bytes as an exported session: an imported session is complete, exports and imports again as the
// same bytes, and can be folded and replayed.
#include <cstdint>
#include <cstdlib>

#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace praxis;
  const auto journal = memory_journal();
  const auto session = import_session(*journal, {reinterpret_cast<const char*>(data), size});
  if (!session) return journal->sessions().value().empty() ? 0 : (std::abort(), 1);
  const auto records = read_records(*journal, *session);
  if (!records || !fold(*records)) std::abort();
  (void)replay(*records);  // may diverge from the loop, but must end
  const auto text = export_session(*journal, *session);
  if (!text) std::abort();
  const auto other = memory_journal();
  const auto again = import_session(*other, *text);
  if (!again || export_session(*other, *again).value() != *text) std::abort();
  return 0;
}
