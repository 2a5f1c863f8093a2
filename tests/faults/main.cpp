// Injects faults into Praxis and reports which invariants held.
//
//   praxis_faults [--seed N] [--runs N] [--seconds N] [--only NAME[,NAME]] [--long] [--jobs N] [--table FILE]
//   [--list]
//
// Run k of a fault has the seed N + k, and repeats with `--only NAME --seed N+k --runs 1`. Each fault runs in
// processes of its own: a process that dies or hangs is a failure of its current run, and a new process
// continues with the next run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "fault.hpp"

namespace praxis::faults {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestRun = 120;  // seconds; a longer run counts as hanging
constexpr auto kBetweenNews = std::chrono::minutes(1);
constexpr int kMostFailures = 20;  // of one fault; then the rest of its runs is skipped

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t runs = 0;        ///< 0: each fault's own number
  std::chrono::seconds time{0};  ///< for each fault, after which it starts no run; 0: no limit
  std::vector<std::string> only;
  bool many = false;
  bool list = false;
  // Twice the processors: most of a run is waiting for the disk.
  unsigned jobs = 2 * std::max(1U, std::thread::hardware_concurrency());
  std::string table;
};

/// The progress of one fault: its current process, and the outcomes so far.
struct Track {
  const Fault* fault;
  std::uint64_t runs = 0, done = 0;
  std::uint64_t steps = 0;              ///< 0: the fault counts none
  std::chrono::microseconds worked{0};  ///< processor time of these steps
  int failures = 0;
  std::string skipped{};
  pid_t pid = -1;
  int out = -1;
  std::string unread{};
  Clock::time_point begun{}, heard{}, told{};
  std::chrono::milliseconds took{0};
};

// ---- in the process of a fault

/// Returns the failures of assertions since the last call.
std::string said_by_assertions() {
  static int seen = 0;
  const ::testing::TestResult& all = ::testing::UnitTest::GetInstance()->ad_hoc_test_result();
  std::string text;
  for (; seen < all.total_part_count(); ++seen) {
    const auto& part = all.GetTestPartResult(seen);
    if (!part.failed()) continue;
    text += std::string(part.file_name() == nullptr ? "" : part.file_name()) + ':' +
            std::to_string(part.line_number()) + ": " + part.message() + '\n';
  }
  return text;
}

/// One line a run: `ok`, `failed TEXT` or `skipped TEXT`, without other line ends.
void say(int out, const std::string& word, std::string text) {
  std::ranges::replace(text, '\n', '\t');
  const std::string line = word + ' ' + text.substr(0, 4000) + '\n';
  if (write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
}

/// The processor time of this process and of those that it has waited for.
std::chrono::microseconds processor_time() {
  std::chrono::microseconds sum{0};
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime})
      sum += std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  }
  return sum;
}

/// One line for a run that counted its steps: their number, and their processor time in microseconds.
void say_steps(int out, std::chrono::microseconds& before) {
  const auto now = processor_time();
  if (const auto steps = std::exchange(unreported_steps, 0))
    say(out, "steps", std::to_string(steps) + ' ' + std::to_string((now - before).count()));
  before = now;
}

[[noreturn]] void run_here(const Fault& fault, std::uint64_t seed, std::uint64_t runs,
                           Clock::time_point until, int out) {
  Run run;
  auto worked = processor_time();
  for (std::uint64_t k = 0; k < runs && (k == 0 || Clock::now() < until); ++k) {
    try {
      if (!run) run = fault.start();
      run(seed + k);
      const std::string failure = said_by_assertions();
      say_steps(out, worked);
      say(out, failure.empty() ? "ok" : "failed", failure);
    } catch (const Skipped& skipped) {
      say(out, "skipped", skipped.why);
      _exit(0);
    } catch (const std::exception& thrown) {
      say(out, "failed", said_by_assertions() + thrown.what());
    }
  }
  say(out, "enough", "");
  run = nullptr;
  _exit(0);
}

// ---- in the parent process

