// Messages for the codecs' tests.
#pragma once

#include <utility>
#include <vector>

#include "praxis/domain/message.hpp"

namespace praxis {

inline Message message_of(Role role, std::vector<Part> parts) {
  Message out;
  out.role = role;
  out.parts = std::move(parts);
  return out;
}

}  // namespace praxis
