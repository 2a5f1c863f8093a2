#include "tools/postgres_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

/// Functions that a role without privileges may call and whose effect a rolled back transaction does not take
/// back, and those that run a text, in which other names can hide. `*`: all that begin so.
constexpr std::string_view kRefusedNames[] = {"brin_desummarize_range",
                                              "brin_summarize_*",
                                              "connectby",
                                              "crosstab*",
                                              "cursor_to_xml*",
                                              "database_to_xml*",
                                              "dblink*",
                                              "gin_clean_pending_list",
                                              "lo_creat",
                                              "lo_create",
                                              "lo_export",
                                              "lo_from_bytea",
                                              "lo_import",
                                              "lo_open",
                                              "lo_put",
                                              "lo_truncate",
                                              "lo_truncate64",
                                              "lo_unlink",
                                              "lowrite",
                                              "pg_advisory_*",
                                              "pg_backup_*",
                                              "pg_cancel_backend",
                                              "pg_copy_*",
                                              "pg_create_*",
                                              "pg_drop_*",
                                              "pg_export_snapshot",
                                              "pg_file_*",
                                              "pg_import_*",
                                              "pg_log_*",
                                              "pg_logical_*",
                                              "pg_ls_*",
                                              "pg_notify",
                                              "pg_promote",
                                              "pg_read_*",
                                              "pg_reload_conf",
                                              "pg_replication_*",
                                              "pg_rotate_*",
                                              "pg_settings",
                                              "pg_start_backup",
                                              "pg_stat_file",
                                              "pg_stat_reset*",
                                              "pg_stat_statements_reset",
                                              "pg_stop_backup",
                                              "pg_switch_*",
                                              "pg_terminate_backend",
                                              "pg_try_advisory_*",
                                              "pg_wal_replay_*",
                                              "query_to_xml*",
                                              "schema_to_xml*",
                                              "set_config",
                                              "table_to_xml*",
                                              "ts_rewrite",
                                              "ts_stat",
                                              "xpath_table"};

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool begins_name(char c) {
  return is_name_part(c) && c != '$' && std::isdigit(static_cast<unsigned char>(c)) == 0;
}

bool is_refused(std::string_view name) {
  return std::ranges::any_of(kRefusedNames, [&](std::string_view each) {
    return each.ends_with('*') ? name.starts_with(each.substr(0, each.size() - 1)) : name == each;
  });
}

/// Where the quoted text, dollar-quoted text, quoted name or comment ends that begins at `from`; `from` if
/// none does.
class SqlLexer {
 public:
  explicit SqlLexer(std::string_view text) : text_(text) {}

  std::size_t skip(std::size_t from) const {
    const std::string_view rest = text_.substr(from);
    if (rest.starts_with("--")) return std::min(text_.find('\n', from), text_.size());
    if (rest.starts_with("/*")) return end_of_comment(from);
    if (rest.starts_with('"')) return end_of_quote(from, false);
    if (rest.starts_with('\'')) return end_of_quote(from, has_escapes(from));
    if (rest.starts_with('$')) return end_of_dollars(from);
    return from;
  }

 private:
  bool has_escapes(std::size_t quote) const {
    return quote > 0 && (text_[quote - 1] == 'e' || text_[quote - 1] == 'E') &&
           (quote == 1 || !is_name_part(text_[quote - 2]));
  }

  std::size_t end_of_quote(std::size_t from, bool escapes) const {
    for (std::size_t i = from + 1; i < text_.size(); ++i) {
      if (escapes && text_[i] == '\\') {
        ++i;
      } else if (text_[i] == text_[from]) {
        return i + 1;  // a doubled quote begins the next part
      }
    }
    return text_.size();
  }

  std::size_t end_of_comment(std::size_t from) const {
    std::size_t depth = 0;
    for (std::size_t i = from; i + 1 < text_.size(); ++i) {
      const std::string_view two = text_.substr(i, 2);
      if (two != "/*" && two != "*/") continue;
      depth = two == "/*" ? depth + 1 : depth - 1;
      ++i;
      if (depth == 0) return i + 1;
    }
    return text_.size();
  }

  std::size_t end_of_dollars(std::size_t from) const {
    if (from > 0 && is_name_part(text_[from - 1])) return from;
    std::size_t end = from + 1;
    while (end < text_.size() && is_name_part(text_[end]) && text_[end] != '$') ++end;
    if (end >= text_.size() || text_[end] != '$') return from;
    if (end > from + 1 && !begins_name(text_[from + 1])) return from;
    const std::string_view tag = text_.substr(from, end + 1 - from);
    const std::size_t close = text_.find(tag, end + 1);
    return close == std::string_view::npos ? text_.size() : close + tag.size();
  }

  std::string_view text_;
};

}  // namespace

Result<SqlStatement> with_numbered_parameters(const SqlStatement& statement) {
  const auto* const values = statement.parameters.if_object();
  if (values == nullptr) return statement;
  const std::string_view text = statement.text;
  const SqlLexer lexer(text);
  std::vector<std::string> names;
  SqlStatement result;
  JsonArray array;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = lexer.skip(i);
    const bool is_parameter = end == i && text[i] == ':' && i + 1 < text.size() && begins_name(text[i + 1]) &&
                              (i == 0 || text[i - 1] != ':');
    if (!is_parameter) {
      end = std::max(end, i + 1);
      result.text += text.substr(i, end - i);
      i = end;
      continue;
    }
    for (end = i + 1; end < text.size() && is_name_part(text[end]);) ++end;
    const std::string name(text.substr(i + 1, end - i - 1));
    const Json* const value = values->if_contains(name);
    if (value == nullptr) return fail(ErrorCode::kInput, "the parameter :" + name + " has no value");
    const auto known = std::ranges::find(names, name);
    result.text += '$' + std::to_string(known - names.begin() + 1);
    if (known == names.end()) {
      names.push_back(name);
      array.push_back(*value);
    }
    i = end;
  }
  if (values->size() > names.size()) {
    return fail(ErrorCode::kInput, "the statement has " + std::to_string(names.size()) + " parameters, but " +
                                       std::to_string(values->size()) + " values were given");
  }
  result.parameters = std::move(array);
  return result;
}

std::optional<std::string> refused_name_in(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_name_part(text[i])) {
      const bool glued_to_number = name.empty() && !begins_name(text[i]);
      if (!glued_to_number) name += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
      continue;
    }
    // A name in U&"..." can be written with escapes.
    if (name == "u" && text.substr(i, 2) == "&\"") return "U&\"...\"";
    if (is_refused(name)) return name;
    name.clear();
  }
  return std::nullopt;
}

}  // namespace praxis
