// Models that are files: scripts and cassettes answer in place of a provider.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// The files that the models of this name are read from: scripts, and the exchanges of cassettes. Empty for
/// providers' models. `model` may be a route.
std::vector<std::string> model_files(std::string_view model);
/// The name with the path of each script and cassette replaced by `rewrite` of it.
std::string with_model_paths(std::string_view model,
                             const std::function<std::string(const std::string&)>& rewrite);

}  // namespace praxis::app
