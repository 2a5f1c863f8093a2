// Filters of content (`[[policy.filters]]`) in what tools give and in what goes to a model.
#pragma once

#include <string>
#include <string_view>

#include "policy/filters.hpp"
#include "praxis/models/model.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

/// Applies the filters at `kToolOutput` to what a call of `tool` gave: text, value, error, images, files. A
/// denied result is replaced by a text that names the filter; what was written to memory stays reported.
/// Returns what changed it, as `records::EffectSettled::by`.
std::string filter_output(const filters::FilterSet& set, std::string_view tool, Result<ToolOutput>& output);

/// Applies the filters at `kModel` to a request: instructions, messages, and descriptions of tools. What is
/// bound to a vendor (signatures, encrypted reasoning, items of its own) stays. `by` as above. Error
/// `kPolicy`: a filter denies the request.
Status filter_request(const filters::FilterSet& set, ModelRequest& request, std::string& by);

}  // namespace praxis
