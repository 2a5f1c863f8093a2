#include "tools/sqlite_values.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::string_view kBytes = "base64";

/// The name of a parameter as the statement has it; of `?`, its number.
std::string name_of(sqlite3_stmt* statement, int index) {
  const char* const name = sqlite3_bind_parameter_name(statement, index);
  return name == nullptr ? '?' + std::to_string(index) : name;
}

std::unexpected<Error> wrong_value(sqlite3_stmt* statement, int index, const std::string& what) {
  return fail(ErrorCode::kInput, "the parameter " + name_of(statement, index) + ' ' + what);
}

Status bind_bytes(sqlite3_stmt* statement, int index, const Json& value) {
  const Json& text = json_at(value, kBytes);
  if (value.get_object().size() != 1 || !text.is_string())
    return wrong_value(statement, index,
                       "must be null, a boolean, a number, a string or {\"base64\": \"...\"}");
  const auto bytes = base64_decode(text.get_string());
  if (!bytes) return wrong_value(statement, index, "is not valid base64");
  sqlite3_bind_blob64(statement, index, bytes->data() == nullptr ? "" : bytes->data(), bytes->size(),
                      SQLITE_TRANSIENT);
  return {};
}

Status bind_value(sqlite3_stmt* statement, int index, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      sqlite3_bind_null(statement, index);
      return {};
    case boost::json::kind::bool_:
      sqlite3_bind_int64(statement, index, value.get_bool() ? 1 : 0);
      return {};
    case boost::json::kind::int64:
      sqlite3_bind_int64(statement, index, value.get_int64());
      return {};
    case boost::json::kind::uint64:
      if (value.get_uint64() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        return wrong_value(statement, index, "is too large for an integer of SQLite");
      sqlite3_bind_int64(statement, index, static_cast<std::int64_t>(value.get_uint64()));
      return {};
    case boost::json::kind::double_:
      sqlite3_bind_double(statement, index, value.get_double());
      return {};
    case boost::json::kind::string: {
      const auto& text = value.get_string();
      sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
      return {};
    }
    case boost::json::kind::object:
      return bind_bytes(statement, index, value);
    case boost::json::kind::array:
      return wrong_value(statement, index, "must not be an array; use json_each(?) and pass it as a string");
  }
  std::unreachable();
}

/// The value of `:name` in an object; null if it has none.
const Json* named_value(const JsonObject& values, sqlite3_stmt* statement, int index) {
  const char* const name = sqlite3_bind_parameter_name(statement, index);
  if (name == nullptr) return nullptr;
  const std::string_view whole = name;
  if (const Json* const found = values.if_contains(whole.substr(1))) return found;
  return values.if_contains(whole);
}

std::string_view bytes_of_column(sqlite3_stmt* statement, int column) {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return {data == nullptr ? "" : data, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

}  // namespace

Status bind_sqlite_values(sqlite3_stmt* statement, const Json& values) {
  const int count = sqlite3_bind_parameter_count(statement);
  const auto* const list = values.if_array();
  const auto* const names = values.if_object();
  if (list == nullptr && names == nullptr && !values.is_null())
    return fail(ErrorCode::kInput, "the parameters must be an array or an object");
  const std::size_t given = list != nullptr ? list->size() : names != nullptr ? names->size() : 0;
  if (given > static_cast<std::size_t>(count)) {
    return fail(ErrorCode::kInput, "the statement has " + std::to_string(count) + " parameters, but " +
                                       std::to_string(given) + " values were given");
  }
  for (int index = 1; index <= count; ++index) {
    const auto place = static_cast<std::size_t>(index) - 1;
    const Json* value = nullptr;
    if (list != nullptr && place < list->size()) value = &(*list)[place];
    if (names != nullptr) value = named_value(*names, statement, index);
    if (value == nullptr) return wrong_value(statement, index, "has no value");
    if (auto bound = bind_value(statement, index, *value); !bound) return bound;
  }
  return {};
}

Json sqlite_value(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT: {
      const double number = sqlite3_column_double(statement, column);
      if (std::isfinite(number)) return number;
      return number > 0 ? "Infinity" : "-Infinity";
    }
    case SQLITE_TEXT:
      return Json(repair_utf8(bytes_of_column(statement, column)));
    case SQLITE_BLOB:
      return {{kBytes, base64_encode(bytes_of_column(statement, column))}};
    default:
      return nullptr;
  }
}

}  // namespace praxis