void start(Track& track, const Options& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
  std::fflush(nullptr);
  track.pid = fork();
  if (track.pid == 0) {
    close(ends[0]);
    setpgid(0, 0);  // a process group, to be killed as a whole
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);  // the parent prints each failure once
    const auto until = options.time.count() == 0 ? Clock::time_point::max() : track.begun + options.time;
    run_here(*track.fault, options.seed + track.done, track.runs - track.done, until, ends[1]);
  }
  setpgid(track.pid, track.pid);
  close(ends[1]);
  track.out = ends[0];
  track.heard = Clock::now();
}

/// Whether the current run takes too long. A machine with more than two tasks a processor may take longer: a
/// run that passes from thread to thread waits for the processor each time.
bool seems_to_hang(const Track& track) {
  double load = 0;
  getloadavg(&load, 1);
  const double busy = load / (2.0 * std::max(1U, std::thread::hardware_concurrency()));
  return std::chrono::duration<double>(Clock::now() - track.heard).count() >
         kLongestRun * std::max(1.0, busy);
}

void failed(Track& track, const Options& options, std::string text) {
  ++track.failures;
  std::ranges::replace(text, '\t', '\n');
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::cout << "FAILED " << track.fault->name << ": " << text
            << "\n  repeat: make faults ONLY=" << track.fault->name << " SEED=" << options.seed + track.done
            << " RUNS=1\n"
            << std::flush;
}

void hear(Track& track, const Options& options) {
  char bytes[65536];
  const ssize_t count = read(track.out, bytes, sizeof bytes);
  track.heard = Clock::now();
  if (count > 0) track.unread.append(bytes, static_cast<std::size_t>(count));
  for (std::size_t end; (end = track.unread.find('\n')) != std::string::npos;) {
    const std::string line = track.unread.substr(0, end);
    track.unread.erase(0, end + 1);
    const std::size_t space = line.find(' ');
    if (line.starts_with("skipped")) {
      track.skipped = line.substr(space + 1);
      return;
    }
    if (line.starts_with("enough")) {
      track.runs = track.done;
      return;
    }
    if (line.starts_with("steps")) {
      std::istringstream numbers(line.substr(space + 1));
      std::uint64_t steps = 0, worked = 0;
      numbers >> steps >> worked;
      track.steps += steps;
      track.worked += std::chrono::microseconds(worked);
      continue;
    }
    if (line.starts_with("failed")) failed(track, options, line.substr(space + 1));
    ++track.done;
  }
}

void reap(Track& track) {
  kill(-track.pid, SIGKILL);
  close(track.out);
  track.unread.clear();
}

/// Prints a line now and then during a long run.
void tell_progress(Track& track) {
  if (Clock::now() - track.told < kBetweenNews) return;
  track.told = Clock::now();
  std::cerr << track.fault->name << ": " << track.done << " of " << track.runs << " runs\n";
}

/// Reads what the process has reported; true once the fault is finished.
bool attend(Track& track, const Options& options) {
  pollfd ready{track.out, POLLIN, 0};
  if (poll(&ready, 1, 20) > 0) hear(track, options);
  tell_progress(track);
  const bool hangs = seems_to_hang(track);
  if (hangs) kill(-track.pid, SIGKILL);
  int status = 0;
  if (waitpid(track.pid, &status, WNOHANG) != track.pid) return false;
  for (pollfd left{track.out, POLLIN, 0}; poll(&left, 1, 0) > 0 && (left.revents & POLLIN) != 0;)
    hear(track, options);
  reap(track);
  const bool through = track.done == track.runs || !track.skipped.empty();
  if (!through) {
    failed(track, options,
           hangs                 ? "hangs"
           : WIFSIGNALED(status) ? std::string("killed by ") + strsignal(WTERMSIG(status))
                                 : "left with status " + std::to_string(WEXITSTATUS(status)));
    ++track.done;
  }
  if (through || track.done == track.runs || track.failures >= kMostFailures) {
    track.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - track.begun);
    return true;
  }
  start(track, options);
  return false;
}

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(time.count()) / 1000);
  return text;
}

