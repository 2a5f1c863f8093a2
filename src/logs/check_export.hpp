// Whether an exported session is whole: `export_session` writes the digest of its records into the header.
#pragma once

#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

/// Whether the records of an export are those that were written: error `kInput` says that the end is missing
/// or that they were altered. Success for an export without a digest, as older versions wrote them. A digest
/// finds accidents; it is no signature.
Status check_export(std::string_view text);

}  // namespace praxis
