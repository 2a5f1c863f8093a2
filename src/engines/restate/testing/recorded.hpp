// What Restate 1.7.12 sent in an invocation of version 6, recorded between it and `praxis serve`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/hex.hpp"
#include "engines/restate/frames.hpp"

namespace praxis::restate::testing {

/// The bytes that hexadecimal digits name.
inline std::string unhex(std::string_view hex) { return bytes_of_hex(hex); }

/// The invocation's id as text and as awakeable 17 names it.
inline constexpr std::string_view kInvocationName = "inv_1hhn4MOK6rsO0TIG9k5t6w9wcGwrAoxq6F";
inline constexpr std::string_view kAwakeable = "sign_11iWABqbsRcm9xzU5O9ERUhnpafIPdIcdAAAAEQ";
inline constexpr std::string_view kKey = "01M8FB0RSAH39TFNP15P3EFBTZ";

/// A request to the handler `wake`: start with the state of the object, input.
inline std::string wake_request() {
  return unhex(
      "00000000000000a80a18d6258006a6ec45c9896e6fa3e812f4740b760183e09fb8f31226696e765f3168686e344d4f4b367273"
      "4f"
      "37705476795978577639574a524c576379526d557058180122390a096177616b6561626c65122c7369676e5f31316957414271"
      "62"
      "7352636d39787a55354f39455255686e706166495064496364414141414551321a30314d3846423052534148333954464e5031"
      "35"
      "5033454642545a40034888c2d2e5fdf9fdfaa30104000000000000750a460a16782d726573746174652d696e67726573732d70"
      "61"
      "7468122c2f7072617869732f30314d3846423052534148333954464e5031355033454642545a2f77616b652f73656e640a140a"
      "0a"
      "757365722d6167656e7412067072617869730a130a0e636f6e74656e742d6c656e6774681201307200");
}

/// The start of a request to the handler `run` with `entries` entries after it.
inline std::string start_message(std::uint8_t entries, bool has_state = false) {
  const std::string_view state =
      "22390a096177616b6561626c65122c7369676e5f31316957414271627352636d39787a55354f39455255686e70616649506449"
      "63"
      "64414141414551";
  std::string message = unhex(
      "0a18d6258006a6ec45c9bdc735393bd1115219e969f20f74871d1226696e765f3168686e344d4f4b3672734f30544947396b35"
      "74"
      "3677397763477772416f78713646");
  message += {'\x18', static_cast<char>(entries)};
  if (has_state) message += unhex(state);
  return message +
         unhex("321a30314d3846423052534148333954464e5031355033454642545a4004488cc181f2aac7c2f29d01");
}

/// An entry after the start.
struct RecordedEntry {
  FrameType type = FrameType::kInput;
  std::string message;
};

inline const RecordedEntry kInput{FrameType::kInput, unhex("7200")};
inline const RecordedEntry kFirstRun{FrameType::kRun, unhex("580162077265636f726473")};
inline const RecordedEntry kSetAwakeable{FrameType::kSetState,
                                         unhex("0a096177616b6561626c651a2e0a2c7369676e5f313169574142716273526"
                                               "36d39787a55354f39455255686e70616649506449"
                                               "6364414141414551")};
inline const RecordedEntry kSleepTwo{FrameType::kSleep, unhex("08c09bc5f5a1345802")};
inline const RecordedEntry kSignal17{FrameType::kSignal, unhex("10112a00")};

/// The completion of a run; its value is within a message of its own.
inline RecordedEntry run_completed(std::uint8_t run, std::string_view value) {
  std::string message{'\x08', static_cast<char>(run),         '\x2a', static_cast<char>(value.size() + 2),
                      '\x0a', static_cast<char>(value.size())};
  return {FrameType::kRunCompletion, message += value};
}

/// A request with these entries.
inline std::string request_of(std::initializer_list<RecordedEntry> entries, bool has_state = false) {
  std::string body;
  put_frame(body, FrameType::kStart, start_message(static_cast<std::uint8_t>(entries.size()), has_state));
  for (const RecordedEntry& entry : entries) put_frame(body, entry.type, entry.message);
  return body;
}

}  // namespace praxis::restate::testing
