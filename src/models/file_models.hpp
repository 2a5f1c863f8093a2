// Models that answer from files: `script`, `cassette` and `cassette-check`.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "praxis/models/model.hpp"

namespace praxis {

/// The parts before the colon in the names of these models.
inline constexpr std::array<const char*, 3> kFileModels{"script", "cassette", "cassette-check"};

/// Returns the content of a file. Error `kInput`: unreadable, or longer than `max_bytes`.
using ReadFile = std::function<Result<std::string>(const std::string& path, std::size_t max_bytes)>;

/// The error for a file of the kind `what` that could not be read, with the reason in `error`, which
/// `ReadFile` gave.
Error unreadable_file(std::string_view what, const std::string& path, const Error& error);

/// Makes the model `kind:path`, where `kind` is one of `kFileModels`; reads its file with `read`. Error
/// `kInput`: the file cannot be read or is invalid.
Result<std::shared_ptr<Model>> make_file_model(const std::string& kind, const std::string& path,
                                               const ModelServices& services, const ReadFile& read);

}  // namespace praxis
