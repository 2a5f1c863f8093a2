#include "evals/case_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/plain_text.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kCaseKeys{"id", "prompt", "files", "expected", "tags", "weight", "checks"};
constexpr std::size_t kMaxIdBytes = 100;

/// A member that is a list of strings, or absent.
Result<std::vector<std::string>> strings_at(const Json& row, const char* key, const RowMistake& mistake) {
  std::vector<std::string> strings;
  const Json& value = json_at(row, key);
  if (value.is_null()) return strings;
  const JsonArray* const list = value.if_array();
  if (list == nullptr || !std::ranges::all_of(*list, [](const Json& each) { return each.is_string(); }))
    return mistake(key, fmt::format("\"{}\" must be a list of strings", key));
  for (const Json& each : *list) strings.push_back(to_plain_text(each));
  return strings;
}

Status check_keys(const JsonObject& row, const RowMistake& mistake) {
  for (const auto& [name, value] : row) {
    const std::string key(name);
    if (std::ranges::count(kCaseKeys, key) > 0) continue;
    const auto meant = closest(key, kCaseKeys);
    return mistake(
        key, fmt::format("a case has no {}; {}", app::in_quotes(key),
                         meant ? "did you mean \"" + *meant + "\"?" : "it has " + app::joined(kCaseKeys)));
  }
  return {};
}

/// The checks of a list, with the expected answer of the case.
Status add_checks(const Json& list, const Json& expected, std::vector<Check>& checks,
                  const RowMistake& mistake) {
  if (list.is_null()) return {};
  if (!list.is_array()) return mistake("checks", "\"checks\" must be a list");
  for (const Json& each : list.get_array()) {
    auto check = read_check(each, expected);
    if (!check) return mistake("checks", check.error().message);
    checks.push_back(*std::move(check));
  }
  return {};
}

bool is_url(std::string_view place) { return place.starts_with("http://") || place.starts_with("https://"); }

Status read_text(const Json& row, EvalCase& read, const RowMistake& mistake) {
  const Json& id = json_at(row, "id");
  if (id.is_string() || id.is_number()) read.id = to_plain_text(id);
  if (read.id.empty() || read.id.size() > kMaxIdBytes)
    return mistake("id", fmt::format("a case needs an \"id\" of 1 to {} bytes", kMaxIdBytes));
  read.prompt = json_string(row, "prompt");
  if (read.prompt.empty()) return mistake("prompt", "a case needs a \"prompt\"");
  const Json& weight = json_at(row, "weight");
  read.weight = weight.is_null() ? 1 : json_double(row, "weight", -1);
  constexpr double kMostWeight = 1e6;
  if (!(read.weight > 0 && read.weight <= kMostWeight))
    return mistake("weight", "\"weight\" must be a number above 0");
  return {};
}

// ---- CSV (RFC 4180)

using CsvRow = std::vector<std::string>;

/// Splits CSV text into rows; `line` is where each row begins.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  /// The next row; nothing if a quote does not end.
  std::optional<CsvRow> row() {
    CsvRow row;
    for (;;) {
      auto field = this->field();
      if (!field) return std::nullopt;
      row.push_back(*std::move(field));
      if (at_end()) return row;
      const char end = text_[at_++];
      if (end == ',') continue;
      if (end == '\r' && !at_end() && text_[at_] == '\n') ++at_;
      ++line_;
      return row;
    }
  }

 private:
  std::optional<std::string> field() {
    if (at_end() || text_[at_] != '"') {
      const auto end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      const auto begin = std::exchange(at_, end);
      return std::string(text_.substr(begin, end - begin));
    }
    return quoted_field();
  }

  std::optional<std::string> quoted_field() {
    std::string field;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          const bool ends = at_end() || std::string_view(",\r\n").contains(text_[at_]);
          return ends ? std::optional(std::move(field)) : std::nullopt;
        }
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// The parts of a cell that holds a list: `a;b`.
JsonArray parts_of(std::string_view cell) {
  JsonArray parts;
  while (!cell.empty()) {
    const auto end = std::min(cell.find(';'), cell.size());
    if (end > 0) parts.emplace_back(cell.substr(0, end));
    cell.remove_prefix(std::min(end + 1, cell.size()));
  }
  return parts;
}

