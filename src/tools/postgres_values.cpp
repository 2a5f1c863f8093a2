#include "tools/postgres_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::string_view kBase64 = "base64";
/// The numbers of types, which never change (pg_type.dat of PostgreSQL).
constexpr unsigned kBoolType = 16, kByteaType = 17, kInt8Type = 20, kInt2Type = 21, kInt4Type = 23,
                   kOidType = 26, kFloat4Type = 700, kFloat8Type = 701, kNumericType = 1700;
/// Digits that a double keeps for certain.
constexpr std::ptrdiff_t kExactDigits = 15;

std::unexpected<Error> unfit(int index, const std::string& what) {
  return fail(ErrorCode::kInput, "the parameter $" + std::to_string(index + 1) + ' ' + what);
}

Result<PostgresParameter> parameter_of(int index, unsigned type, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return PostgresParameter{};
    case boost::json::kind::bool_:
      return PostgresParameter{value.get_bool() ? "true" : "false"};
    case boost::json::kind::string: {
      std::string text(value.get_string());
      if (text.find('\0') == std::string::npos) return PostgresParameter{std::move(text)};
      return unfit(index, "has a NUL, which text of PostgreSQL cannot have");
    }
    case boost::json::kind::object: {
      const Json& text = json_at(value, kBase64);
      if (value.get_object().size() != 1 || !text.is_string())
        return unfit(index, "must be null, a boolean, a number, a string or {\"base64\": \"...\"}");
      auto bytes = base64_decode(text.get_string());
      if (!bytes) return unfit(index, "is not valid base64");
      if (type != kByteaType) return unfit(index, "has bytes, but the statement takes no bytea there");
      return PostgresParameter{*std::move(bytes), true};
    }
    case boost::json::kind::array:
      return unfit(index, "must not be an array; pass the string \"{1,2}\" and use it as $1::int[]");
    default:
      return PostgresParameter{to_json_text(value)};
  }
}

template <class Number>
std::optional<Number> whole_number_in(std::string_view text) {
  Number number{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Json number_in(std::string_view text) {
  const auto number = whole_number_in<double>(text);
  return number && std::isfinite(*number) ? Json(*number) : Json(text);
}

Json numeric_in(std::string_view text) {
  if (const auto whole = whole_number_in<std::int64_t>(text)) return *whole;
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  digits.erase(0, digits.find_first_not_of('0'));
  const std::size_t last =
      text.find('.') == std::string_view::npos ? std::string::npos : digits.find_last_not_of('0');
  if (last != std::string::npos) digits.resize(last + 1);
  return std::ssize(digits) <= kExactDigits ? number_in(text) : Json(text);
}

std::optional<std::string> bytes_in_hex(std::string_view text) {
  if (!text.starts_with("\\x") || text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 2; i < text.size(); i += 2) {
    unsigned char byte = 0;
    const auto [end, failed] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (failed != std::errc() || end != text.data() + i + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

Result<std::vector<PostgresParameter>> postgres_parameters(const pq::Library& library,
                                                           const PostgresAnswer& described,
                                                           const Json& values) {
  const auto* const list = values.if_array();
  if (list == nullptr && !values.is_null())
    return fail(ErrorCode::kInput, "the parameters must be an array or an object");
  const int count = library.nparams(described.get());
  const std::size_t given = list == nullptr ? 0 : list->size();
  if (given > static_cast<std::size_t>(count)) {
    return fail(ErrorCode::kInput, "the statement has " + std::to_string(count) + " parameters, but " +
                                       std::to_string(given) + " values were given");
  }
  std::vector<PostgresParameter> result;
  for (int i = 0; i < count; ++i) {
    if (static_cast<std::size_t>(i) >= given) return unfit(i, "has no value");
    auto each = parameter_of(i, library.paramtype(described.get(), i), (*list)[static_cast<std::size_t>(i)]);
    if (!each) return fail(std::move(each.error()));
    result.push_back(*std::move(each));
  }
  return result;
}

Json postgres_value(unsigned type, std::string_view text) {
  switch (type) {
    case kBoolType:
      return text == "t";
    case kInt2Type:
    case kInt4Type:
    case kInt8Type:
    case kOidType:
      if (const auto whole = whole_number_in<std::int64_t>(text)) return *whole;
      break;
    case kFloat4Type:
    case kFloat8Type:
      return number_in(text);
    case kNumericType:
      return numeric_in(text);
    case kByteaType:
      if (const auto bytes = bytes_in_hex(text)) return {{kBase64, base64_encode(*bytes)}};
      break;
    default:
      break;
  }
  return Json(repair_utf8(text));
}

Json postgres_value_at(const pq::Library& library, const PostgresAnswer& answer, int row, int column) {
  if (library.getisnull(answer.get(), row, column) != 0) return nullptr;
  return postgres_value(library.ftype(answer.get(), column),
                        {library.getvalue(answer.get(), row, column),
                         static_cast<std::size_t>(library.getlength(answer.get(), row, column))});
}

}  // namespace praxis
