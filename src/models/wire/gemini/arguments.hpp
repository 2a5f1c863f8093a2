// Arguments of a tool call that arrive value by value, each with the path to its place.
#pragma once

#include <string>

#include "praxis/json/json.hpp"

namespace praxis::gemini {

/// Not thread-safe.
class PartialArguments {
 public:
  /// `known` is what stands there from the start: an object, or else nothing does.
  explicit PartialArguments(const Json& known)
      : root_(known.is_object() ? known.get_object() : JsonObject{}) {}

  /// Takes `{jsonPath, stringValue | numberValue | boolValue | nullValue}`; text joins the text that is
  /// already there. False when there is no such place to be: the arguments are not what the model meant.
  bool add(const Json& piece);
  /// The arguments so far, as JSON.
  std::string text() const { return to_json_text(root_); }

 private:
  Json root_;
};

}  // namespace praxis::gemini