/// A row as the object that a line of JSONL would be. Empty cells are absent.
JsonObject object_of(const CsvRow& header, const CsvRow& row) {
  JsonObject object;
  for (std::size_t i = 0; i < std::min(header.size(), row.size()); ++i) {
    const std::string& key = header[i];
    if (row[i].empty()) continue;
    if (key == "tags" || key == "files" || key == "checks") {
      object[key] = parts_of(row[i]);
    } else if (auto weight = parse_json(row[i]); key == "weight" && weight) {
      object[key] = *std::move(weight);
    } else {
      object[key] = row[i];
    }
  }
  return object;
}

RowMistake in_line(const std::string& path, std::size_t line) {
  return [path, line](const std::string& /*key*/, const std::string& what) {
    return fail(ErrorCode::kInput, fmt::format("{}:{}: {}", path, line, what));
  };
}

Result<std::vector<EvalCase>> read_csv(std::string_view text, const std::string& path,
                                       const CaseDefaults& defaults) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // spreadsheets begin UTF-8 files with it
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  CsvReader reader(text);
  std::vector<EvalCase> cases;
  std::optional<CsvRow> header;
  while (!reader.at_end()) {
    const RowMistake mistake = in_line(path, reader.line());
    auto row = reader.row();
    if (!row) return mistake("", "a quote of the row does not end, or text follows it");
    if (*row == CsvRow{""}) continue;
    if (!header) {
      header = *std::move(row);
      continue;
    }
    if (row->size() != header->size())
      return mistake("", fmt::format("the row has {} cells, the header {}", row->size(), header->size()));
    auto read = read_case(object_of(*header, *row), defaults, mistake);
    if (!read) return fail(read.error());
    cases.push_back(*std::move(read));
  }
  return cases;
}

Result<std::vector<EvalCase>> read_jsonl(std::string_view text, const std::string& path,
                                         const CaseDefaults& defaults) {
  std::vector<EvalCase> cases;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const RowMistake mistake = in_line(path, number);
    const auto row = parse_json(line);
    if (!row) return mistake("", row.error().message);
    auto read = read_case(*row, defaults, mistake);
    if (!read) return fail(read.error());
    cases.push_back(*std::move(read));
  }
  return cases;
}

}  // namespace

Result<EvalCase> read_case(const Json& row, const CaseDefaults& defaults, const RowMistake& mistake) {
  const JsonObject* const members = row.if_object();
  if (members == nullptr) return mistake("", "a case must be a table");
  if (auto known = check_keys(*members, mistake); !known) return fail(known.error());
  EvalCase read;
  if (auto text = read_text(row, read, mistake); !text) return fail(text.error());
  auto files = strings_at(row, "files", mistake), tags = strings_at(row, "tags", mistake);
  if (!files) return fail(files.error());
  if (!tags) return fail(tags.error());
  for (const std::string& file : *files)
    read.files.push_back(is_url(file) ? file : (fs::path(defaults.folder) / file).string());
  read.tags = *std::move(tags);
  const Json& expected = json_at(row, "expected");
  read.expected = expected;
  for (const Json* list : {defaults.checks, &json_at(row, "checks")}) {
    if (list == nullptr) continue;
    if (auto added = add_checks(*list, expected, read.checks, mistake); !added) return fail(added.error());
  }
  if (read.checks.empty()) {
    if (expected.is_null()) return mistake("", "a case needs \"expected\" or \"checks\"");
    if (auto added = add_checks(JsonArray{"exact"}, expected, read.checks, mistake); !added)
      return fail(added.error());
  }
  return read;
}

Result<std::vector<EvalCase>> read_case_file(std::string_view text, const std::string& path,
                                             const CaseDefaults& defaults) {
  return path.ends_with(".csv") ? read_csv(text, path, defaults) : read_jsonl(text, path, defaults);
}

}  // namespace praxis::evals
