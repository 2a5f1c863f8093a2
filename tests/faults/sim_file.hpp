// One file of the simulated disk: what programs read, what is durable, and the changes in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fault.hpp"

namespace praxis::faults {

/// Bytes written since the last sync are in flight: a power loss keeps, drops or tears each of their sectors.
class SimFile {
 public:
  SimFile() = default;
  /// Constructs a file whose content is durable.
  explicit SimFile(std::string bytes) : live_(std::move(bytes)), durable_(live_) {}

  const std::string& bytes() const { return live_; }
  /// The content that survives every power loss.
  const std::string& durable() const { return durable_; }
  void write(std::uint64_t offset, std::string_view bytes);
  void truncate(std::uint64_t size);
  void sync();
  /// A failed sync: the kernel marks the pages clean all the same. They still read as written, but the
  /// changes in flight never reach the disk, and no later sync reports it.
  void fail_sync() { under_way_.clear(); }
  /// Returns the content on the platter if power is lost now.
  std::string after_power_loss(Random& random) const;

 private:
  struct Change {
    std::uint64_t offset = 0;
    std::string bytes;
    std::uint64_t size = 0;  ///< of the file after the change
  };

  std::string live_, durable_;
  std::vector<Change> under_way_;
};

}  // namespace praxis::faults
