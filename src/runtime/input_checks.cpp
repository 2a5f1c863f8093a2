#include "runtime/input_checks.hpp"

#include <algorithm>

#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

template <class Wanted>
bool any_part(const std::vector<Message>& messages) {
  return std::ranges::any_of(messages, [](const Message& message) {
    return std::ranges::any_of(message.parts,
                               [](const Part& p) { return std::holds_alternative<Wanted>(p); });
  });
}

std::unexpected<Error> cannot_take(const Model& model, std::string_view what) {
  return fail(ErrorCode::kInput, "model \"" + model.name() + "\" does not accept " + std::string(what) +
                                     " in its input; remove them or choose a model that accepts them");
}

}  // namespace

Status check_output_schema(const Json& schema) {
  if (schema.is_null()) return {};
  auto compiled = JsonSchema::compile(schema);
  if (compiled) return {};
  return fail(ErrorCode::kInput, "the schema of the answer cannot be used: " + compiled.error().message);
}

Status check_media(const std::vector<Message>& messages, const Model& model) {
  const ModelCapabilities capabilities = model.capabilities();
  if (!capabilities.images && any_part<ImagePart>(messages)) return cannot_take(model, "images");
  if (!capabilities.files && any_part<FilePart>(messages)) return cannot_take(model, "files");
  return {};
}

}  // namespace praxis
