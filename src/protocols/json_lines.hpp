// Messages of one line each on a pair of descriptors: how clients of others speak with us on standard input
// and output.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::protocols {

/// Writes lines from any thread, each as a whole. Drops what a client that has gone does not read.
class LineWriter {
 public:
  explicit LineWriter(int out) : out_(out) {}
  void write(std::string line);

 private:
  const int out_;
  std::mutex writing_;
};

/// Gives each line of `in` without its end to `take`, until the end of `in` or a stop request. Errors:
/// `kInput` for a line longer than `max_bytes`, `kInternal` when `in` cannot be read.
Status read_lines(int in, std::size_t max_bytes, const std::stop_token& stop,
                  const std::function<void(std::string_view)>& take);

}  // namespace praxis::protocols