void report(const Track& track) {
  std::cout << (track.failures > 0      ? "FAILED  "
                : track.skipped.empty() ? "held    "
                                        : "skipped ")
            << track.fault->name << ": ";
  if (!track.skipped.empty()) {
    std::cout << track.skipped << '\n';
  } else {
    std::cout << track.done << " runs, " << track.failures << " failed, " << seconds(track.took) << " s";
    if (track.worked.count() > 0)
      std::cout << ", " << track.steps << " steps ("
                << track.steps * 1'000'000 / static_cast<std::uint64_t>(track.worked.count())
                << " a second of processor time)";
    std::cout << '\n';
  }
  std::cout << std::flush;
}

std::string table_of(const std::vector<Track>& tracks) {
  std::ostringstream out;
  out << "| fault | what is done | what must hold | runs | failed | seconds |\n|---|---|---|---|---|---|\n";
  for (const Track& track : tracks) {
    out << "| `" << track.fault->name << "` | " << track.fault->breaks << " | " << track.fault->holds << " | "
        << (track.skipped.empty() ? std::to_string(track.done) : "skipped: " + track.skipped) << " | "
        << track.failures << " | " << seconds(track.took) << " |\n";
  }
  return out.str();
}

bool run_all(std::vector<Track>& tracks, const Options& options) {
  std::vector<Track*> waiting, running;
  for (Track& track : tracks) waiting.push_back(&track);
  std::ranges::reverse(waiting);
  bool held = true;
  while (!waiting.empty() || !running.empty()) {
    while (!waiting.empty() && running.size() < options.jobs) {
      running.push_back(waiting.back());
      waiting.pop_back();
      running.back()->begun = running.back()->told = Clock::now();
      start(*running.back(), options);
    }
    std::erase_if(running, [&](Track* track) {
      if (!attend(*track, options)) return false;
      report(*track);
      held = held && track->failures == 0;
      return true;
    });
  }
  return held;
}

// ---- the command line

[[noreturn]] void misused(const std::string& why) {
  std::cerr << "praxis_faults: " << why
            << "\nusage: praxis_faults [--seed N] [--runs N] [--seconds N] [--only NAME[,NAME]] [--long] "
               "[--jobs N] "
               "[--table FILE] [--list]\n";
  std::exit(2);
}

std::uint64_t number(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    misused("'" + text + "' is not a number");
  return std::stoull(text);
}

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&] {
      if (++i == count) misused(name + " needs a value");
      return std::string(arguments[i]);
    };
    if (name == "--seed") {
      options.seed = number(value());
    } else if (name == "--runs") {
      options.runs = number(value());
    } else if (name == "--seconds") {
      options.time = std::chrono::seconds(number(value()));
    } else if (name == "--jobs") {
      options.jobs = static_cast<unsigned>(std::max<std::uint64_t>(1, number(value())));
    } else if (name == "--table") {
      options.table = value();
    } else if (name == "--only") {
      std::istringstream names(value());
      for (std::string one; std::getline(names, one, ',');) options.only.push_back(one);
    } else if (name == "--long") {
      options.many = true;
    } else if (name == "--list") {
      options.list = true;
    } else {
      misused("unknown argument '" + name + "'");
    }
  }
  return options;
}

std::vector<Fault> chosen(const Options& options) {
  std::vector<Fault> faults = all_faults();
  for (const std::string& name : options.only) {
    if (std::ranges::find(faults, name, &Fault::name) == faults.end())
      misused("no fault is called '" + name + "'; --list names them");
  }
  if (!options.only.empty()) {
    std::erase_if(faults, [&](const Fault& fault) {
      return std::ranges::find(options.only, fault.name) == options.only.end();
    });
  }
  return faults;
}

int run(const Options& options) {
  const std::vector<Fault> faults = chosen(options);
  if (options.list) {
    for (const Fault& fault : faults) std::cout << fault.name << "\t" << fault.breaks << '\n';
    return 0;
  }
  std::vector<Track> tracks;
  for (const Fault& fault : faults) {
    tracks.push_back({.fault = &fault});
    tracks.back().runs = options.runs != 0 ? options.runs : options.many ? fault.many : fault.few;
  }
  const bool held = run_all(tracks, options);
  if (!options.table.empty()) std::ofstream(options.table) << table_of(tracks);
  return held ? 0 : 1;
}

}  // namespace
}  // namespace praxis::faults

int main(int count, char** arguments) {
  return praxis::faults::run(praxis::faults::options_of(count, arguments));
}
