#include "praxis/tools/skill_tool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string skill_file(const std::string& fields, const std::string& body = "Do it.\n") {
  return "---\n" + fields + "---\n" + body;
}

TEST(SkillFile, FieldsOfTheFormatAreRead) {
  const auto skill =
      parse_skill(skill_file("name: pdf-2-text\n"
                             "description: >\n  Extracts text,\n  from PDFs.\n"
                             "license: MIT\n"
                             "compatibility: 'Needs: pdftotext'\n"
                             "metadata:\n  author: someone\n  name: inner\n  list: [a, {b: c}]\n"
                             "allowed-tools: [Read, Bash(git:*)]\n"
                             "colour: blue\n",
                             "\n# Steps\n\n1. Read.\n---\n2. Write.\n"),
                  "/skills/pdf-2-text");
  ASSERT_TRUE(skill) << skill.error().message;
  EXPECT_EQ(skill->name, "pdf-2-text");
  EXPECT_EQ(skill->description, "Extracts text, from PDFs.\n");
  EXPECT_EQ(skill->license, "MIT");
  EXPECT_EQ(skill->compatibility, "Needs: pdftotext");
  EXPECT_EQ(skill->instructions, "# Steps\n\n1. Read.\n---\n2. Write.\n");
  EXPECT_THAT(skill->unknown_fields, ElementsAre("colour"));
}

TEST(SkillFile, LineEndsOfWindowsAndAByteOrderMarkAreFine) {
  const auto skill = parse_skill("\xEF\xBB\xBF---\r\nname: a\r\ndescription: b\r\n---\r\nText\r\n", "/x/a");
  ASSERT_TRUE(skill) << skill.error().message;
  EXPECT_EQ(skill->description, "b");
  EXPECT_EQ(skill->instructions, "Text\r\n");
}

struct BadSkill {
  std::string text, why;
};

TEST(SkillFile, WhatIsNotInTheFormatIsRefusedWithItsReason) {
  const std::string d = "description: d\n";
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c)
    bomb += std::string(1, c) + ": &" + c + " [*" + std::string(1, static_cast<char>(c - 1)) + "]\n";
  const std::vector<BadSkill> all{
      {"", "must begin with a line"},
      {"# Title\n---\nname: a\n", "must begin with a line"},
      {"---\nname: a\n" + d, "has no end"},
      {"---", "has no end"},
      {skill_file(""), "has no fields"},
      {skill_file("just text\n"), "must be a list of fields"},
      {skill_file("- name\n- other\n"), "must be a list of fields"},
      {skill_file("name: [a\n"), "is not valid YAML: line"},
      {skill_file("name: a\nname: a\n" + d), "has the field \"name\" twice"},
      {skill_file("[a, b]: c\n" + d), "a field whose name is not a text"},
      {skill_file(bomb), "reference"},
      {skill_file("name: a\n" + d + "metadata: " + std::string(40, '[') + std::string(40, ']') + "\n"),
       "is nested more than 16 levels"},
      {skill_file(d), "\"name\" is missing"},
      {skill_file("name: a\n"), "\"description\" is missing"},
      {skill_file("name: a\ndescription: '  '\n"), "\"description\" is missing"},
      {skill_file("name: b\n" + d), "is not that of the folder"},
      {skill_file("name: ../a\n" + d), "the name must be"},
      {skill_file("name: -a\n" + d), "the name must be"},
      {skill_file("name: A\n" + d), "the name must be"},
      {skill_file("name: a--a\n" + d), "the name must be"},
      {skill_file("name: " + std::string(65, 'a') + "\n" + d), "the name must be"},
      {skill_file("name: a\ndescription: " + std::string(1025, 'd') + "\n"), "has 1025 characters"},
      {skill_file("name: a\n" + d + "compatibility: " + std::string(501, 'd') + "\n"), "has 501 characters"},
      {skill_file("name: a\n" + d, "\xff\xfe"), "not UTF-8"},
      {skill_file("name: a\ndescription: \xff\n"), "is not valid YAML"},
  };
  for (const BadSkill& each : all) {
    const auto skill = parse_skill(each.text, "/skills/a");
    ASSERT_FALSE(skill) << each.text;
    EXPECT_EQ(skill.error().code, ErrorCode::kInput);
    EXPECT_THAT(skill.error().message, HasSubstr(each.why)) << each.text.substr(0, 200);
  }
}

TEST(SkillFile, LengthsCountCharacters) {
  std::string accents;
  for (std::size_t i = 0; i < Skill::kMaxDescription; ++i) accents += "\u00e9";
  EXPECT_TRUE(parse_skill(skill_file("name: a\ndescription: " + accents + "\n"), "/x/a"));
  EXPECT_FALSE(parse_skill(skill_file("name: a\ndescription: " + accents + "e\n"), "/x/a"));
}

