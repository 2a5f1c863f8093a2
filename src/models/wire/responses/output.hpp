// The output items of a Responses answer: collects their deltas and converts them to parts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"

namespace praxis::wire::responses {

/// Items are identified by their output index, because ids may change and indexes may be missing. An item is
/// built from its deltas until the server sends its complete form, which then replaces them.
///
/// Each content part of a message becomes a text or refusal part; each reasoning, function call and
/// compaction item becomes one part. Every other item, including calls of free-form tools, is kept whole as
/// an opaque part: its input is not JSON, and only this vendor can process it. Not thread-safe.
class Output {
 public:
  explicit Output(AnswerBuilder& answer) : answer_(answer) {}

  /// Begins an item. Returns whether it is opaque.
  bool begin(std::int64_t index, const Json& item);
  // Deltas. Ignored for an item of another type or one that is settled.
  void text(const Json& event, std::string_view delta, bool is_refusal);
  void reasoning(const Json& event, std::string_view delta, bool is_summary);
  void arguments(const Json& event, std::string_view delta);
  /// The complete arguments of a call.
  void whole_arguments(const Json& event, std::string_view arguments);
  void annotation(const Json& event, const Json& annotation);
  /// Settles an item in its complete form. Returns whether it is opaque.
  bool settle(std::int64_t index, const Json& item);
  /// Merges the complete output, which the vendor may repeat at the end: settles open items, adds missing
  /// ones, and takes fields that only appear now, such as an encrypted payload.
  void fill(const JsonArray& output);
  /// Ends the output and orders the parts by item. `cut`: the answer broke off.
  void close(bool cut);

  /// The item an event belongs to: by its output index, else by its item id, else the last item.
  std::int64_t index_of(const Json& event) const;
  std::int64_t next_index() const { return items_.empty() ? 0 : items_.back().index + 1; }

 private:
  struct Item {
    std::int64_t index = 0;
    std::string type = {};
    Json native = {};                                ///< as received last
    std::map<std::int64_t, std::size_t> parts = {};  ///< part numbers in the answer, by content index
    bool named = false;                              ///< calls only
    bool ended = false;                              ///< calls only: the end was received
    bool settled = false;
  };

  Item& item_at(std::int64_t index, std::string_view type);
  Item* streaming(const Json& event, std::string_view type);
  std::size_t part_of(Item& item, std::int64_t content, Part fresh);

  void settle(Item& item, const Json& native);
  void settle_message(Item& item);
  void settle_text(Item& item, std::int64_t content, const Json& native);
  void settle_reasoning(Item& item);
  void settle_call(Item& item);
  void settle_opaque(Item& item);
  void name_call(Item& item);
  void complete_arguments(Item& item, std::string_view whole);

  std::vector<Item>::iterator find_same(std::vector<Item>::iterator from, const Json& native,
                                        const std::set<std::string_view>& listed);
  void seal_reasoning(bool cut);
  void close_call(Item& item, bool cut);

  AnswerBuilder& answer_;
  std::vector<Item> items_;  ///< ordered by index
};

}  // namespace praxis::wire::responses
