// Errors that say that this process or machine has run out of something: descriptors, memory, processes. They
// are faults of our own machinery, not of a tool, a program or a server.
#pragma once

#include <cerrno>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

/// The `kind` in the detail of such errors.
inline constexpr std::string_view kExhausted = "exhausted";

/// Whether an `errno` says so.
inline bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}
/// Marks `error` if `number`, the `errno` of its cause, says so.
inline Error with_exhaustion(Error error, int number) {
  if (is_exhaustion(number)) error.set("kind", kExhausted);
  return error;
}
bool is_exhausted(const Error& error);

}  // namespace praxis
