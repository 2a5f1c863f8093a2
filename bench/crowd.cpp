// Measures a crowd of clients: the memory of each observer, by how much observers slow down the sessions that
// they watch, and what is left for others while many clients send or read next to nothing.
// Usage: praxis_crowd_bench [OBSERVERS [SESSIONS [HOSTILE]]], 10000, 100 and 1000 unless given; HOSTILE is
// the number of clients that send a byte a second, and of those that never read. Sessions run alone and with
// the crowd in turn; a round ends when the last observer has seen the end of its session. Exits with 1 if an
// observer takes more than 16 KiB or a request of others fails.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "served.hpp"
#include "server/load.hpp"

namespace {

using namespace praxis;
using namespace praxis::bench;
using namespace std::chrono_literals;

constexpr int kRounds = 3;
constexpr int kPieces = 50;                              // of each answer
constexpr auto kPause = std::chrono::milliseconds(100);  // between two pieces, as a fast model makes
constexpr double kMostMemory = 16 * 1024;                // bytes for each observer
constexpr int kHostileSeconds = 40;  // longer than the server waits for a request or a reader

// ---- observers

struct Figures {
  double seconds = 0;  ///< until all sessions had answered
  double memory = 0;   ///< bytes for each observer when all have subscribed
  double peak = 0;     ///< the same while the sessions run
};

/// Waits until a run has answered; returns the most memory that the process had meanwhile.
std::uint64_t wait_for_end(Connection& connection, const std::string& run) {
  std::uint64_t most = 0;
  while (true) {
    connection.ask("GET /api/v1/runs/" + run);
    most = std::max(most, server::resident_memory());
    if (json_string(must(parse_json(connection.answer())), "status") == "completed") return most;
    std::this_thread::sleep_for(10ms);
  }
}

Figures measure(const Place& place, int observers, int sessions) {
  static int rounds = 0;
  PacedModel model(kPieces, kPause);
  model.may_answer = false;
  const auto server = place.serve("crowd-" + std::to_string(++rounds) + ".db");
  std::vector<std::string> runs;
  std::string paths;
  for (int i = 0; i < sessions; ++i) {
    runs.push_back(new_run(server->port(), "live"));
    paths += " /api/v1/runs/" + runs.back() + "/events";
  }
  const auto before = static_cast<double>(server::resident_memory());
  std::unique_ptr<Client> crowd;
  if (observers > 0) {
    crowd = std::make_unique<Client>("observe " + std::to_string(server->port()) + " " +
                                     std::to_string(observers) + " 'event: turn.completed'" + paths);
    crowd->until_ready();
  }
  Figures figures;
  figures.memory = static_cast<double>(server::resident_memory()) - before;
  Connection connection(server->port());
  const auto begun = Clock::now();
  model.may_answer = true;
  for (const std::string& run : runs)
    figures.peak = std::max(figures.peak, static_cast<double>(wait_for_end(connection, run)) - before);
  figures.seconds = seconds_since(begun);
  if (crowd) crowd->finish();
  return figures;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

bool crowd(const Place& place, int observers, int sessions) {
  std::vector<double> alone, ratios, memory, peaks;
  for (int i = 0; i < kRounds; ++i) {
    const Figures without = measure(place, 0, sessions), with = measure(place, observers, sessions);
    alone.push_back(without.seconds);
    ratios.push_back(with.seconds / without.seconds);
    memory.push_back(with.memory / observers);
    peaks.push_back((with.peak - without.peak) / observers);
  }
  std::printf(
      "  %d observers of %d sessions: %.1f KiB of memory for each (median of %d), %.1f while events come\n",
      observers, sessions, median(memory) / 1024, kRounds, median(peaks) / 1024);
  std::printf(
      "  the sessions with their observers: %.2f x the time of the sessions alone (%.2f s), %.2f to %.2f\n",
      median(ratios), median(alone), std::ranges::min(ratios), std::ranges::max(ratios));
  return median(memory) <= kMostMemory;
}

// ---- clients that take and give nothing

/// Keeps `count` connections on which `step` is called once a second, for a time; those that the server ends
/// are replaced.
template <class Begin, class Step>
int keep_connections(std::uint16_t port, int count, Begin begin, Step step) {
  std::vector<std::unique_ptr<Connection>> all(static_cast<std::size_t>(count));
  const auto until = Clock::now() + std::chrono::seconds(kHostileSeconds);
  int replaced = -count;
  bool is_ready = false;
  for (auto next = Clock::now(); Clock::now() < until; next += 1s) {
    for (auto& connection : all) {
      if (connection && step(*connection)) continue;
      ++replaced;
      connection = std::make_unique<Connection>(port);
      begin(*connection);
    }
    if (!std::exchange(is_ready, true)) {
      std::puts("ready");
      std::fflush(stdout);
    }
    std::this_thread::sleep_until(next + 1s);
  }
  std::printf("%d\n", replaced);
  return 0;
}

bool send_some(Connection& connection, std::string_view bytes) {
  return send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

/// Clients that send a request a byte a second.
int drip(std::uint16_t port, int count) {
  return keep_connections(
      port, count, [](Connection& made) { send_some(made, "GET /healthz HTTP/1.1\r\nX-Slow: "); },
      [](Connection& connection) { return send_some(connection, "a"); });
}

/// Clients that ask for much and read nothing. `path` is of a long answer.
int never_read(std::uint16_t port, int count, const std::string& path) {
  const auto is_open = [](Connection& connection) {
    pollfd asked{connection.fd(), 0, 0};
    return poll(&asked, 1, 0) == 0;
  };
  const auto ask = [&path](Connection& made) {
    const int small = 4096;
    setsockopt(made.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 200; ++i) made.ask("GET " + path);
  };
  return keep_connections(port, count, ask, is_open);
}

struct Served {
  std::vector<double> answers, runs;  ///< seconds
  double memory = 0;
};

/// Asks for a run, and makes whole runs, until the time is over.
Served serve_others(std::uint16_t port, const std::string& run, double seconds) {
  Served served;
  Connection connection(port);
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  for (int i = 0; Clock::now() < until; ++i) {
    auto begun = Clock::now();
    connection.ask("GET /agent/" + run);
    must(parse_json(connection.answer()));
    served.answers.push_back(seconds_since(begun));
    if (i % 10 == 0) {
      begun = Clock::now();
      Connection events(port);
      events.ask("GET /api/v1/runs/" + new_run(port, "chat") + "/events");
      events.read_until("event: turn.completed");
      served.runs.push_back(seconds_since(begun));
    }
    served.memory = std::max(served.memory, static_cast<double>(server::resident_memory()));
    std::this_thread::sleep_for(20ms);
  }
  std::ranges::sort(served.answers);
  std::ranges::sort(served.runs);
  return served;
}

void print(const char* when, const Served& served) {
  const auto at = [](const std::vector<double>& sorted, std::size_t percent) {
    return sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)] * 1e3;
  };
  std::printf(
      "  %s: GET /agent/:id %.1f ms (median), %.1f (99 %%), %.1f (worst of %zu); a whole run %.0f ms, worst "
      "of %zu %.0f\n",
      when, at(served.answers, 50), at(served.answers, 99), served.answers.back() * 1e3,
      served.answers.size(), at(served.runs, 50), served.runs.size(), served.runs.back() * 1e3);
}

void hostile(const Place& place, int clients) {
  const auto server = place.serve("hostile.db");
  const std::string run = new_run(server->port(), "chat");
  print("without such clients", serve_others(server->port(), run, 5));
  const auto before = static_cast<double>(server::resident_memory());
  const std::string where = std::to_string(server->port()) + " " + std::to_string(clients);
  Client slow("drip " + where), deaf("never-read " + where + " /api/v1/openapi.json");
  slow.until_ready();
  deaf.until_ready();
  const Served served = serve_others(server->port(), run, kHostileSeconds - 5);
  std::printf(
      "  %d clients that send a byte a second, %d that never read: dropped and come again %s and %s; %.0f "
      "MiB of memory\n",
      clients, clients, slow.line().c_str(), deaf.line().c_str(), (served.memory - before) / 1024 / 1024);
  print("next to them", served);
}

/// The work of a client process.
int client_main(const std::vector<std::string>& words) {
  const auto port = static_cast<std::uint16_t>(std::atoi(words.at(1).c_str()));
  const int count = std::atoi(words.at(2).c_str());
  if (words[0] == "observe") return observe(port, count, words.at(3), {words.begin() + 4, words.end()});
  return words[0] == "drip" ? drip(port, count) : never_read(port, count, words.at(3));
}

}  // namespace

int main(int argc, char** argv) {
  allow_many_files();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && std::isdigit(static_cast<unsigned char>(words[0][0])) == 0) return client_main(words);
  const auto number = [&](std::size_t at, int fallback) {
    return words.size() > at ? std::atoi(words[at].c_str()) : fallback;
  };
  const int observers = number(0, 10'000), sessions = number(1, 100), clients = number(2, 1'000);
  if (observers < 1 || sessions < 1 || clients < 1) {
    std::fputs("praxis_crowd_bench: OBSERVERS, SESSIONS and HOSTILE must be at least 1\n", stderr);
    return 2;
  }
  const Place place;
  const bool is_small = crowd(place, observers, sessions);
  hostile(place, clients);
  if (!is_small) std::fputs("praxis_crowd_bench: an observer takes more than 16 KiB\n", stderr);
  return is_small ? 0 : 1;
}
