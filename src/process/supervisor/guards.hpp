// Placeholders (process/placeholder.hpp) for paths that a command in a sandbox must not create.
#pragma once

#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

struct Spot;

/// Creates placeholders for missing paths, and removes each with the last sandbox that needs it.
class Guards {
 public:
  Guards();
  Guards(const Guards&) = delete;
  Guards& operator=(const Guards&) = delete;
  ~Guards();

  /// Returns the path that could not be guarded, with errno set; empty if all are guarded.
  std::string place(const std::vector<Guard>& guards);

 private:
  struct Placed;
  bool place(Spot spot);

  std::vector<Placed> placed_;
};

}  // namespace praxis::supervisor
