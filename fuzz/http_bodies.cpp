// Arbitrary bodies of requests, read as those of each protocol: what is refused is an error of the input that
// has a text, and what is read stays within its bounds. No server runs.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/a2a_request.hpp"
#include "server/call.hpp"
#include "server/chat_request.hpp"
#include "server/input_parts.hpp"
#include "server/responses_request.hpp"

namespace {

using namespace praxis;

void check(const Error& error) {
  if (error.message.empty()) std::abort();
}

template <class T>
void check(const Result<T>& read) {
  if (!read) check(read.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  server::Call call;
  call.body.assign(reinterpret_cast<const char*>(data), size);
  check(call.object({"agent", "prompt", "attachments", "model", "limits", "schema"}));
  const auto body = parse_json(call.body);
  if (!body) return 0;
  check(server::read_chat_completion(*body));
  check(server::read_a2a_message(*body));
  check(server::read_a2a_list(*body));
  check(server::read_a2a_push(*body));
  check(server::input_parts(*body, "attachments"));
  if (const JsonObject* object = body->if_object()) check(server::read_responses_request(*object));
  if (const JsonArray* items = body->if_array()) {
    const auto messages = server::messages_of(*items, "items");
    check(messages);
    if (messages && messages->size() > items->size()) std::abort();
  }
  return 0;
}
