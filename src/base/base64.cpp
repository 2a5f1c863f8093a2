#include "praxis/base/base64.hpp"

#include <sodium.h>

namespace praxis {

std::string base64_encode(std::string_view bytes) {
  std::string out(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  out.pop_back();  // the terminating zero
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  std::string out(text.size() / 4 * 3, '\0');
  std::size_t length = 0;
  const int status =
      sodium_base642bin(reinterpret_cast<unsigned char*>(out.data()), out.size(), text.data(), text.size(),
                        nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (status != 0) {
    return fail(ErrorCode::kInput,
                "not base64: expected groups of four of A-Z, a-z, 0-9, +, / and = at the end");
  }
  out.resize(length);
  return out;
}

}  // namespace praxis
