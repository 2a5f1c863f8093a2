// The measures of a journal as a page: what names in it may not do.
#include "app/stats_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <array>

#include "praxis/base/base64.hpp"

namespace praxis::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "<script>alert(1)</script>\"'><img src=x onerror=y>&\x1b[2J";

std::string page_of(StatsBy by) {
  StatsRow row{.name = kHostile, .turns = 2, .finished = 1};
  row.waiting.times.at(0) = Millis{90'000};
  return stats_page("What ended until now.", {{{by, {row}}}, false});
}

TEST(StatsPage, HostileNames_AreText) {
  for (const StatsBy by : {StatsBy::kAgent, StatsBy::kTool, StatsBy::kTenant}) {
    const std::string page = page_of(by);
    EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")), Not(HasSubstr("\x1b"))));
    EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;"), HasSubstr("There are older runs")));
  }
  EXPECT_THAT(page_of(StatsBy::kAgent), HasSubstr("<td>1 min 30 s"));
}

TEST(StatsPage, Policy_AllowsItsOwnStyleAndNothingElse) {
  const std::string page = page_of(StatsBy::kAgent);
  const auto begin = page.find("<style>") + 7;
  const std::string style = page.substr(begin, page.find("</style>") - begin);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(style.data()), style.size(), digest.data());
  const std::string hash =
      base64_encode(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-" + hash +
                              "'; base-uri 'none'; form-action 'none'\""));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")), Not(HasSubstr("url("))));
}

}  // namespace
}  // namespace praxis::app
