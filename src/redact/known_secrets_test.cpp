#include "redact/known_secrets.hpp"

#include <gtest/gtest.h>

#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

const std::string kSecret = R"(sk-A/b+c"d~0123456789)";

std::string cleaned(const std::string& text) { return Redactor({kSecret}).without_secrets(text); }

TEST(Redactor, EncodedForms_AreReplaced) {
  EXPECT_EQ(cleaned("a " + kSecret + " b " + kSecret), "a [key] b [key]");
  EXPECT_EQ(cleaned("q=sk-A%2Fb%2Bc%22d~0123456789&x"), "q=[key]&x");
  EXPECT_EQ(cleaned("q=sk-A%2fb%2bc%22d~0123456789&x"), "q=[key]&x");
  EXPECT_EQ(cleaned(R"("sk-A/b+c\"d~0123456789")"), R"("[key]")");
  EXPECT_EQ(cleaned(R"("sk-A\/b+c\"d~0123456789")"), R"("[key]")");
}

TEST(Redactor, FormsOfOtherWriters_AreReplaced) {
  for (const std::string text :
       {R"(sk-A/b+c\u0022d~0123456789)", R"(sk-A\u002fb\u002bc\u0022d~0123456789)",
        R"(sk-A\u002Fb\u002Bc\u0022d~0123456789)", "sk-A%252Fb%252Bc%2522d~0123456789",
        "sk-A%252fb%252bc%2522d~0123456789", "sk-A/b+c&quot;d~0123456789", "sk-A/b+c&#34;d~0123456789",
        "sk-A&#x2F;b+c&quot;d~0123456789", "736b2d412f622b6322647e30313233343536373839",
        "736B2D412F622B6322647E30313233343536373839"})
    EXPECT_EQ(cleaned("a=" + text + ";"), "a=[key];") << text;
}

TEST(Redactor, Base64AtEachAlignment_IsReplaced) {
  for (const std::string before : {"", "u", "us", "use", "user:"}) {
    for (const std::string after : {"", "x", "xy", "xyz"}) {
      std::string text = base64_encode(before + kSecret + after);
      EXPECT_NE(cleaned(text).find("[key]"), std::string::npos) << before << '|' << after;
      EXPECT_LT(cleaned(text).size(), before.size() * 2 + after.size() * 2 + 14) << cleaned(text);
      for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
      EXPECT_NE(cleaned(text).find("[key]"), std::string::npos) << "URL alphabet, " << before << '|' << after;
    }
  }
}

TEST(Redactor, OverlappingSecrets_AreOnePlace) {
  const Redactor redactor({"abcdefghij", "ghijklmnop"});
  EXPECT_EQ(redactor.without_secrets("-abcdefghijklmnop-"), "-[key]-");
}

TEST(Redactor, ShortSecret_IsKept) {
  EXPECT_TRUE(Redactor({"none", ""}).empty());
  EXPECT_EQ(Redactor({"none"}).without_secrets("none"), "none");
}

TEST(Redactor, Unfinished_IsTheLongestBeginningAtTheEnd) {
  const Redactor redactor({"sk-0123456789"});
  EXPECT_EQ(redactor.unfinished("text"), 0U);
  EXPECT_EQ(redactor.unfinished("texts"), 1U);
  EXPECT_EQ(redactor.unfinished("text sk-012345678"), 12U);
  EXPECT_EQ(redactor.unfinished("sk-0sk-0"), 4U);
}

TEST(Redactor, StringsInJson_AreReplacedAtAnyDepth) {
  const Json json = parse_json(R"({"a":[{"b":"is sk-0123456789"}],"n":1})").value();
  EXPECT_EQ(to_json_text(Redactor({"sk-0123456789"}).without_cut_secrets(json)),
            R"({"a":[{"b":"is [key]"}],"n":1})");
}

}  // namespace
}  // namespace praxis
