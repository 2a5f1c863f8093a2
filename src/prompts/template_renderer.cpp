// The owner of the program that renders templates.
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/exhausted.hpp"
#include "base/file_descriptor.hpp"
#include "praxis/prompts/template_engines.hpp"
#include "process/supervisor_image.hpp"
#include "prompts/fstring.hpp"
#include "prompts/renderer/messages.hpp"
#include "prompts/renderer_image.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxPartials = 64;

std::unexpected<Error> renderer_failed(int number) {
  return fail(with_exhaustion(
      make_error(ErrorCode::kTool, ErrorKind::kMachine,
                 "the template engines cannot be started: " + std::generic_category().message(number), true),
      number));
}

/// Nothing of this process is inherited but the socket: neither descriptors nor environment, signals or
/// terminal.
Result<pid_t> spawn(int image, int socket) {
  constexpr int kImage = 3;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, image, kImage);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, kImage + 1);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPROF);  // ends it when a request takes too long
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const std::string path = "/proc/self/fd/" + std::to_string(kImage);
  std::array<char*, 2> arguments{const_cast<char*>("praxis-renderer"), nullptr};
  std::array<char*, 1> environment{nullptr};
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return renderer_failed(error);
  return pid;
}

/// A running renderer; the destructor ends it.
class Renderer {
 public:
  static Result<Renderer> start() {
    auto image = memory_file("praxis_renderer", renderer_image(), true);
    if (!image) return fail(std::move(image.error()));
    std::array<int, 2> ends{-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return renderer_failed(errno);
    FileDescriptor ours(ends[0]);
    const FileDescriptor theirs(ends[1]);
    const auto pid = spawn(image->get(), theirs.get());
    if (!pid) return fail(pid.error());
    return Renderer(*pid, std::move(ours));
  }

  Renderer(Renderer&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}
  Renderer& operator=(Renderer&&) = delete;
  ~Renderer() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// The answer to a request; `std::nullopt` if the renderer has ended instead.
  std::optional<std::string> ask(const std::string& request) const {
    if (!renderer::send_message(socket_.get(), request)) return std::nullopt;
    return renderer::receive_message(socket_.get());
  }

 private:
  Renderer(pid_t pid, FileDescriptor socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_;
  FileDescriptor socket_;
};

class JavascriptTemplates final : public TemplateEngines {
 public:
  explicit JavascriptTemplates(std::shared_ptr<Environment> environment)
      : environment_(environment ? std::move(environment) : system_environment()) {}

  Result<std::string> render(PromptEngine engine, const std::string& text, const Json& values,
                             const PartialSource& partial) override {
    JsonObject partials;
    while (true) {
      auto answer = ask({{"engine", to_string(engine)},
                         {"text", text},
                         {"now", environment_->now().value},
                         {"values", values.is_null() ? Json(JsonObject{}) : values},
                         {"partials", partials}});
      if (!answer) return fail(std::move(answer.error()));
      if (const Json* rendered = answer->get_object().if_contains("text")) {
        if (rendered->get_string().size() <= kMaxRendered) return std::string(rendered->get_string());
        return fail(ErrorCode::kInput,
                    "the rendered prompt has more than " + std::to_string(kMaxRendered) + " bytes");
      }
      if (auto added = add_partials(json_at(*answer, "needs"), partial, partials); !added)
        return fail(std::move(added.error()));
    }
  }

  Result<PromptCheck> check(PromptEngine engine, const std::string& text) override {
    PromptCheck check;
    auto answer = ask({{"engine", to_string(engine)}, {"text", text}, {"now", environment_->now().value}});
    if (!answer && answer.error().code != ErrorCode::kInput) return fail(std::move(answer.error()));
    check.ok = answer.has_value();
    if (!answer) {
      check.errors.push_back(answer.error().message);
    } else if (const JsonArray* names = json_at(*answer, "variables").if_array()) {
      for (const Json& name : *names) check.variables.push_back(to_plain_text(name));
    }
    return check;
  }

 private:
  static Status add_partials(const Json& names, const PartialSource& partial, JsonObject& partials) {
    const JsonArray* needed = names.if_array();
    if (needed == nullptr || needed->empty())
      return fail(ErrorCode::kInternal, "the template engines answered nonsense");
    for (const Json& each : *needed) {
      const std::string name = to_plain_text(each);
      auto text = partial ? partial(name) : std::optional<std::string>();
      if (!text) return fail(std::move(text.error()));
      if (!*text)
        return fail(ErrorCode::kInput, "the template uses the partial \"" + name + "\", which is missing");
      if (partials.size() == kMaxPartials)
        return fail(ErrorCode::kInput,
                    "the template uses more than " + std::to_string(kMaxPartials) + " partials");
      partials[name] = **std::move(text);
    }
    return {};
  }

  /// The answer of the engines, an object. One request at a time.
  Result<Json> ask(const Json& request) {
    const std::string text = to_json_text(request);
    if (text.size() > renderer::kMaxMessage)
      return fail(ErrorCode::kInput, "the template and its values have more than 64 MiB");
    const std::lock_guard lock(mutex_);
    if (!renderer_) {
      auto started = Renderer::start();
      if (!started) return fail(std::move(started.error()));
      renderer_.emplace(*std::move(started));
    }
    const auto line = renderer_->ask(text);
    if (!line) {
      renderer_.reset();  // the next request starts it again
      return fail(ErrorCode::kInput,
                  "the template is invalid: it needs more than 2 s of processor time or 256 MiB of memory");
    }
    auto answer = parse_json(*line);
    if (!answer || !answer->is_object())
      return fail(ErrorCode::kInternal, "the template engines answered nonsense");
    if (*line == renderer::kNoEngines) {
      renderer_.reset();
      return fail(ErrorCode::kTool,
                  "this praxis was built without the template engines; `make page` builds it with them");
    }
    if (const Json* error = answer->get_object().if_contains("error"))
      return fail(ErrorCode::kInput, "the template is invalid: " + to_plain_text(*error));
    return answer;
  }

  const std::shared_ptr<Environment> environment_;
  std::mutex mutex_;
  std::optional<Renderer> renderer_;
};

}  // namespace

std::shared_ptr<TemplateEngines> javascript_templates(std::shared_ptr<Environment> environment) {
  return std::make_shared<JavascriptTemplates>(std::move(environment));
}

}  // namespace praxis
