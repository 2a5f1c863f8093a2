#include "app/host_letters.hpp"

#include <gmock/gmock.h>

#include "app/call_text.hpp"
#include "app/testing/call_screen.hpp"

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(HostLetters, Punycode_IsDecoded) {
  // From RFC 3492, section 7.1, and a host that is known from attacks.
  EXPECT_EQ(decode_punycode("egbpdaj6bu4bxfgehfvwxn"),
            "\u0644\u064A\u0647\u0645\u0627\u0628\u062A\u0643\u0644\u0645\u0648\u0634\u0639\u0631\u0628\u064A"
            "\u061F");
  EXPECT_EQ(decode_punycode("ihqwcrb4cv8a8dqg056pqjye"),
            "\u4ED6\u4EEC\u4E3A\u4EC0\u4E48\u4E0D\u8BF4\u4E2D\u6587");
  EXPECT_EQ(decode_punycode("PorqunopuedensimplementehablarenEspaol-fmd56a"),
            "Porqu\u00E9nopuedensimplementehablarenEspa\u00F1ol");
  EXPECT_EQ(decode_punycode("80ak6aa92e"), "\u0430\u0440\u0440\u04CF\u0435");
  EXPECT_EQ(decode_punycode("n3h"), "\u2603");
}

TEST(HostLetters, InvalidPunycode_HasNoLetters) {
  for (const char* label : {"", "\x20", "9", "99999999999", "a-\xC3", "0000000000000000", "999999b"})
    EXPECT_EQ(decode_punycode(label), std::nullopt) << label;
  EXPECT_EQ(decode_punycode(std::string(64, 'a')), std::nullopt);
}

TEST(HostLetters, EachHostInPunycode_IsNamedOnce) {
  EXPECT_THAT(hosts_in_letters("curl https://www.XN--80ak6aa92e.com/x?xn--n3h.org xn--n3h.org xn--9"),
              ElementsAre("www.XN--80ak6aa92e.com in letters: www.\\u0430\\u0440\\u0440\\u04cf\\u0435.com",
                          "xn--n3h.org in letters: \u2603.org",
                          "xn--9 is no valid name: its punycode has no letters"));
  EXPECT_THAT(hosts_in_letters("https://example.com/ axn--b xn-- -xn--n3h"), IsEmpty());
  std::string many;
  for (char c = 'a'; c <= 'z'; ++c) many += std::string("xn--n3h.") + c + " ";
  EXPECT_EQ(hosts_in_letters(many).size(), 8U);
}

TEST(HostLetters, ApprovalShowsTheLettersOfAHost) {
  const std::string arguments = R"({"method":"GET","url":"https://xn--pple-43d.com/?a"})";
  for (const std::size_t columns : {40U, 80U, 200U}) {
    const std::string screen = call_view("http", arguments, columns, kOverviewRows).text;
    EXPECT_THAT(screen, HasSubstr("  | ~ xn--pple-43d.com in letters:")) << screen;
    const auto call = praxis::testing::read_screen(screen);
    ASSERT_TRUE(call) << screen;
    EXPECT_EQ(call->arguments, *parse_json(arguments));
  }
  EXPECT_THAT(call_line("http", arguments, 200).text, HasSubstr("\\u0430pple.com"));
  const std::string fake = R"({"url":"https://example.com/\n~ xn--n3h.com in letters: good.com"})";
  EXPECT_THAT(call_view("http", fake, 80, 0).text, Not(HasSubstr("  | ~ xn--n3h.com in letters: good.com")));
}

}  // namespace
}  // namespace praxis::app
