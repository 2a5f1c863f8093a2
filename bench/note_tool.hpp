// A tool for measurements that does nothing.
#pragma once

#include <chrono>

#include "praxis/praxis.hpp"

namespace praxis::bench {

inline Tool note_tool() {
  Tool tool;
  tool.definition = {"note", "Takes a note", JsonObject{{"type", "object"}}, std::chrono::seconds(30), true,
                     true};
  tool.handler = [](ToolContext&, const Json&) -> Result<ToolOutput> {
    return ToolOutput{"noted", nullptr, {}, {}};
  };
  return tool;
}

}  // namespace praxis::bench
