// The `text` tool: what a model or a plan does to a text it already has, without another model call. It knows
// the headings of Markdown, reStructuredText, Debian changelogs and plain release notes.
#pragma once

#include "praxis/tools/tool.hpp"

namespace praxis {

/// Operations `sections`, `match`, `extract` and `summary`. Pure: safe by default, idempotent, the same
/// answer every time.
Tool text_tool();

}  // namespace praxis
