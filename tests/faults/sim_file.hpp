// One file of the simulated disk: what programs read from it, what the platter surely has, and what lies
// between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fault.hpp"

namespace praxis::faults {

/// Bytes written since the last sync are on their way: a power loss keeps, drops or tears each sector of
/// them.
class SimFile {
 public:
  SimFile() = default;
  /// All of it on the platter.
  explicit SimFile(std::string bytes) : live_(std::move(bytes)), durable_(live_) {}

  const std::string& bytes() const { return live_; }
  /// What no power loss takes away.
  const std::string& durable() const { return durable_; }
  void write(std::uint64_t offset, std::string_view bytes);
  void truncate(std::uint64_t size);
  void sync();
  /// A sync that failed: the system takes the pages for clean all the same. They are read as before, but what
  /// was on its way never arrives, and no later sync says so.
  void fail_sync() { under_way_.clear(); }
  /// What the platter has when power is lost now.
  std::string after_power_loss(Random& random) const;

 private:
  struct Change {
    std::uint64_t offset = 0;
    std::string bytes;
    std::uint64_t size = 0;  ///< of the file afterwards
  };

  std::string live_, durable_;
  std::vector<Change> under_way_;
};

}  // namespace praxis::faults
