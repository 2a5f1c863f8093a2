#include "cli/passphrase.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>

#include "base/file_descriptor.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostWords = 1024;

FileDescriptor own_terminal() { return FileDescriptor(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); }

/// Hides what is typed, until its end.
class HiddenInput {
 public:
  explicit HiddenInput(int terminal) : terminal_(terminal) {
    is_changed_ = tcgetattr(terminal, &before_) == 0;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_changed_) tcsetattr(terminal, TCSAFLUSH, &hidden);
  }
  ~HiddenInput() {
    if (is_changed_) tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;

 private:
  const int terminal_;
  bool is_changed_ = false;
  termios before_{};
};

SecretBytes read_words(int terminal, std::string_view question) {
  std::string words;
  words.reserve(kMostWords);  // it must not move: that would leave a copy
  const HiddenInput hidden(terminal);
  std::ignore = write(terminal, question.data(), question.size());
  for (char next = 0; words.size() < kMostWords && read(terminal, &next, 1) == 1 && next != '\n';)
    words += next;
  std::ignore = write(terminal, "\n", 1);
  SecretBytes kept(words);
  wipe(words);
  return kept;
}

}  // namespace

app::AskPassphrase passphrase_prompt(bool repeats) {
  if (own_terminal().get() < 0) return {};
  return [repeats]() -> Result<SecretBytes> {
    const FileDescriptor terminal = own_terminal();
    if (terminal.get() < 0) return fail(ErrorCode::kInput, "the terminal to ask for the passphrase has gone");
    SecretBytes words = read_words(terminal.get(), "Passphrase of the journal: ");
    if (!repeats) return words;
    if (read_words(terminal.get(), "Once more: ").reveal() == words.reveal()) return words;
    return fail(ErrorCode::kInput, "the two passphrases differ");
  };
}

}  // namespace praxis::cli
