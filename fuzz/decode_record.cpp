// Arbitrary bytes as one record of a journal: an accepted record survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <map>

#include "records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace praxis;
  std::string_view journal(reinterpret_cast<const char*>(data), size);
  const auto body = next_record(journal);
  if (!body) return 0;
  std::vector<RecordBlob> blobs;
  const std::string text = encode_record(*body, blobs);
  std::map<Digest, std::string> stored;
  for (const RecordBlob& blob : blobs) stored[blob.digest] = blob.bytes;
  const auto again = decode_record(
      kind_name(*body), text, [&](const Digest& digest) -> Result<std::string> { return stored.at(digest); });
  if (!again) std::abort();
  blobs.clear();
  if (encode_record(*again, blobs) != text) std::abort();
  return 0;
}
