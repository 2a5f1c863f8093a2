// What the stores of prompts do, in one suite, and the template engine.
#include "praxis/prompts/prompt_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PromptTemplate draft(const std::string& id, const std::string& text) {
  PromptTemplate prompt;
  prompt.id = id;
  prompt.text = text;
  return prompt;
}

enum class PromptPlace : std::uint8_t { kProcess, kFile };

class Prompts : public ::testing::TestWithParam<PromptPlace> {
 protected:
  Prompts() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_prompts_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    open();
  }
  ~Prompts() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void open() {
    const PromptStoreOptions options{fixed_environment(1),
                                     [this](const PromptChange& change) { seen_.push_back(change); }};
    store_ = GetParam() == PromptPlace::kProcess ? memory_prompts(options)
                                                 : sqlite_prompts(folder_ + "/p.db", options).value();
  }
  std::string render(const std::string& id, const Json& params, const RenderOptions& options = {}) {
    auto rendered = store_->render(id, params, options);
    return rendered ? rendered->text : "error: " + rendered.error().message;
  }

  std::string folder_;
  std::vector<PromptChange> seen_;
  std::shared_ptr<PromptStore> store_;
};

TEST_P(Prompts, Versions_AreImmutableAndNameTheirOrigin) {
  const auto first = store_->put(draft("greet", "Hello {name}."), "ann").value();
  EXPECT_EQ(first.version, "1");
  EXPECT_EQ(first.parent, "");
  const auto second = store_->put(draft("greet", "Good day {name}."), "bob").value();
  EXPECT_EQ(second.version, "2");
  EXPECT_EQ(second.parent, "1");
  EXPECT_EQ(second.created_by, "bob");
  EXPECT_GT(second.created_at, first.created_at);
  EXPECT_NE(second.hash, first.hash);
  EXPECT_EQ(store_->put(draft("greet", "Good day {name}."), "eve")->version, "2") << "nothing changed";
  EXPECT_EQ(store_->get("greet", "1").value()->text, "Hello {name}.");
  EXPECT_EQ(store_->get("greet").value()->version, "2");
  EXPECT_EQ(store_->get("greet", "1").value()->created_by, "ann");
  EXPECT_FALSE(store_->get("greet", "3").value());
  EXPECT_FALSE(store_->get("other").value());
  EXPECT_THAT(store_->versions("greet").value(), SizeIs(2));
}

TEST_P(Prompts, Labels_MoveAndEachChangeIsAudited) {
  store_->put(draft("greet", "one"), "ann").value();
  store_->put(draft("greet", "two"), "ann").value();
  EXPECT_TRUE(store_->label("greet", "production", "1", "bob"));
  EXPECT_EQ(render("greet", nullptr, {"production"}), "one");
  EXPECT_TRUE(store_->label("greet", "production", "2", "bob"));
  EXPECT_TRUE(store_->label("greet", "stable", "production", "bob")) << "a label can name the version";
  EXPECT_EQ(render("greet", nullptr, {"stable"}), "two");
  EXPECT_THAT(store_->labels("greet").value(),
              ElementsAre(std::pair("production", "2"), std::pair("stable", "2")));
  EXPECT_TRUE(store_->label("greet", "stable", "2", "eve")) << "it is there already: no change";
  EXPECT_THAT(store_->label("greet", "production", "7").error().message, HasSubstr("no version \"7\""));
  EXPECT_FALSE(store_->label("greet", "1", "2")) << "versions are numbers";
  EXPECT_FALSE(store_->label("other", "production", "1"));
  const auto changes = store_->changes("greet").value();
  ASSERT_THAT(changes, SizeIs(5));
  EXPECT_EQ(changes[2].label, "production");
  EXPECT_EQ(changes[2].author, "bob");
  ASSERT_THAT(seen_, SizeIs(5)) << "the listener gets the same";
  EXPECT_EQ(to_json(seen_[3]), to_json(changes[3]));
}

TEST_P(Prompts, List_SelectsByTagAndName) {
  PromptTemplate tagged = draft("b", "x");
  tagged.tags = {"sales", "mail"};
  tagged.name = "Bee";
  tagged.metadata = {{"owner", "ann"}};
  store_->put(tagged).value();
  store_->put(draft("a", "y")).value();
  EXPECT_EQ(store_->list()->at(0).id, "a");
  EXPECT_THAT(store_->list().value(), SizeIs(2));
  EXPECT_EQ(store_->list({"mail", ""})->at(0).metadata, Json({{"owner", "ann"}}));
  EXPECT_THAT(store_->list({"mail", "Other"}).value(), IsEmpty());
  EXPECT_THAT(store_->list({"", "Bee"}).value(), SizeIs(1));
}

TEST_P(Prompts, Render_NamesWhatIsMissing) {
  PromptTemplate prompt = draft("p", "{a} and {b.c}");
  prompt.required_vars = {"d"};
  store_->put(prompt).value();
  EXPECT_EQ(render("p", {{"a", 1}, {"b", {{"c", "see"}}}, {"d", nullptr}}), "1 and see");
  EXPECT_THAT(render("p", {{"a", 1}}), HasSubstr("needs values for \"d\", \"b.c\""));
  const auto lenient = store_->render("p", {{"a", "x"}}, {"", false}).value();
  EXPECT_EQ(lenient.text, "x and ");
  EXPECT_THAT(lenient.missing, ElementsAre("d", "b.c"));
  EXPECT_EQ(lenient.version, "1");
  EXPECT_GT(lenient.tokens_estimate, 0);
  EXPECT_THAT(render("q", nullptr), HasSubstr("no prompt \"q\""));
  EXPECT_THAT(render("p", nullptr, {"beta"}), HasSubstr("version or label \"beta\""));
}

