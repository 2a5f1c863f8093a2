// The benchmark client: runs sessions of a small tool-calling agent against a model server and prints one
// JSON line with the costs. The command line and the figures are a contract that the clients of other
// runtimes follow as well:
//
//   praxis_bench --base URL --model NAME --stream 0|1 --sessions N --conc C --warmup W [--marks 1] [--idle 1]
//                [--journal memory|FILE]
//
// If the journal is a file, it must be new: the client removes an existing one.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "praxis/praxis.hpp"
#include "praxis/tools/typed_tool.hpp"

namespace {

struct Sum {
  double a = 0;
  double b = 0;
};
PRAXIS_FIELDS(Sum, a, b)

struct Counters {
  std::atomic<long> calls = 0, deltas = 0, chars = 0, errors = 0;
  bool keep_marks = false;
  std::vector<double> marks;
};

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

long resident_kb() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string text(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

praxis::Agent calculator(const std::string& model, bool stream, Counters& counters) {
  praxis::Limits limits;
  limits.max_steps = 0;
  limits.max_repeats = 0;  // the server asks for the same sum in every round
  limits.max_messages = 0;
  praxis::Agent agent("openai-chat:" + model, "You are a calculator.");
  agent.limits(limits)
      .use(praxis::make_tool("add", "Add two numbers",
                             [&counters](Sum sum) {
                               if (counters.keep_marks)
                                 counters.marks.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID));
                               return text(sum.a + sum.b);
                             }))
      .on("model.responded", [&counters](const praxis::Event&) { ++counters.calls; })
      .on("turn.failed", [&counters](const praxis::Event& event) {
        ++counters.errors;
        const auto& failed = std::get<praxis::events::TurnFailed>(event.body).result;
        std::fprintf(stderr, "%s\n", failed.error ? failed.error->message.c_str() : "failed");
      });
  if (stream) {
    agent.on("text.delta", [&counters](const praxis::Event& event) {
      ++counters.deltas;
      counters.chars += static_cast<long>(std::get<praxis::events::TextDelta>(event.body).text.size());
    });
  }
  return agent;
}

/// A counting semaphore. The standard library's one calls sched_yield while it waits, which `bench/counts`
/// would count.
class Places {
 public:
  explicit Places(std::ptrdiff_t free) { sem_init(&free_, 0, static_cast<unsigned>(free)); }
  ~Places() { sem_destroy(&free_); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  void take() {
    while (sem_wait(&free_) != 0) {
    }
  }
  void give_back() { sem_post(&free_); }

 private:
  sem_t free_{};
};

void run_sessions(praxis::Runtime& runtime, const praxis::Agent& agent, long sessions,
                  std::ptrdiff_t at_once) {
  Places places(at_once);
  for (long i = 0; i < sessions; ++i) {
    places.take();
    auto session = runtime.create_session(agent);
    if (!session) {
      std::fprintf(stderr, "%s\n", session.error().message.c_str());
      std::exit(1);
    }
    // The callback keeps the session alive until its turn ends.
    session->ask(
        "What is 1 + 2? Use the tool.",
        [&places, keep = *session](const praxis::Result<praxis::AgentResult>&) { places.give_back(); });
  }
  for (std::ptrdiff_t i = 0; i < at_once; ++i) places.take();
}

std::shared_ptr<praxis::Journal> open_journal(const std::string& where) {
  if (where == "memory") return praxis::memory_journal();
  for (const char* part : {"", "-wal", "-shm", ".owners", ".head"}) std::remove((where + part).c_str());
  auto journal = praxis::sqlite_journal(where);
  if (!journal) {
    std::fprintf(stderr, "%s\n", journal.error().message.c_str());
    std::exit(2);
  }
  return *journal;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options{{"--base", "http://127.0.0.1:8099"},
                                             {"--model", "mock-s10-d50"},
                                             {"--stream", "0"},
                                             {"--sessions", "1"},
                                             {"--conc", "1"},
                                             {"--warmup", "0"},
                                             {"--marks", "0"},
                                             {"--idle", "0"},
                                             {"--journal", "memory"}};
  for (int i = 1; i + 1 < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end()) {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
    option->second = argv[i + 1];
  }
  const bool stream = options["--stream"] == "1";
  const long sessions = std::stol(options["--sessions"]);
  const std::ptrdiff_t at_once = std::stol(options["--conc"]);
  setenv("OPENAI_BASE_URL", (options["--base"] + "/v1").c_str(), 1);
  setenv("OPENAI_API_KEY", "x", 1);

  praxis::RuntimeOptions runtime_options;
  runtime_options.journal = open_journal(options["--journal"]);
  runtime_options.stream = stream;
  const auto runtime = praxis::Runtime::create(std::move(runtime_options));
  Counters counters;
  const praxis::Agent agent = calculator(options["--model"], stream, counters);
  const long idle = resident_kb();
  if (options["--idle"] == "1") {
    std::printf("{\"peer\":\"praxis\",\"rss_idle_kb\":%ld}\n", idle);
    return 0;
  }
  run_sessions(*runtime, agent, std::stol(options["--warmup"]), at_once);
  counters.calls = counters.deltas = counters.chars = counters.errors = 0;
  counters.keep_marks = options["--marks"] == "1";
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double wall = seconds(CLOCK_MONOTONIC);
  if (counters.keep_marks) counters.marks.push_back(cpu);
  run_sessions(*runtime, agent, sessions, at_once);
  const double cpu_end = seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (counters.keep_marks) counters.marks.push_back(cpu_end);
  std::printf(
      "{\"peer\":\"praxis\",\"sessions\":%ld,\"calls\":%ld,\"wall_s\":%.6f,\"cpu_s\":%.6f,\"rss_idle_kb\":%"
      "ld,"
      "\"rss_peak_kb\":%ld,\"deltas\":%ld,\"chars\":%ld,\"errors\":%ld",
      sessions, counters.calls.load(), seconds(CLOCK_MONOTONIC) - wall, cpu_end - cpu, idle, peak_kb(),
      counters.deltas.load(), counters.chars.load(), counters.errors.load());
  if (counters.keep_marks) {
    std::printf(",\"marks\":[");
    for (std::size_t i = 0; i < counters.marks.size(); ++i)
      std::printf("%s%.6f", i ? "," : "", counters.marks[i]);
    std::printf("]");
  }
  std::printf("}\n");
  return 0;
}
