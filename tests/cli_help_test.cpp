// How help fits a terminal.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {
namespace {

class CliHelp : public CommandLine {
 protected:
  /// The commands of the program; empty for the program itself.
  std::vector<std::string> commands() const {
    std::vector<std::string> names{""};
    std::istringstream lines(praxis({"__complete", ""}).out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('-')) names.push_back(line.substr(0, line.find('\t')));
    }
    return names;
  }
  /// Without the backslashes at the ends of lines.
  static std::vector<std::string> words_in(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
      if (word != "\\") words.push_back(word);
    }
    return words;
  }
};

TEST_F(CliHelp, OfEveryCommand_FitsANarrowTerminalWithoutBrokenWords) {
  ASSERT_GT(commands().size(), 20U);
  for (const std::string& name : commands()) {
    std::vector<std::string> words{"--help"};
    if (!name.empty()) words.insert(words.begin(), name);
    const std::string whole = praxis(words).out;
    for (const int columns : {40, 80}) {
      TerminalSession session(command(words), options_, {columns, 24});
      ASSERT_EQ(session.finish(), 0);
      EXPECT_EQ(words_in(session.screen()), words_in(whole)) << name << " at " << columns;
    }
  }
}

TEST_F(CliHelp, InAPipe_IsNotBroken) {
  EXPECT_NE(praxis({"runs", "--help"})
                .out.find("in names, tags, titles, agents, models and conversations. Or a command"),
            std::string::npos);
}

TEST_F(CliHelp, Version_SaysWhatTheProgramWasBuiltFromAsItsBillOfMaterialsDoes) {
  const std::string shown = praxis({"--version"}).out;
  EXPECT_TRUE(shown.starts_with("praxis 0.")) << shown;
  std::ifstream file(PRAXIS_BINARY_DIR "/sbom.spdx.json");
  const auto bill = parse_json(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(bill) << bill.error().message;
  const Json &packages = json_at(*bill, "packages"), &relations = json_at(*bill, "relationships");
  EXPECT_EQ(relations.as_array().size(), packages.as_array().size());
  std::size_t lines = 0;
  for (const Json& each : packages.as_array()) {
    if (json_text(each, "name") == "praxis") continue;
    const std::string line = "\n  " + json_string(each, "name") + ' ' + json_string(each, "versionInfo") +
                             " (" + json_string(each, "licenseDeclared") + ")\n";
    EXPECT_NE(shown.find(line), std::string::npos) << line;
    ++lines;
  }
  EXPECT_GE(lines, 14U);
  for (const char* name : {"\n  boost 1.", "\n  openssl 3.", "\nbuilt by "})
    EXPECT_NE(shown.find(name), std::string::npos) << name;
}

TEST_F(CliHelp, OfATopic_IsAPageOfTheDocumentation) {
  std::ifstream page(PRAXIS_SOURCE_DIR "/docs/plans.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const CommandResult shown = praxis({"help", "plans"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(shown.out, text) << "unchanged in a pipe";
  const std::string topics = praxis({"help", "topics"}).out;
  for (const auto& entry : std::filesystem::directory_iterator(PRAXIS_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;  // pictures, and the list of pages for models
    EXPECT_NE(("\n" + topics).find("\n" + entry.path().stem().string() + "\n"), std::string::npos)
        << entry.path();
  }
  const CommandResult unknown = praxis({"help", "plan"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("there is no command or topic \"plan\"; did you mean \"plans\"?"),
            std::string::npos)
      << unknown.err;
  EXPECT_EQ(praxis({"help", "../README"}).status, 2);
  EXPECT_EQ(praxis({"help", "run"}).out, praxis({"run", "--help"}).out);
}

TEST_F(CliHelp, TopicsWithoutTheirPagesAreAnError) {
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::copy_file(PRAXIS_BINARY_DIR "/praxis", folder_ / "bin/praxis");
  const CommandResult topics = run({(folder_ / "bin/praxis").string(), "help", "topics"}, options_);
  EXPECT_EQ(topics.status, 2);
  EXPECT_NE(topics.err.find("the pages of the documentation are not installed"), std::string::npos);
}

}  // namespace
}  // namespace praxis::testing
