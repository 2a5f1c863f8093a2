// Assembles tool call arguments that arrive value by value, each with a path.
#pragma once

#include <string>

#include "praxis/json/json.hpp"

namespace praxis::wire::gemini {

/// Not thread-safe.
class PartialArguments {
 public:
  /// `known`: the initial arguments if it is an object, else empty.
  explicit PartialArguments(const Json& known)
      : root_(known.is_object() ? known.get_object() : JsonObject{}) {}

  /// Adds `{jsonPath, stringValue | numberValue | boolValue | nullValue}`; a string is appended to an
  /// existing string. Returns false if the path is invalid; the arguments are then not what the model meant.
  bool add(const Json& piece);
  /// The arguments so far, as JSON.
  std::string text() const { return to_json_text(root_); }

 private:
  Json root_;
};

}  // namespace praxis::wire::gemini
