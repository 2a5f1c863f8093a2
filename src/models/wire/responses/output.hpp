// The output items of a Responses answer: what streams in of them, and what they amount to as parts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"

namespace praxis::responses {

/// Items are told apart by their output index: their ids may change on the way, and indexes may be missing.
/// An item is built from its deltas until its authoritative form is there, which then counts.
///
/// Messages become texts and refusals, one part for each content part; reasoning, function calls and
/// compactions a part each. Everything else, calls of free-form tools included, is kept as an opaque part of
/// the whole item: its input is no JSON, and only this vendor understands its answer. Not thread-safe.
class Output {
 public:
  explicit Output(AnswerBuilder& answer) : answer_(answer) {}

  /// The item begins. Whether it is one that only the vendor understands.
  bool begin(std::int64_t index, const Json& item);
  // What streams in. It is ignored for an item of another type, or one that is already settled.
  void text(const Json& event, std::string_view delta, bool is_refusal);
  void reasoning(const Json& event, std::string_view delta, bool is_summary);
  void arguments(const Json& event, std::string_view delta);
  /// The call's arguments are complete.
  void whole_arguments(const Json& event, std::string_view arguments);
  void annotation(const Json& event, const Json& annotation);
  /// The item in its authoritative form. Whether it is one that only the vendor understands.
  bool settle(std::int64_t index, const Json& item);
  /// The answer's whole output, as far as the vendor repeats it at the end: settles what never was, adds what
  /// never came, and takes what is said only now, such as an encrypted payload.
  void fill(const JsonArray& output);
  /// Nothing follows: puts the parts into the order of the items. `cut` says that the answer broke off.
  void close(bool cut);

  /// Where an event belongs: its output index, else that of the item it names, else that of the last item.
  std::int64_t index_of(const Json& event) const;
  std::int64_t next_index() const { return items_.empty() ? 0 : items_.back().index + 1; }

 private:
  struct Item {
    std::int64_t index = 0;
    std::string type = {};
    Json native = {};                                ///< as last seen
    std::map<std::int64_t, std::size_t> parts = {};  ///< numbers in the answer, by content index
    bool named = false;                              ///< of a call
    bool ended = false;                              ///< of a call: its end was seen
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
  std::vector<Item> items_;  ///< by index
};

}  // namespace praxis::responses
