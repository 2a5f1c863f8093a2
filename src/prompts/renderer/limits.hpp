// What the program that renders templates and its owner have in common.
#pragma once

#include <cstdint>

namespace praxis::renderer {

/// Of the whole program, its code included.
inline constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} * 1024 * 1024;
/// For one request.
inline constexpr int kProcessorSeconds = 2;
/// Of a request and of an answer, in bytes.
inline constexpr std::uint32_t kMaxMessage = 64U * 1024 * 1024;
/// The answer of a program that was built without the engines.
inline constexpr const char* kNoEngines = R"({"engines":false})";

}  // namespace praxis::renderer
