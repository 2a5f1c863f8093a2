#include "tools/python_requests.hpp"

#include <utility>

namespace praxis {
namespace {

std::unexpected<Error> malformed(std::string_view what) {
  return fail(ErrorCode::kTool,
              "the code wrote to descriptor 3, which is reserved for Praxis: " + std::string(what));
}

/// The parsed request; `monostate` if it is invalid.
using Wanted = std::variant<std::monostate, PythonCall, PythonFork, PythonWait>;

Wanted wanted_of(const Json& request) {
  const std::string_view op = json_text(request, "op");
  if (op == "call" && json_at(request, "tool").is_string() && json_at(request, "arguments").is_object()) {
    return PythonCall{json_string(request, "tool"), to_json_text(json_at(request, "arguments"))};
  }
  if (op == "fork" && json_at(request, "prompt").is_string())
    return PythonFork{json_string(request, "prompt")};
  const std::int64_t fork = json_int(request, "fork");
  if (op == "wait" && fork > 0) return PythonWait{static_cast<std::size_t>(fork)};
  return {};
}

struct AsRequest {
  std::uint64_t id;
  PythonRequest operator()(std::monostate) const { std::unreachable(); }
  template <class T>
  PythonRequest operator()(T what) const {
    return {id, std::move(what)};
  }
};

}  // namespace

Result<std::vector<PythonRequest>> parse_python_requests(std::string_view line) {
  auto json = parse_json(line);
  if (!json) return malformed(json.error().message);
  const JsonArray* list = json->if_array();
  if (list == nullptr || list->empty()) return malformed("a line is not a list of requests");
  std::vector<PythonRequest> requests;
  for (const Json& request : *list) {
    const std::int64_t id = json_int(request, "id");
    Wanted wanted = wanted_of(request);
    if (id <= 0 || std::holds_alternative<std::monostate>(wanted)) {
      return malformed("request " + std::to_string(requests.size() + 1) + " of a line is invalid");
    }
    requests.push_back(std::visit(AsRequest{static_cast<std::uint64_t>(id)}, std::move(wanted)));
  }
  return requests;
}

std::string python_start_line(const std::string& code, const std::vector<std::string>& tools,
                              const std::string& seed) {
  const Json start{{"code", code},
                   {"tools", JsonArray(tools.begin(), tools.end())},
                   {"seed", seed},
                   {"max_open", kMaxOpenPythonRequests},
                   {"max_line", kMaxPythonLine}};
  return to_json_text(start) + '\n';
}

std::string python_answer_line(std::uint64_t id, const Result<Json>& answer) {
  JsonObject line{{"id", id}};
  if (answer) {
    line["value"] = *answer;
  } else {
    line["error"] = answer.error().message;
  }
  return to_json_text(line) + '\n';
}

}  // namespace praxis
