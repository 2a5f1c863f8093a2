// Where in a run: `ID@STEP`, `ID@TURN` and `ID@TURN.STEP`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/logs/logs.hpp"

namespace praxis::cli {

/// The parts of such a text.
struct ForkPoint {
  std::string id;
  std::string turn = {};   ///< such as `t2`; empty: the last one that reached the step
  std::uint32_t step = 0;  ///< 0: the end of the turn

  bool is_given() const { return step != 0 || !turn.empty(); }
};

/// Error `kInput`.
Result<ForkPoint> fork_point(const std::string& text);
/// The record after which the point was reached; it must be given. Error `kInput`: it never was.
Result<std::uint64_t> seq_of_point(const std::vector<StoredRecord>& records, const ForkPoint& point);

}  // namespace praxis::cli
