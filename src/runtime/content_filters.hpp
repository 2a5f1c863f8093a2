// Filters of content (`[[policy.filters]]`) in what tools give, what goes to a model, and what is sent into a
// run.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/filters.hpp"
#include "praxis/core/records.hpp"
#include "praxis/models/model.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// Applies the filters at `kToolOutput` to what a call of `tool` gave: text, value, error, images, files. A
/// denied result is replaced by a text that names the filter; what was written to memory stays reported.
/// Returns what changed it, as `records::EffectSettled::by`.
std::string filter_output(const filters::FilterSet& set, std::string_view tool, Result<ToolOutput>& output);

/// Replaces what a call gave by a text that says why.
void withhold(Result<ToolOutput>& output, std::string why);

/// What the model would read of it.
std::string whole_text_of(const Result<ToolOutput>& output);

/// Applies the filters at `kPrompt` to a message that is sent into a run. Returns the decision for the log,
/// with the reason if the message is denied; `std::nullopt` if no filter applied.
std::optional<records::Decided> filter_prompt(const filters::FilterSet& set, Message& message);

/// Applies the filters at `kModel` to the requests of one session: instructions, messages, and descriptions
/// of tools. What is bound to a vendor (signatures, encrypted reasoning, items of its own) stays. Remembers
/// what the filters found in each message, so that of the next request only what is new is read. Thread-safe.
class RequestFilter {
 public:
  /// Filters one request. `by` as above. Other filters than before: everything is read again. Error
  /// `kPolicy`: a filter denies the request.
  Status apply(const filters::FilterSetPtr& set, ModelRequest& request, std::string& by);
  /// Bytes of text that filters have read, in all requests.
  std::size_t bytes_read() const;

 private:
  /// What was found in a piece of a request, and what replaces it; null: it stays.
  template <class T>
  struct Seen {
    std::weak_ptr<const T> piece;
    filters::Found found;
    std::shared_ptr<const T> changed;
  };
  using Tools = std::vector<ToolDefinition>;
  using SeenMessages = std::map<const Message*, Seen<Message>>;

  template <class T, class Read>
  std::shared_ptr<const T> read(filters::Scan& all, const std::shared_ptr<const T>& piece,
                                const Seen<T>* before, Seen<T>& seen, Read scan);
  void read_instructions(filters::Scan& all, std::string& instructions);
  void read_messages(filters::Scan& all, History& history);

  mutable std::mutex mutex_;
  filters::FilterSetPtr set_;
  std::shared_ptr<const std::string> instructions_text_;
  Seen<std::string> instructions_;
  SeenMessages messages_;  ///< of the last request
  Seen<Tools> tools_;
  std::size_t bytes_read_ = 0;
};

}  // namespace praxis
