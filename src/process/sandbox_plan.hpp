// What the keeper and bubblewrap are told so that a command runs in a box.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/process/sandbox.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// The options of bubblewrap for `box`, its first program not among them; what else is needed goes into
/// `request`, whose settings, folder and environment are already filled in. Error `kPolicy`: the box cannot
/// be built as asked.
Result<std::vector<std::string>> plan_box(const Box& box, keeper::Request& request);

}  // namespace praxis
