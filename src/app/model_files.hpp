// Models that are files: scripts and cassettes answer in place of a provider.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::app {

/// The files that the models of this name are read from: scripts, and the exchanges of cassettes. Empty for
/// providers' models. `model` may be a route.
std::vector<std::string> model_files(std::string_view model);
/// The name with the path of each script and cassette replaced by `rewrite` of it.
std::string with_model_paths(std::string_view model,
                             const std::function<std::string(const std::string&)>& rewrite);

/// Reads each file of a model once and returns the same bytes ever after, so that what was hashed is what
/// answers. Keeps them in memory. Thread-safe.
class ModelFileReader {
 public:
  /// Error `kInput`: unreadable, no regular file, or longer than `max_bytes`; the first result counts.
  Result<std::string> read(const std::string& path, std::size_t max_bytes);

 private:
  std::mutex mutex_;
  std::map<std::string, Result<std::string>> read_;  ///< by absolute path
};

}  // namespace praxis::app
