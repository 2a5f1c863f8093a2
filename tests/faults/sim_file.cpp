#include "sim_file.hpp"

#include <algorithm>
#include <map>

namespace praxis::faults {
namespace {

constexpr std::uint64_t kSector = 512;

void put(std::string& file, std::uint64_t offset, std::string_view bytes) {
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size(), '\0');
  file.replace(offset, bytes.size(), bytes);
}

/// How much of the changes to a sector has reached the disk: `before` changes up to the byte `at`, `after`
/// changes from there on, both counted from the first change. Bytes that no change touches keep their value.
struct Arrived {
  std::uint64_t changes = 0, before = 0, after = 0, at = 0;
};

/// How a file survives a power loss; the same for all its sectors, so that rare combinations occur too.
struct Manner {
  std::uint64_t kept_of_8;
  bool torn, reordered, garbage;

  explicit Manner(Random& random)
      : kept_of_8(random.below(9)),
        torn(random.once_in(3)),
        reordered(random.once_in(2)),
        garbage(random.once_in(4)) {}

  void decide(Arrived& sector, Random& random) const {
    const auto some = [&] {
      if (random.below(8) < kept_of_8) return sector.changes;
      return reordered ? random.below(sector.changes + 1) : 0;
    };
    sector.before = sector.after = some();
    if (!torn || !random.once_in(4)) return;
    sector.after = some();
    sector.at = random.below(kSector);
  }
};

/// Calls `piece(sector, offset, bytes)` for the part of each sector that the bytes at `offset` cover.
template <class Piece>
void by_sector(std::uint64_t offset, std::string_view bytes, Piece piece) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, kSector - offset % kSector);
    piece(offset / kSector, offset, part);
    offset += part.size();
    bytes.remove_prefix(part.size());
  }
}

std::string random_bytes(std::uint64_t size, Random& random) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() & 255);
  return bytes;
}

}  // namespace

void SimFile::write(std::uint64_t offset, std::string_view bytes) {
  put(live_, offset, bytes);
  under_way_.push_back({offset, std::string(bytes), live_.size()});
}

void SimFile::truncate(std::uint64_t size) {
  const std::uint64_t gone = live_.size() > size ? live_.size() - size : 0;
  live_.resize(size, '\0');
  under_way_.push_back({size, std::string(gone, '\0'), size});
}

void SimFile::sync() {
  for (const Change& change : under_way_) {
    put(durable_, change.offset, change.bytes);
    durable_.resize(change.size, '\0');
  }
  under_way_.clear();
}

std::string SimFile::after_power_loss(Random& random) const {
  const Manner manner(random);
  std::map<std::uint64_t, Arrived> sectors;
  for (const Change& change : under_way_)
    by_sector(change.offset, change.bytes, [&](auto sector, auto, auto) { ++sectors[sector].changes; });
  for (auto& [sector, arrived] : sectors) manner.decide(arrived, random);

  std::string file = durable_;
  std::uint64_t size = durable_.size();
  const std::uint64_t sizes = random.once_in(3) ? random.below(under_way_.size() + 1) : under_way_.size();
  if (sizes > 0) size = under_way_[sizes - 1].size;
  if (manner.garbage && size > file.size()) file += random_bytes(size - file.size(), random);

  std::map<std::uint64_t, std::uint64_t> seen;
  for (const Change& change : under_way_) {
    by_sector(change.offset, change.bytes, [&](auto sector, auto offset, auto bytes) {
      const Arrived& arrived = sectors[sector];
      const std::uint64_t nth = seen[sector]++, border = sector * kSector + arrived.at;
      const auto first =
          static_cast<std::size_t>(std::clamp<std::uint64_t>(border, offset, offset + bytes.size()) - offset);
      if (nth < arrived.before) put(file, offset, bytes.substr(0, first));
      if (nth < arrived.after) put(file, offset + first, bytes.substr(first));
    });
  }
  file.resize(size, '\0');
  return file;
}

}  // namespace praxis::faults
