#include "journal/owners.hpp"

#include <cerrno>
#include <cstring>

#include "journal/chain.hpp"

namespace praxis {
namespace {

/// Whether one of the numbers is locked, by any process.
bool is_locked_in(const std::string& journal, std::int64_t first, std::int64_t last) {
  const auto locks = ByteLocks::open(journal, ByteLocks::Use::kLook);
  // Without the file, no process can hold a number.
  if (!locks) return locks.error().kind() != ErrorKind::kNotFound;
  return locks->is_locked(first, last);
}

}  // namespace

Result<Owners> Owners::open(const std::string& journal) {
  auto locks = ByteLocks::open(journal);
  if (!locks) return fail(std::move(locks.error()));
  return Owners(owners_file(journal), *std::move(locks));
}

bool Owners::alive_in(const std::string& journal, std::int64_t number) {
  return is_locked_in(journal, number, number);
}

bool Owners::any_alive_in(const std::string& journal) { return is_locked_in(journal, 0, kLastOwnerByte); }

Status Owners::claim(std::int64_t number) {
  if (locks_.try_lock(number)) return {};
  return fail(journal_error(ErrorKind::kIo, "cannot lock " + path_ + ": " + std::strerror(errno)));
}

bool Owners::alive(std::int64_t number) const { return locks_.is_locked(number, number); }

}  // namespace praxis
