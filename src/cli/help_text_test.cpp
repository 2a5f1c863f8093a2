#include "cli/help_text.hpp"

#include <gtest/gtest.h>

namespace praxis::cli {
namespace {

TEST(HelpText, DescriptionsAreBrokenBesideTheirOption) {
  const std::string option =
      "  --json                      Write JSON for programs: one line for each run, then the result\n";
  EXPECT_EQ(wrapped_help(option, 80),
            "  --json                      Write JSON for programs: one line for each run,\n"
            "                              then the result\n");
  EXPECT_EQ(wrapped_help(option, 200), option);
}

TEST(HelpText, DescriptionsGoBelowTheirOptionOnANarrowTerminal) {
  EXPECT_EQ(wrapped_help("  -n,--count N=20             List at most this many; 0: all\n"
                         "  --min-cost-of-something AMOUNT\n"
                         "                              Only runs that cost at least this\n",
                         40),
            "  -n,--count N=20\n"
            "      List at most this many; 0: all\n"
            "  --min-cost-of-something AMOUNT\n"
            "      Only runs that cost at least this\n");
}

TEST(HelpText, ExamplesContinueAfterABackslashAndKeepTheirArguments) {
  EXPECT_EQ(wrapped_help("Examples:\n  praxis resume 01K9X --deny p1 -m \"not on a Friday\"\n", 40),
            "Examples:\n"
            "  praxis resume 01K9X --deny p1 -m \\\n"
            "    \"not on a Friday\"\n");
}

TEST(HelpText, ParagraphsUsageAndStatusesAreBrokenBetweenWords) {
  EXPECT_EQ(wrapped_help("Runs agents durably, step by step\n"
                         "Usage: praxis run [OPTIONS] [AGENT] [PROMPT]\n\n"
                         "Exit status:\n  130  interrupted (129: hung up)\n",
                         28),
            "Runs agents durably, step by\n"
            "step\n"
            "Usage: praxis run [OPTIONS]\n"
            "       [AGENT] [PROMPT]\n\n"
            "Exit status:\n  130  interrupted (129:\n       hung up)\n");
}

TEST(HelpText, WordsThatAreLongerThanALineStayWhole) {
  EXPECT_EQ(wrapped_help("see praxis-configuration-reference now\n", 20),
            "see\npraxis-configuration-reference\nnow\n");
}

}  // namespace
}  // namespace praxis::cli