TEST_P(Prompts, Mistakes_AreRefused) {
  EXPECT_THAT(store_->put(draft("a", "x {")).error().message, HasSubstr("line 1, column 3"));
  for (const char* id : {"", "../x", "/x", ".x", "a b", "a\"b"})
    EXPECT_FALSE(store_->put(draft(id, "x"))) << id;
  EXPECT_FALSE(store_->put(draft(std::string(300, 'a'), "x")));
  EXPECT_FALSE(store_->put(draft("a", std::string(2'000'000, 'a'))));
  EXPECT_THAT(store_->list().value(), IsEmpty());
  EXPECT_THAT(seen_, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Places, Prompts, ::testing::Values(PromptPlace::kProcess, PromptPlace::kFile),
                         [](const auto& place) {
                           return place.param == PromptPlace::kProcess ? "Process" : "File";
                         });

class PromptFiles : public Prompts {};
INSTANTIATE_TEST_SUITE_P(Places, PromptFiles, ::testing::Values(PromptPlace::kFile));

TEST_P(PromptFiles, SqliteStore_LastsAndIsShared) {
  store_->put(draft("a", "one"), "ann").value();
  const auto other = sqlite_prompts(folder_ + "/p.db").value();
  EXPECT_EQ(other->get("a").value()->text, "one");
  EXPECT_EQ(other->put(draft("a", "two"))->version, "2");
  EXPECT_EQ(store_->put(draft("a", "three"))->version, "3") << "sees what the other has put";
  EXPECT_THAT(store_->changes().value(), SizeIs(3));
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto mine = sqlite_prompts(folder_ + "/p.db");
      _exit(mine && (*mine)->put(draft("b", std::to_string(i))) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(store_->versions("b").value(), SizeIs(10)) << "each got a version of its own";
}

TEST_P(PromptFiles, PlainFiles_AreReadAndNotWritten) {
  const std::string folder = folder_ + "/prompts";
  std::filesystem::create_directories(folder + "/mail");
  std::ofstream(folder + "/mail/reply.md") << "Hello {name}";
  std::ofstream(folder + "/note.txt") << "Note";
  std::ofstream(folder + "/other.json") << "{}";
  std::ofstream(folder_ + "/outside.txt") << "not among the prompts";
  const auto files = file_prompts(folder);
  EXPECT_THAT(files->list().value(), SizeIs(2));
  const auto prompt = files->get("mail/reply").value();
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->version, prompt->hash.substr(0, 12));
  EXPECT_EQ(files->render("mail/reply", {{"name", "Ann"}})->text, "Hello Ann");
  EXPECT_TRUE(files->get("mail/reply", prompt->version).value());
  std::ofstream(folder + "/mail/reply.md") << "Changed {name}";
  EXPECT_FALSE(files->get("mail/reply", prompt->version).value()) << "only the present version is there";
  const auto outside = files->get("../outside");
  ASSERT_TRUE(outside) << outside.error().message;
  EXPECT_FALSE(*outside) << "only the folder is read";
  EXPECT_THAT(files->put(draft("note", "x")).error().message, HasSubstr("edit them there"));
  EXPECT_FALSE(files->label("note", "a", "b"));
}

TEST(FString, ReplacesVariablesAndKeepsBraces) {
  const auto text = [](const std::string& prompt, const Json& params) {
    const auto store = memory_prompts();
    if (auto put = store->put(draft("p", prompt)); !put) return put.error().message;
    auto rendered = store->render("p", params);
    return rendered ? rendered->text : rendered.error().message;
  };
  EXPECT_EQ(text("{{literal}} {a}{a}", {{"a", "x"}}), "{literal} xx");
  EXPECT_EQ(text("{a}", {{"a", "{b} {{ }} {"}, {"b", "no"}}), "{b} {{ }} {") << "a value is never a template";
  EXPECT_EQ(text("{a} {b}", {{"a", {1, 2}}, {"b", nullptr}}), "[1,2] null");
  EXPECT_EQ(text("{_a1.b}", {{"_a1", {{"b", true}}}}), "true");
  EXPECT_EQ(text("no variables\n", nullptr), "no variables\n");
  EXPECT_THAT(text("{a}", {{"a", std::string(9'000'000, 'x')}}), HasSubstr("more than 8388608 bytes"));
  std::string bomb;
  for (int i = 0; i < 200'000; ++i) bomb += "{a}";
  EXPECT_THAT(text(bomb, {{"a", std::string(1'000, 'x')}}), HasSubstr("more than 8388608 bytes"));
}

TEST(FString, Check_NamesPlacesAndVariables) {
  const PromptCheck good = PromptStore::validate("{a} {b.c} {a} {{x}}");
  EXPECT_TRUE(good.ok);
  EXPECT_THAT(good.variables, ElementsAre("a", "b.c"));
  const PromptCheck bad = PromptStore::validate("{a}\n  } {} {a b} {1} {a..b} {open\n{");
  EXPECT_FALSE(bad.ok);
  EXPECT_THAT(
      bad.errors,
      ElementsAre(HasSubstr("line 2, column 3: \"}\" without"), HasSubstr("line 2, column 5: \"\" is not"),
                  HasSubstr("\"a b\" is not"), HasSubstr("\"1\" is not"), HasSubstr("\"a..b\" is not"),
                  HasSubstr("line 2, column 25: \"{\" without"), HasSubstr("line 3, column 1")));
  EXPECT_THAT(PromptStore::validate(std::string(1000, '}') + "}").errors, SizeIs(1));
  EXPECT_THAT(PromptStore::validate(std::string(1000, '{') + "{").errors, SizeIs(1));
}

}  // namespace
}  // namespace praxis
