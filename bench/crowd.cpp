// Measures a crowd of observers: the memory of each, and by how much they slow down the sessions that they
// watch. Usage: praxis_crowd_bench [OBSERVERS [SESSIONS]], 10000 and 100 unless given. Sessions run alone
// first, then with the crowd; it ends when the last observer has seen the end of its session.
#include "served.hpp"
#include "server/load.hpp"

namespace {

using namespace praxis;
using namespace praxis::bench;

constexpr int kPieces = 200;                           // of each answer
constexpr auto kPause = std::chrono::milliseconds(1);  // between two pieces

struct Figures {
  double seconds = 0;  ///< until all sessions had answered
  double memory = 0;   ///< bytes for each observer
};

/// Waits until a run has answered.
void wait_for_end(Connection& connection, const std::string& run) {
  while (true) {
    connection.ask("GET /api/v1/runs/" + run);
    if (json_string(must(parse_json(connection.answer())), "status") == "completed") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Figures measure(const Place& place, int observers, int sessions) {
  PacedModel model(kPieces, kPause);
  model.may_answer = false;
  const auto server = place.serve("crowd-" + std::to_string(observers) + ".db");
  std::vector<std::string> runs;
  std::string paths;
  for (int i = 0; i < sessions; ++i) {
    runs.push_back(new_run(server->port(), "live"));
    paths += " /api/v1/runs/" + runs.back() + "/events";
  }
  const auto before = server::resident_memory();
  std::unique_ptr<Client> crowd;
  if (observers > 0) {
    crowd = std::make_unique<Client>("observe " + std::to_string(server->port()) + " " +
                                     std::to_string(observers) + " 'event: turn.completed'" + paths);
    crowd->until_ready();
  }
  Figures figures;
  if (observers > 0) figures.memory = static_cast<double>(server::resident_memory() - before) / observers;
  Connection connection(server->port());
  const auto begun = Clock::now();
  model.may_answer = true;
  for (const std::string& run : runs) wait_for_end(connection, run);
  figures.seconds = seconds_since(begun);
  if (crowd) crowd->finish();
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  allow_many_files();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "observe") {
    return observe(static_cast<std::uint16_t>(std::atoi(words.at(1).c_str())), std::atoi(words.at(2).c_str()),
                   words.at(3), {words.begin() + 4, words.end()});
  }
  const int observers = words.empty() ? 10'000 : std::atoi(words[0].c_str());
  const int sessions = words.size() < 2 ? 100 : std::atoi(words[1].c_str());
  if (observers < 1 || sessions < 1) {
    std::fputs("praxis_crowd_bench: OBSERVERS and SESSIONS must be at least 1\n", stderr);
    return 2;
  }
  const Place place;
  const Figures alone = measure(place, 0, sessions), crowd = measure(place, observers, sessions);
  std::printf("  %d observers of %d sessions: %.1f KiB of memory for each\n", observers, sessions,
              crowd.memory / 1024);
  std::printf("  the sessions with their observers: %.2f x the time of the sessions alone (%.2f s)\n",
              crowd.seconds / alone.seconds, alone.seconds);
}
