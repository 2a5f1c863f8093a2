// Who is alive, told by the kernel and not by a clock. Each open journal has a number and holds a lock on the
// byte of that number in the file `<journal>.owners`; the kernel drops the lock when the process is gone,
// however it went. The lock belongs to the open file (OFD), so two journals in one process exclude each other
// as well.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"

namespace praxis {

/// Thread-safe once claimed. Destroying it gives up the number. Nothing but courtesy depends on these locks:
/// were they lost, a second writer would get a new token and the first be refused.
class Owners {
 public:
  /// Opens `<journal>.owners`, made with mode 0600 when missing; it stays empty. Error `io`.
  static Result<Owners> open(const std::string& journal);
  /// Whether somebody holds `number` of `journal`, without making anything: for those who only read.
  static bool alive_in(const std::string& journal, std::int64_t number);
  Owners(Owners&& other) noexcept;
  Owners& operator=(Owners&&) = delete;
  ~Owners();

  /// Takes a number that was never used before in this journal, and keeps it until destruction.
  Status claim(std::int64_t number);
  /// Whether somebody else holds `number`; true when the kernel cannot tell.
  bool alive(std::int64_t number) const;

 private:
  Owners(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
};

}  // namespace praxis