/// Two folders with skills.
class SkillFolders : public ::testing::Test {
 protected:
  SkillFolders() {
    scratch_.write("one/tea/SKILL.md", skill_file("name: tea\ndescription: |\n  Makes tea.\n  - coffee: no\n",
                                                  "Boil water. See references/kinds.md.\n"));
    scratch_.write("one/tea/references/kinds.md", "Green, black.\n");
    scratch_.write("one/tea/scripts/boil.py", "print('hot')\n");
    scratch_.write("one/tea/logo.bin", std::string("\0\1", 2));
    scratch_.write("one/broken/SKILL.md", "no header\n");
    scratch_.write("one/notes.txt", "no skill\n");
    scratch_.write("one/empty/README.md", "no skill\n");
    scratch_.write("two/tea/SKILL.md", skill_file("name: tea\ndescription: Other tea.\n"));
    scratch_.write("two/coffee/SKILL.md", skill_file("name: coffee\ndescription: Makes coffee.\n"));
    scratch_.write("secret.txt", "canary\n");
  }
  SkillList found() const { return find_skills({path("one"), path("missing"), path("two")}); }
  std::string path(const std::string& below) const { return scratch_.str(below); }

  ScratchFolder scratch_;
};

TEST_F(SkillFolders, FirstOfANameCounts_AndTheRestIsNamed) {
  const SkillList list = found();
  ASSERT_EQ(list.skills.size(), 2U);
  EXPECT_EQ(list.skills[0].folder, path("one/tea"));
  EXPECT_EQ(list.skills[1].name, "coffee");
  ASSERT_EQ(list.left_out.size(), 2U);
  EXPECT_EQ(list.left_out[0].folder, path("one/broken"));
  EXPECT_THAT(list.left_out[0].why, HasSubstr("must begin with a line"));
  EXPECT_EQ(list.left_out[1].folder, path("two/tea"));
  EXPECT_THAT(list.left_out[1].why, HasSubstr("comes first"));
}

TEST_F(SkillFolders, LinksAreNotFollowed) {
  std::filesystem::create_directory_symlink(path("one/tea"), path("two/linked"));
  EXPECT_EQ(found().skills.size(), 2U);
  std::filesystem::create_symlink(path("secret.txt"), path("one/tea/stolen.txt"));
  const Tool tool = skill_tool(found().skills);
  const auto stolen = call_with(tool, JsonObject{{"name", "tea"}, {"file", "stolen.txt"}});
  ASSERT_FALSE(stolen);
  EXPECT_THAT(stolen.error().message, Not(HasSubstr("canary")));
}

TEST_F(SkillFolders, ModelSeesNamesFirst_ThenInstructions_ThenFiles) {
  const Tool tool = skill_tool(found().skills);
  EXPECT_TRUE(tool.definition.idempotent);
  EXPECT_THAT(tool.definition.description,
              AllOf(HasSubstr("\n- tea: Makes tea. - coffee: no"), HasSubstr("\n- coffee: Makes coffee."),
                    Not(HasSubstr("Boil"))))
      << "a description stays on its line";
  const auto used = call_with(tool, JsonObject{{"name", "tea"}});
  ASSERT_TRUE(used) << used.error().message;
  EXPECT_THAT(used->text,
              AllOf(HasSubstr("Boil water."), HasSubstr("\n- references/kinds.md"),
                    HasSubstr("\n- scripts/boil.py"), HasSubstr(path("one/tea")), Not(HasSubstr("Green"))));
  const auto file = call_with(tool, JsonObject{{"name", "tea"}, {"file", "references/kinds.md"}});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->text, "Green, black.\n");
}

TEST_F(SkillFolders, FilesOutsideOfTheSkillAndBinaryOnesAreNotGiven) {
  const Tool tool = skill_tool(found().skills);
  for (const std::string& file :
       {std::string("../../secret.txt"), path("secret.txt"), std::string("/etc/passwd"),
        std::string("logo.bin"), std::string("none.md"), std::string("scripts")}) {
    const auto given = call_with(tool, JsonObject{{"name", "tea"}, {"file", file}});
    EXPECT_FALSE(given) << file;
  }
  const auto unknown = call_with(tool, JsonObject{{"name", "coffe"}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean \"coffee\"?"));
}

TEST_F(SkillFolders, MoreThanFitAreLeftOut) {
  for (int i = 0; i < 150; ++i) {
    const std::string name = "many-" + std::to_string(i);
    scratch_.write("three/" + name + "/SKILL.md", skill_file("name: " + name + "\ndescription: d\n"));
  }
  const SkillList list = find_skills({path("three")});
  EXPECT_EQ(list.skills.size(), 128U);
  ASSERT_EQ(list.left_out.size(), 22U);
  EXPECT_THAT(list.left_out.front().why, HasSubstr("more than 128"));
}

}  // namespace
}  // namespace praxis
