#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>

#include "base/utf8.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

namespace {

namespace bj = boost::json;

// Builds values as Boost's own parser does, but reads doubles with from_chars: Boost 1.81 is off by one unit
// in the last place for many doubles and turns 1e400 into infinity.
class ValueBuilder {
 public:
  static constexpr std::size_t max_object_size = JsonObject::max_size();
  static constexpr std::size_t max_array_size = JsonArray::max_size();
  static constexpr std::size_t max_key_size = bj::string::max_size();
  static constexpr std::size_t max_string_size = bj::string::max_size();

  ValueBuilder() : values_({}, buffer_, sizeof buffer_) { values_.reset(); }

  Json release() { return values_.release(); }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_object_begin(bj::error_code&) { return true; }
  bool on_object_end(std::size_t n, bj::error_code&) { return values_.push_object(n), true; }
  bool on_array_begin(bj::error_code&) { return true; }
  bool on_array_end(std::size_t n, bj::error_code&) { return values_.push_array(n), true; }
  bool on_key_part(bj::string_view s, std::size_t, bj::error_code&) { return values_.push_chars(s), true; }
  bool on_key(bj::string_view s, std::size_t, bj::error_code&) { return values_.push_key(s), true; }
  bool on_string_part(bj::string_view s, std::size_t, bj::error_code&) { return values_.push_chars(s), true; }
  bool on_string(bj::string_view s, std::size_t, bj::error_code&) { return values_.push_string(s), true; }
  bool on_number_part(bj::string_view, bj::error_code&) { return true; }
  bool on_int64(std::int64_t i, bj::string_view, bj::error_code&) { return values_.push_int64(i), true; }
  bool on_uint64(std::uint64_t u, bj::string_view, bj::error_code&) { return values_.push_uint64(u), true; }
  bool on_double(double rough, bj::string_view text, bj::error_code& error) {
    double exact = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), exact).ec != std::errc{}) {
      if (std::abs(rough) > 1) return error = bj::error::exponent_overflow, false;
      exact = 0;  // too small to be distinguished from zero
    }
    return values_.push_double(exact), true;
  }
  bool on_bool(bool b, bj::error_code&) { return values_.push_bool(b), true; }
  bool on_null(bj::error_code&) { return values_.push_null(), true; }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

 private:
  unsigned char buffer_[2048];  // saves small texts the allocation of the working stack
  bj::value_stack values_;
};

std::string syntax_problem(bj::error_code error, std::string_view text, std::size_t at,
                           const JsonLimits& limits) {
  if (error == bj::error::incomplete) return "the text ends too early";
  if (error == bj::error::too_deep)
    return "nested deeper than " + std::to_string(limits.max_depth) + " levels";
  if (error == bj::error::exponent_overflow) return "number out of range";
  if (error != bj::error::syntax && error != bj::error::extra_data) return error.message();
  if (at < text.size() && text[at] > ' ' && text[at] < 0x7F)
    return std::string("unexpected '") + text[at] + "'";
  return at < text.size() && !is_valid_utf8(text) ? "invalid UTF-8" : "unexpected character";
}

std::unexpected<Error> syntax_error(bj::error_code error, std::string_view text, std::size_t at,
                                    const JsonLimits& limits) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  return fail(ErrorCode::kInput, "invalid JSON at line " + std::to_string(line) + ", column " +
                                     std::to_string(column) + ": " + syntax_problem(error, text, at, limits));
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorCode::kInput, "JSON text of " + std::to_string(text.size()) +
                                       " bytes is longer than the limit of " +
                                       std::to_string(limits.max_bytes));
  }
  bj::parse_options options;
  options.max_depth = limits.max_depth;
  bj::basic_parser<ValueBuilder> parser(options);
  bj::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = bj::error::extra_data;
  if (error) return syntax_error(error, text, read, limits);
  return parser.handler().release();
}

}  // namespace praxis
