// What the Markdown and the HTML form of a transcript say in the same words.
#pragma once

#include <string>

#include "praxis/json/json.hpp"

namespace praxis::app {

/// An image or file by name, type and size: `[image: photo.png, image/png, 12 bytes]`.
std::string media_label(const Json& media);
/// A turn, with the member of a team that answers and its time: `Turn t1, billing, 2026-01-01T00:00:00Z`.
std::string turn_label(const Json& item);
/// The author of a message, with its source if that is another: `User (steer)`.
std::string role_label(const Json& item);
/// ` by NAME`, or empty if that is not known.
std::string by_label(const Json& item);
/// `: TEXT`, or empty.
std::string said_label(const Json& item);
/// The call of a result, its outcome if it is not `ok`, and its duration: `c1, error, 20 ms`.
std::string result_label(const Json& item);

}  // namespace praxis::app
