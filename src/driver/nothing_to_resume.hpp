// The error of a resume that finds no turn to continue and no message to begin one with.
#pragma once

#include <string>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// The `kind` in the detail of that error.
inline constexpr const char* kNothingToResume = "nothing_to_resume";

inline Error nothing_to_resume_error(std::string why) {
  return make_error(ErrorCode::kInput, std::move(why)).set("kind", kNothingToResume);
}
/// Whether a resume did nothing because there was nothing left to do, as after a message was withdrawn.
inline bool has_nothing_to_resume(const Error& error) {
  return json_text(error.detail(), "kind") == kNothingToResume;
}

}  // namespace praxis
