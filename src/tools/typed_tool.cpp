#include "praxis/tools/typed_tool.hpp"

namespace praxis {

void add_parameter(Json& schema, std::string_view name, Json property, bool required) {
  JsonObject& object = schema.get_object();
  object["properties"].get_object()[name] = std::move(property);
  if (!required) return;
  Json& names = object["required"];
  if (!names.is_array()) names = JsonArray{};
  names.get_array().emplace_back(name);
}

Result<const Json*> find_parameter(const Json& arguments, std::string_view name, bool required) {
  const auto* object = arguments.if_object();
  const Json* found = object == nullptr ? nullptr : object->if_contains(name);
  if (found == nullptr && required) return misfit("/" + std::string(name), "is missing");
  return found;
}

}  // namespace praxis
