// A file with one JSON value per line in the user's state folder, which only this user can write.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// The user's state folder; empty if neither HOME nor XDG_STATE_HOME is set.
std::string state_folder();

/// Safe for concurrent use by processes. Errors `kInput`: the file or its folder is unsafe, unreadable, or
/// not in this form.
class OwnLines {
 public:
  /// `folder` is created with the file. `max_bytes` bounds the file.
  OwnLines(std::string folder, std::string name, std::size_t max_bytes)
      : folder_(std::move(folder)), name_(std::move(name)), max_bytes_(max_bytes) {}

  std::string path() const { return folder_ + '/' + name_; }
  /// All values; empty if the file does not exist.
  Result<std::vector<Json>> all() const;
  /// Calls `change` on the values while no other process can change them, and stores them if it returns true.
  /// Returns what `change` returned. Durable on return. Error also: they would not fit.
  Result<bool> change(const std::function<Result<bool>(std::vector<Json>&)>& change) const;

 private:
  std::string folder_;
  std::string name_;
  std::size_t max_bytes_;
};

}  // namespace praxis::app
