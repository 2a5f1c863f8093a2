// `praxis prompts`, and agents whose instructions are a versioned prompt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CliPrompts : public CommandLine {
 protected:
  CliPrompts() {
    file("one.txt", "Answer {who}.");
    file("two.txt", "Answer {who} in French.");
    file("hello.jsonl", "{\"text\": \"Hello.\"}\n");
  }
  std::string mistake(std::vector<std::string> words) const {
    words.insert(words.begin(), "prompts");
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 2) << words[1];
    return result.err;
  }
};

TEST_F(CliPrompts, AgentsLog_NamesTheVersionItGot) {
  ASSERT_EQ(praxis({"prompts", "put", "answer", "one.txt", "--author", "ann"}).out, "answer@1\n");
  ASSERT_EQ(praxis({"prompts", "label", "answer", "production", "1"}).status, 0);
  ASSERT_EQ(praxis({"prompts", "put", "answer", "two.txt"}).out, "answer@2\n");
  file("a.toml",
       "model = 'script:hello.jsonl'\nprompt = 'answer@production'\n[prompt_variables]\nwho = 'Ann "
       "canary42'\n");
  ASSERT_EQ(praxis({"run", "a.toml", "Hi"}).status, 0);
  const std::string log = praxis({"show", "last", "--records", "--json"}).out;
  EXPECT_THAT(log, AllOf(HasSubstr(R"("version":"1")"), HasSubstr(R"("label":"production")"),
                         HasSubstr("Answer Ann canary42.")));
  ASSERT_EQ(praxis({"prompts", "label", "answer", "production", "2"}).status, 0);
  EXPECT_EQ(praxis({"replay", "last"}).status, 0) << "a replay renders nothing again";
}

TEST_F(CliPrompts, Put_KeepsTagsAndRequiredVariables) {
  ASSERT_EQ(praxis({"prompts", "put", "answer", "one.txt", "--tag", "mail", "--require", "tone"}).status, 0);
  ASSERT_EQ(praxis({"prompts", "put", "other", "two.txt"}).status, 0);
  EXPECT_THAT(praxis({"prompts", "list", "--tag", "mail"}).out,
              AllOf(HasSubstr("answer"), Not(HasSubstr("other"))));
  EXPECT_THAT(mistake({"render", "answer", "--var", "who=Ann"}), HasSubstr("needs values for \"tone\""));
  ASSERT_EQ(praxis({"prompts", "put", "answer", "two.txt"}).status, 0);
  EXPECT_EQ(praxis({"prompts", "diff", "answer", "1", "1", "--json"}).last_line().at("identical"),
            Json(true));
  EXPECT_EQ(praxis({"prompts", "diff", "answer", "1", "2", "--json"}).last_line().at("identical"),
            Json(false));
}

TEST_F(CliPrompts, FolderOfPlainFiles_IsAStore) {
  file("prompts/greet.md", "Hello {who}.");
  EXPECT_EQ(praxis({"prompts", "render", "greet", "--var", "who=Ann", "--prompts", "prompts"}).out,
            "Hello Ann.\n");
  EXPECT_THAT(mistake({"put", "greet", "one.txt", "--prompts", "prompts"}), HasSubstr("edit them there"));
}

TEST_F(CliPrompts, Mistakes_AreNamed) {
  file("bad.txt", "line\n {x y}");
  EXPECT_THAT(mistake({"check", "bad.txt"}), HasSubstr("line 2, column 2"));
  EXPECT_THAT(mistake({"put", "answer", "bad.txt"}), HasSubstr("no template"));
  EXPECT_THAT(mistake({"show"}), HasSubstr("the id of a prompt is missing"));
  EXPECT_THAT(mistake({"show", "answer"}), HasSubstr("no prompt \"answer\""));
  ASSERT_EQ(praxis({"prompts", "put", "answer", "one.txt"}).status, 0);
  EXPECT_THAT(mistake({"render", "answer"}), HasSubstr("needs values for \"who\""));
  EXPECT_THAT(mistake({"render", "answer", "--var", "who"}), HasSubstr("--var takes NAME=VALUE"));
  EXPECT_THAT(mistake({"label", "answer", "production"}), HasSubstr("needs a prompt, a label and a version"));
  EXPECT_THAT(mistake({"label", "answer", "production", "9"}), HasSubstr("no version \"9\""));
  file("vars.json", "[1]");
  EXPECT_THAT(mistake({"render", "answer", "--vars", "vars.json"}), HasSubstr("is not a JSON object"));
}

TEST_F(CliPrompts, Engines_RenderWithPartialsOfTheStore) {
  file("item.txt", "- {{title}}\n");
  file("list.txt", "{{#todo}}\n{{> item}}{{/todo}}");
  file("values.json", R"({"todo": [{"title": "Read"}, {"title": "Write {{title}}"}]})");
  const CommandResult put = praxis({"prompts", "put", "item", "item.txt", "--engine", "mustache"});
  if (put.err.contains("built without the template engines")) PRAXIS_MISSING_PART(put.err);
  ASSERT_EQ(put.out, "item@1\n") << put.err;
  ASSERT_EQ(
      praxis({"prompts", "put", "list", "list.txt", "--engine", "mustache", "--require", "todo:list"}).out,
      "list@1\n");
  EXPECT_EQ(praxis({"prompts", "render", "list", "--vars", "values.json"}).out,
            "- Read\n- Write {{title}}\n\n");
  EXPECT_THAT(mistake({"render", "list", "--var", "todo=1"}), HasSubstr("of the type list for \"todo\""));
  EXPECT_EQ(praxis({"prompts", "check", "list.txt", "--engine", "mustache"}).out, "todo\n");
  file("bad.txt", "{% if a %}");
  EXPECT_THAT(mistake({"put", "bad", "bad.txt", "--engine", "liquid"}), HasSubstr("not closed"));
  EXPECT_THAT(mistake({"put", "bad", "bad.txt", "--engine", "jinja"}), HasSubstr("liquid"));

  file("agent.toml",
       "model = 'script:hello.jsonl'\nprompt = 'list'\n[prompt_variables]\ntodo = [{title = 'Go'}]\n");
  ASSERT_EQ(praxis({"run", "agent.toml", "Hi"}).status, 0);
  EXPECT_THAT(praxis({"show", "last", "--records", "--json"}).out,
              AllOf(HasSubstr("- Go"), HasSubstr(R"("partials":["item@1"])")));

  file("prompts/hello.liquid", "Hello {{ who | upcase }}");
  EXPECT_EQ(praxis({"prompts", "render", "hello", "--var", "who=Ann", "--prompts", "prompts"}).out,
            "Hello ANN\n");
}

}  // namespace
}  // namespace praxis::testing
