#include "models/request_layout.hpp"

#include <utility>

namespace praxis {

std::string open_list(JsonObject fields, const Json& extra, std::string_view list) {
  if (const JsonObject* own = extra.if_object()) {
    for (const auto& [name, value] : *own) fields[name] = value;
  }
  fields.erase(list);
  std::string out = to_json_text(Json(std::move(fields)));
  out.back() = ',';
  return out.append("\"").append(list).append("\":[");
}

bool opens_with_developer(const History& history) {
  return !history.empty() && history.messages().front()->role == Role::kDeveloper;
}

}  // namespace praxis
