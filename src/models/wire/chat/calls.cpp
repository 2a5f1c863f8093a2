#include "models/wire/chat/calls.hpp"

#include <algorithm>

#include "praxis/base/digest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

/// Tool names that models invent to wrap several calls into one.
bool is_wrapper(std::string_view name) { return name == "multi_tool_use.parallel" || name == "parallel"; }

/// The calls inside a wrapper's arguments; empty if it is not a wrapper.
std::vector<CallFragment> wrapped_calls(const Json& arguments) {
  std::vector<CallFragment> out;
  const JsonArray* uses = json_at(arguments, "tool_uses").if_array();
  if (uses == nullptr) return out;
  for (const Json& use : *uses) {
    constexpr std::string_view kNamespace = "functions.";
    std::string_view name = json_text(use, "recipient_name");
    if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
    if (name.empty() || !json_at(use, "parameters").is_object()) return {};
    out.push_back({.name = name, .arguments = to_json_text(json_at(use, "parameters"))});
  }
  return out;
}

}  // namespace

std::string wire_id(std::string_view id, CallIds format) {
  constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::size_t kMistralLength = 9, kMost = 40;
  if (format == CallIds::kShort) {
    return id.size() <= kMost ? std::string(id) : "call_" + digest_of(id).hex().substr(0, 32);
  }
  const bool fits = id.size() == kMistralLength && id.find_first_not_of(kAlphabet) == id.npos;
  if (fits) return std::string(id);
  std::string out;
  const Digest digest = digest_of(id);
  for (std::size_t i = 0; i < kMistralLength; ++i) out += kAlphabet[digest.bytes[i] % kAlphabet.size()];
  return out;
}

std::optional<CallFragment> read_call(const Json& call) {
  const Json& function = json_at(call, "function");
  const Json& arguments = json_at(function, "arguments");
  CallFragment out{.id = json_text(call, "id"), .name = json_text(function, "name")};
  if (json_at(call, "index").is_number()) out.index = json_int(call, "index");
  if (const auto* text = arguments.if_string()) out.arguments = *text;
  if (arguments.is_structured()) out.arguments = to_json_text(arguments);
  out.extra_content = json_at(call, "extra_content");
  if (out.id.empty() && out.name.empty() && out.arguments.empty() && out.extra_content.is_null()) return {};
  return out;
}

CallAssembler::Call* CallAssembler::find(const CallFragment& fragment) {
  if (fragment.index) {
    const auto known = std::find_if(calls_.rbegin(), calls_.rend(),
                                    [&](const Call& c) { return c.index == fragment.index; });
    if (known == calls_.rend()) return nullptr;
    const bool other_call = !fragment.id.empty() && !fragment.name.empty() && !known->vendor_id.empty() &&
                            fragment.id != known->vendor_id;
    return other_call ? nullptr : &*known;
  }
  if (!fragment.id.empty()) {
    const auto known = std::ranges::find(calls_, fragment.id, &Call::vendor_id);
    return known == calls_.end() ? nullptr : &*known;
  }
  return calls_.empty() || !fragment.name.empty() ? nullptr : &calls_.back();
}

void CallAssembler::add(const CallFragment& fragment, bool whole) {
  Call* call = whole ? nullptr : find(fragment);
  if (call == nullptr) {
    const std::size_t item = builder_.open(ToolCallPart{});
    call = &calls_.emplace_back(Call{.item = item,
                                     .index = fragment.index,
                                     .vendor_id = {},
                                     .name = {},
                                     .extra_content = {},
                                     .announced = false});
  }
  if (call->vendor_id.empty()) call->vendor_id = fragment.id;
  if (!fragment.extra_content.is_null()) call->extra_content = fragment.extra_content;
  if (call->name.empty() && !fragment.name.empty()) {
    call->name = fragment.name;
    if (!is_wrapper(fragment.name)) announce(*call);
  }
  builder_.arguments(call->item, fragment.arguments);
}

void CallAssembler::announce(Call& call) {
  call.announced = true;
  builder_.name_call(call.item, call.vendor_id, call.name);
}

/// Replaces a wrapper by its calls: the first takes the wrapper's place, the others are added at the end.
/// Returns false if it wraps no calls.
bool CallAssembler::unwrap(const Call& wrapper) {
  if (!is_wrapper(wrapper.name)) return false;
  const auto arguments = parse_json(part_of(wrapper).arguments);
  if (!arguments) return false;
  std::size_t item = wrapper.item;
  std::string_view id = wrapper.vendor_id;
  const std::vector<CallFragment> calls = wrapped_calls(*arguments);
  for (const CallFragment& call : calls) {
    ToolCallPart part;
    part.arguments = call.arguments;
    if (&call == &calls.front()) {
      builder_.part(item) = std::move(part);
    } else {
      item = builder_.open(std::move(part));
    }
    builder_.name_call(item, id, call.name);
    id = {};
  }
  return !calls.empty();
}

/// Stores what must be sent back with the call as vendor state.
void CallAssembler::settle(const Call& call) {
  ToolCallPart& part = part_of(call);
  JsonObject state;
  const bool own_id = part.id.value == call.vendor_id && wire_id(call.vendor_id, format_) != call.vendor_id;
  if (own_id) state[kOwnId] = call.vendor_id;
  if (!call.extra_content.is_null()) state["extra_content"] = call.extra_content;
  if (!state.empty()) part.vendor = builder_.state(to_json_text(state));
}

void CallAssembler::finish() {
  for (Call& call : calls_) {
    if (!call.announced && !unwrap(call)) announce(call);
    settle(call);
  }
}

}  // namespace praxis::wire::chat
