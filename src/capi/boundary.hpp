// The border between the C interface and C++: errors become statuses, exceptions stay inside, text is copied.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"
#include "praxis/praxis.h"

namespace praxis::capi {

/// Keeps the error for `praxis_last_error` of this thread and returns its status.
praxis_status failed(const Error& error) noexcept;
/// The same for an exception that reached the border.
praxis_status failed_by(const char* what) noexcept;
/// There is no error on this thread.
void forget_error() noexcept;
/// The last error of this thread as JSON text; null if its last call did not fail.
const char* last_error() noexcept;

/// Runs the body of a function of the interface, which returns a `Status` or a `Result<praxis_status>`.
template <class Body>
praxis_status guarded(Body&& body) noexcept {
  try {
    forget_error();
    auto result = std::forward<Body>(body)();
    if (!result) return failed(result.error());
    if constexpr (std::is_same_v<decltype(result), Status>) {
      return PRAXIS_OK;
    } else {
      return *result;
    }
  } catch (const std::exception& exception) {
    return failed_by(exception.what());
  } catch (...) {
    return failed_by("an unknown exception");
  }
}

/// Text of the caller. Error `kInput`: null, or no valid UTF-8. `name` is that of the argument.
Result<std::string> text_of(const char* text, const char* name);
/// JSON of the caller; null stands for JSON null. Error `kInput`.
Result<Json> json_of(const char* text, const char* name);
/// Error `kInput` for a null pointer to where the result belongs; otherwise sets it to nothing.
template <class T>
Status ready(T* out) {
  if (out == nullptr) return fail(ErrorCode::kInput, "the pointer for the result is NULL");
  *out = {};
  return {};
}
/// Gives the caller a copy, which `praxis_free` releases.
Status give(char** out, std::string_view text);
inline Status give(char** out, const Json& json) { return give(out, to_json_text(json)); }

/// A time limit of the caller: negative means none.
class Deadline {
 public:
  explicit Deadline(std::int64_t milliseconds);
  /// How long to wait at most before looking again; zero once the time is over.
  std::chrono::milliseconds left() const;

 private:
  const bool never_;
  std::chrono::steady_clock::time_point at_;
};

}  // namespace praxis::capi
