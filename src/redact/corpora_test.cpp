// Recall and precision on public data of other scanners, which is not part of the project.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"
#include "redact/detector.hpp"

namespace praxis::redact {
namespace {

namespace fs = std::filesystem;

/// The folder with public data; PRAXIS_CORPORA names another one. Empty: the machine has none.
fs::path corpora_folder() {
  const char* set = std::getenv("PRAXIS_CORPORA");
  const fs::path all = set != nullptr ? fs::path(set) : fs::path(PRAXIS_SOURCE_DIR) / "../shared/corpora";
  return fs::exists(all / "secrets") && fs::exists(all / "pii") ? all : fs::path();
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The examples that a scanner's rules are published with.
struct Published {
  std::vector<std::string> right;
  std::vector<std::string> wrong;
};

/// Reads the lists `examples` and `negative_examples` of a file in YAML; knows no more of YAML than these
/// use.
class ExampleLists {
 public:
  explicit ExampleLists(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  void add_to(Published& all) {
    while (line_ < lines_.size()) {
      const std::string name = lines_[line_].substr(indent_of(lines_[line_]));
      const std::size_t indent = indent_of(lines_[line_++]);
      if (name.starts_with("examples:")) read_items(indent, all.right);
      if (name.starts_with("negative_examples:")) read_items(indent, all.wrong);
    }
  }

 private:
  static std::size_t indent_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
  }
  bool is_blank() const { return indent_of(lines_[line_]) == lines_[line_].size(); }

  void read_items(std::size_t indent, std::vector<std::string>& out) {
    while (line_ < lines_.size()) {
      if (is_blank() || lines_[line_][indent_of(lines_[line_])] == '#') {
        ++line_;
        continue;
      }
      const std::size_t dash = indent_of(lines_[line_]);
      if (dash < indent || !lines_[line_].substr(dash).starts_with("- ")) return;
      out.push_back(item(dash));
    }
  }

  std::string item(std::size_t dash) {
    std::string first = lines_[line_++].substr(dash + 2);
    std::string rest;
    const bool is_block = first.starts_with('|') || first.starts_with('>');
    while (line_ < lines_.size() && (is_blank() || indent_of(lines_[line_]) > dash)) {
      const std::size_t from = is_block ? std::min(dash + 2, lines_[line_].size()) : indent_of(lines_[line_]);
      rest += (is_block ? "" : " ") + lines_[line_++].substr(from) + (is_block ? "\n" : "");
    }
    if (is_block) return rest;
    std::string all = first + rest;
    const bool is_quoted = all.size() > 1 && (all[0] == '\'' || all[0] == '"') && all.ends_with(all[0]);
    if (!is_quoted) return all;
    const char quote = all[0];
    all = all.substr(1, all.size() - 2);
    const std::string escaped = quote == '"' ? "\\\"" : "''";
    for (std::size_t at = 0; (at = all.find(escaped, at)) != std::string::npos; ++at)
      all.replace(at, 2, std::string(1, quote));
    return all;
  }

  std::vector<std::string> lines_;
  std::size_t line_ = 0;
};

std::size_t count_found(const Detector& detector, const std::vector<std::string>& texts) {
  std::size_t out = 0;
  for (const std::string& text : texts) out += detector.find(text).empty() ? 0 : 1;
  return out;
}

TEST(RedactCorpora, PublishedExamplesOfSecretsAreFound) {
  const fs::path folder = corpora_folder();
  if (folder.empty()) GTEST_SKIP() << "public data is not on this machine; PRAXIS_CORPORA names its folder";
  Published all;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "secrets")) {
    if (entry.path().extension() == ".yml" || entry.path().extension() == ".yaml")
      ExampleLists(text_of(entry.path())).add_to(all);
  }
  ASSERT_GT(all.right.size(), 800U);
  for (const auto& [profile, least] :
       {std::pair{Profile::kBalanced, 0.86}, std::pair{Profile::kStrict, 0.91}}) {
    const Detector detector({.profile = profile, .personal = false});
    const std::size_t found = count_found(detector, all.right);
    std::cout << (profile == Profile::kStrict ? "strict" : "balanced") << ": " << found << " of "
              << all.right.size() << " examples, " << count_found(detector, all.wrong) << " of "
              << all.wrong.size() << " counter-examples\n";
    EXPECT_GE(static_cast<double>(found), least * static_cast<double>(all.right.size()));
  }
}

/// How much of each kind of personal data is found.
struct Recall {
  std::size_t found = 0;
  std::size_t all = 0;
};

/// The offset in bytes of a character.
std::size_t byte_of(const std::string& text, std::int64_t character) {
  std::size_t at = 0;
  for (; at < text.size() && character > 0; --character) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

TEST(RedactCorpora, PersonalDataOfSyntheticTextsIsFound) {
  const fs::path folder = corpora_folder();
  if (folder.empty()) GTEST_SKIP() << "public data is not on this machine; PRAXIS_CORPORA names its folder";
  const auto records = parse_json(text_of(folder / "pii/data/synth_dataset_v2.json"));
  ASSERT_TRUE(records);
  const auto personal = Detector::shared({.secrets = false});
  const auto secrets = Detector::shared({.profile = Profile::kStrict, .personal = false});
  std::map<std::string, Recall> recalls;
  std::size_t false_secrets = 0;
  for (const Json& record : records->get_array()) {
    const std::string text = json_string(record, "full_text");
    false_secrets += secrets->find(text).size();
    const std::vector<Place> places = personal->find(text);
    for (const Json& span : json_at(record, "spans").get_array()) {
      Recall& recall = recalls[json_string(span, "entity_type")];
      const std::size_t begin = byte_of(text, json_at(span, "start_position").as_int64());
      const std::size_t end = byte_of(text, json_at(span, "end_position").as_int64());
      ++recall.all;
      for (const Place& place : places) {
        if (place.begin > begin + 1 || place.end + 1 < end) continue;
        ++recall.found;
        break;
      }
    }
  }
  for (const auto& [type, recall] : recalls)
    std::cout << type << ": " << recall.found << " of " << recall.all << '\n';
  EXPECT_EQ(false_secrets, 0U);
  for (const char* type :
       {"CREDIT_CARD", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "US_SSN", "PHONE_NUMBER"}) {
    const Recall recall = recalls[type];
    EXPECT_GE(recall.found * 100, recall.all * 90) << type;
    EXPECT_GT(recall.all, 0U) << type;
  }
}

TEST(RedactCorpora, SourcesOfThisProjectHaveFewFinds) {
  const auto detector = Detector::shared({.profile = Profile::kStrict});
  std::size_t lines = 0;
  std::size_t found = 0;
  for (const char* part : {"src", "docs", "include", "examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PRAXIS_SOURCE_DIR) / part)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = text_of(entry.path());
      lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
      found += detector->find(text).size();
    }
  }
  ASSERT_GT(lines, 50'000U);
  EXPECT_LT(found * 200, lines) << found << " finds in " << lines << " lines";
}

}  // namespace
}  // namespace praxis::redact
