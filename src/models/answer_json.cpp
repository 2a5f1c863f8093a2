#include "models/answer_json.hpp"

#include <utility>

#include "models/vendor_error.hpp"

namespace praxis {

std::string excerpt(std::string_view bytes) {
  constexpr std::size_t kLength = 200;
  return repair_utf8(bytes.substr(0, kLength)) + (bytes.size() > kLength ? "..." : "");
}

Result<Json> parse_answer(std::string_view body) {
  Result<Json> json = parse_json(body);
  if (json) return json;
  const bool cut = (body.starts_with('{') || body.starts_with('[')) && parse_partial_json(body);
  return fail(cut ? model_error("truncated_stream", "truncated_stream: the answer ends within its JSON")
                  : model_error("protocol", "protocol: the answer is no JSON: " + excerpt(body)));
}

Result<const Json*> EventJson::parse(std::string_view data) {
  auto event = series_.parse(data);
  if (!event && !is_valid_utf8(data)) event = series_.parse(repair_utf8(data));
  if (event) return event;
  return fail(model_error("protocol", "protocol: a piece of the answer is no JSON: " + excerpt(data)));
}

}  // namespace praxis
