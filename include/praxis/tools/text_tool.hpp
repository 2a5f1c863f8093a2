// The `text` tool: operations on text that a model or a plan already has, without another model call.
// Recognises the headings of Markdown, reStructuredText, Debian changelogs and plain release notes.
#pragma once

#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Operations `sections`, `match`, `extract` and `summary`. Pure: safe by default, idempotent, deterministic.
Tool text_tool();

}  // namespace praxis
#pragma GCC visibility pop
