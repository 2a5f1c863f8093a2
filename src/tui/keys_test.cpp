#include "tui/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::tui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Key> keys_of(const std::vector<std::string>& pieces) {
  KeyReader reader;
  std::vector<Key> keys;
  for (const std::string& piece : pieces) {
    for (Key& key : reader.feed(piece)) keys.push_back(std::move(key));
  }
  for (Key& key : reader.flush()) keys.push_back(std::move(key));
  return keys;
}

TEST(Keys, SequencesAndTextAreToldApart) {
  EXPECT_THAT(keys_of({"aé日\x1b[A\x1bOD\x1b[3~\x1b\r\x1b[13;2u\r\n\x03\x1b[1;5C"}),
              ElementsAre(Key{KeyKind::kText, "a"}, Key{KeyKind::kText, "é"}, Key{KeyKind::kText, "日"},
                          Key{KeyKind::kUp}, Key{KeyKind::kLeft}, Key{KeyKind::kDelete}, Key{KeyKind::kQueue},
                          Key{KeyKind::kNewLine}, Key{KeyKind::kEnter}, Key{KeyKind::kNewLine},
                          Key{KeyKind::kControl, "c"}, Key{KeyKind::kWordRight}));
}

TEST(Keys, PiecesOfOneKeyAreJoined) {
  EXPECT_THAT(keys_of({"\x1b", "[", "1;5", "D", "\xE6", "\x97\xA5"}),
              ElementsAre(Key{KeyKind::kWordLeft}, Key{KeyKind::kText, "日"}));
}

TEST(Keys, LoneEscapeIsAKeyOnceNothingFollows) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(reader.is_incomplete());
  EXPECT_THAT(reader.flush(), ElementsAre(Key{KeyKind::kEscape}));
  EXPECT_FALSE(reader.is_incomplete());
}

TEST(Keys, AnswerAboutTheBackgroundIsNoText) {
  const Key light{KeyKind::kBackground, "rgb:ffff/ffff/ffff"};
  EXPECT_THAT(keys_of({"a\x1b]1", "1;rgb:ffff/", "ffff/ffff\x1b", "\\b\x1b]11;rgb:ffff/ffff/ffff\x07"}),
              ElementsAre(Key{KeyKind::kText, "a"}, light, Key{KeyKind::kText, "b"}, light));
  EXPECT_THAT(keys_of({"\x1b]11;rgb:ff"}), IsEmpty()) << "what is cut off is not the key Esc";
}

TEST(Keys, EscapeThatIsPressedTwiceIsTwoKeys) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b\x1b"), ElementsAre(Key{KeyKind::kEscape}));
  EXPECT_THAT(reader.flush(), ElementsAre(Key{KeyKind::kEscape}));
  EXPECT_THAT(reader.feed("\x1b\x1b[B"), ElementsAre(Key{KeyKind::kEscape}, Key{KeyKind::kDown}))
      << "an arrow that is pressed right after Esc";
  EXPECT_THAT(reader.feed("\x1b\x04"), ElementsAre(Key{KeyKind::kEscape}, Key{KeyKind::kControl, "d"}));
}

TEST(Keys, EscapeAsASequenceIsOneKey) {
  EXPECT_THAT(keys_of({"\x1b[27u"}), ElementsAre(Key{KeyKind::kEscape}));
}

TEST(Keys, UnknownSequencesAndInvalidBytesAreNoText) {
  EXPECT_THAT(keys_of({"\x1b[99;99zx\x1b[?62;c\xFF\xC3(y"}),
              ElementsAre(Key{KeyKind::kText, "x"}, Key{KeyKind::kText, "("}, Key{KeyKind::kText, "y"}));
}

TEST(Keys, PasteIsOneKey) {
  EXPECT_THAT(keys_of({"\x1b[200~a\r\x03\x1b[A", "b\x1b[20", "1~c"}),
              ElementsAre(Key{KeyKind::kPaste, "a\r\x03\x1b[Ab"}, Key{KeyKind::kText, "c"}));
}

TEST(Keys, PasteIsBounded) {
  KeyReader reader;
  reader.feed("\x1b[200~");
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 6; ++i) reader.feed(piece);
  const auto keys = reader.feed("\x1b[201~");
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].text.size(), KeyReader::kMostPasted);
}

}  // namespace
}  // namespace praxis::tui
