#include "models/wire/chat/reasoning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

TEST(ChatReasoning, FragmentsOfTheSameText_AreJoined) {
  JsonArray details;
  for (const auto* fragment : {R"({"type":"reasoning.text","index":0,"text":"a","id":null})",
                               R"({"type":"reasoning.text","index":0,"text":"b"})",
                               R"({"type":"reasoning.text","index":1,"text":"c"})",
                               R"({"type":"reasoning.text","index":0,"signature":"s","text":null})",
                               R"({"type":"reasoning.summary","index":0,"summary":"d"})",
                               R"({"type":"reasoning.summary","index":0,"summary":"e"})",
                               R"({"type":"reasoning.encrypted","index":2,"data":"x"})",
                               R"({"type":"reasoning.encrypted","index":2,"data":"y"})", "7"}) {
    merge_detail(details, parse_json(fragment).value());
  }
  EXPECT_EQ(to_json_text(details),
            R"([{"type":"reasoning.text","index":0,"text":"ab","id":null,"signature":"s"},)"
            R"({"type":"reasoning.text","index":1,"text":"c"},)"
            R"({"type":"reasoning.summary","index":0,"summary":"de"},)"
            R"({"type":"reasoning.encrypted","index":2,"data":"x"},)"
            R"({"type":"reasoning.encrypted","index":2,"data":"y"}])");
}

/// The result of a text that arrives in pieces of `size` bytes: reasoning in brackets.
std::string told_apart(std::string_view text, std::size_t size) {
  std::string reasoning, rest;
  ThinkTags tags;
  const auto take = [&](const ThinkTags::Piece& piece) {
    (piece.is_reasoning ? reasoning : rest) += piece.text;
  };
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size())))
    tags.feed(text.substr(0, size), take);
  tags.finish(take);
  return '[' + reasoning + ']' + rest;
}

TEST(ChatReasoning, SplitThinkTags_AreFound) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases{
      {"<think>hm</think>\n\nso", "[hm]so"},
      {"\n<think>a < b </thin c</think>so </think>", "[a < b </thin c]so </think>"},
      {"<think></think>so", "[]so"},
      {"so <think>not</think>", "[]so <think>not</think>"},
      {"<thin air", "[]<thin air"},
      {"<th", "[]<th"},
      {"<think>hm</thi", "[hm</thi]"},
      {"", "[]"},
  };
  for (const auto& [text, answer] : cases) {
    for (const std::size_t size : {1U, 2U, 3U, 7U, 100U}) EXPECT_EQ(told_apart(text, size), answer) << size;
  }
}

}  // namespace
}  // namespace praxis::wire::chat
