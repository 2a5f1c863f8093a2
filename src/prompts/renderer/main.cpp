// The program that renders templates: an interpreter of JavaScript (Duktape) with the template engines. It
// reads requests from descriptor 0 and answers there, each with its length in front. The kernel keeps it from
// files, network, clocks and other processes, and ends it when a request takes more processor time or memory
// than it may.
#include <duktape.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "prompts/renderer/messages.hpp"

#ifdef PRAXIS_TEMPLATES
#include "base/embed.hpp"

PRAXIS_EMBED(kPraxisTemplatesBegin, kPraxisTemplatesEnd, PRAXIS_TEMPLATES);
#endif

namespace praxis::renderer {
namespace {

using Heap = std::unique_ptr<duk_context, decltype(&duk_destroy_heap)>;
using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

std::string_view engines() {
#ifdef PRAXIS_TEMPLATES
  return {kPraxisTemplatesBegin, kPraxisTemplatesEnd};
#else
  return {};
#endif
}

/// From here on only memory, the socket and the end of the process: any other call fails.
bool confine() {
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  bool done = filter != nullptr;
  for (const int call : {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(brk),
                         SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
                         SCMP_SYS(setitimer), SCMP_SYS(rt_sigreturn), SCMP_SYS(exit), SCMP_SYS(exit_group)}) {
    done = done && seccomp_rule_add_array(filter.get(), SCMP_ACT_ALLOW, call, 0, nullptr) == 0;
  }
  return done && seccomp_load(filter.get()) == 0;
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

void append_utf8(std::string& out, unsigned letter) {
  constexpr unsigned kTail = 0x80, kSix = 0x3F;
  if (letter >= 0x10000) {
    out += static_cast<char>(0xF0U | letter >> 18U);
    out += static_cast<char>(kTail | (letter >> 12U & kSix));
  } else {
    out += static_cast<char>(0xE0U | letter >> 12U);
  }
  out += static_cast<char>(kTail | (letter >> 6U & kSix));
  out += static_cast<char>(kTail | (letter & kSix));
}

/// JavaScript has letters beyond 16 bits as pairs of surrogates, each of which Duktape keeps as three bytes.
std::string with_surrogates(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (byte_at(text, at) < 0xF0) {
      out += text[at];
      continue;
    }
    const unsigned letter = (byte_at(text, at) & 7U) << 18U | (byte_at(text, at + 1) & 0x3FU) << 12U |
                            (byte_at(text, at + 2) & 0x3FU) << 6U | (byte_at(text, at + 3) & 0x3FU);
    append_utf8(out, 0xD800U + ((letter - 0x10000U) >> 10U & 0x3FFU));
    append_utf8(out, 0xDC00U + (letter & 0x3FFU));
    at += 3;
  }
  return out;
}

/// The surrogate at `at`, which Duktape keeps as three bytes; 0 if another letter is there.
unsigned surrogate_at(std::string_view text, std::size_t at) {
  if (byte_at(text, at) != 0xED || byte_at(text, at + 1) < 0xA0) return 0;
  return 0xD000U | (byte_at(text, at + 1) & 0x3FU) << 6U | (byte_at(text, at + 2) & 0x3FU);
}

/// Whether half of a pair is at `at`, as JSON has it: a template can cut it off.
bool is_escaped_half(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with("\\ud") && at + 5 < text.size() &&
         std::string_view("89abcdef").contains(text[at + 3]);
}

/// The reverse, for JSON. Half of a pair becomes the replacement character.
std::string without_surrogates(std::string_view text) {
  constexpr unsigned kLow = 0xDC00, kReplacement = 0xFFFD;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (is_escaped_half(text, at)) {
      append_utf8(out, kReplacement);
      at += 5;
      continue;
    }
    const unsigned first = surrogate_at(text, at);
    if (first == 0) {
      out += text[at];
      if (text[at] == '\\' && at + 1 < text.size()) out += text[++at];
      continue;
    }
    at += 2;
    const unsigned second = first < kLow ? surrogate_at(text, at + 1) : 0;
    const bool is_pair = second >= kLow;
    append_utf8(out, is_pair ? 0x10000U + ((first & 0x3FFU) << 10U | (second & 0x3FFU)) : kReplacement);
    if (is_pair) at += 3;
  }
  return out;
}

/// Processor time until the kernel ends this process; 0: no end.
void allow_seconds(int seconds) {
  const itimerval time{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &time, nullptr);
}

/// The answer of the engines. An interpreter without memory throws too, so an error can have no text.
std::string_view answered(duk_context* heap, const std::string& request) {
  duk_get_global_string(heap, "answer");
  duk_push_lstring(heap, request.data(), request.size());
  const bool failed = duk_pcall(heap, 1) != DUK_EXEC_SUCCESS;
  duk_size_t size = 0;
  const char* text = failed ? nullptr : duk_get_lstring(heap, -1, &size);
  return text == nullptr ? R"({"error":"it needs too much memory"})" : std::string_view(text, size);
}

int serve() {
  const rlimit memory{kMemoryBytes, kMemoryBytes};
  if (setrlimit(RLIMIT_AS, &memory) != 0) return 1;
  const Heap heap(duk_create_heap_default(), duk_destroy_heap);
  if (!heap || !confine()) return 1;
  if (engines().empty()) return send_message(STDIN_FILENO, kNoEngines) ? 0 : 1;
  if (duk_peval_lstring(heap.get(), engines().data(), engines().size()) != 0) return 1;
  while (const auto request = receive_message(STDIN_FILENO)) {
    allow_seconds(kProcessorSeconds);
    duk_set_top(heap.get(), 0);
    const std::string answer = without_surrogates(answered(heap.get(), with_surrogates(*request)));
    if (!send_message(STDIN_FILENO, answer)) break;
    allow_seconds(0);
  }
  return 0;
}

}  // namespace
}  // namespace praxis::renderer

int main() { return praxis::renderer::serve(); }
