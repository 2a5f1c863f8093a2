// Gives an unprivileged user access to root's files: ID-mapped mounts, in which each lent folder appears, to
// the processes of one sandbox, to belong to that user. Files that the user creates there belong to the
// folder's owner. The files themselves do not change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Moves this process to a mount name space of its own and mounts the loans there. Returns the source that
/// could not be lent, with errno set; empty if all are.
std::string lend(const std::vector<Loan>& loans, std::uint32_t user);

/// Takes back what was lent, with the covers on it: a placeholder on which this process has mounted something
/// cannot be removed.
class Lending {
 public:
  Lending() = default;
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  ~Lending();

  void begin() { has_begun_ = true; }

 private:
  bool has_begun_ = false;
};

/// Mounts the covers on what was lent. Returns the path below a loan that could not be covered, with errno
/// set; empty if all are.
std::string cover(const std::vector<Loan>& loans, const std::vector<Cover>& covers);

}  // namespace praxis::supervisor
