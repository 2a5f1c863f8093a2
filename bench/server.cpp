// Measures the server against floors in the same run: an answer against one of a bare Beast server, an event
// to many observers against one write, a whole run over HTTP against one in process, and the time from the
// model's first byte to the client's first event. Prints one line per figure.
#include "app/open_runtime.hpp"
#include "served.hpp"

namespace {

using namespace praxis;
using namespace praxis::bench;

/// CPU that this process has used, in seconds.
double cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Creates runs one after the other and follows each to its end.
int follow_runs(std::uint16_t port, int count, const std::string& agent) {
  for (int i = 0; i < count; ++i) {
    Connection events(port);
    events.ask("GET /api/v1/runs/" + new_run(port, agent) + "/events");
    events.read_until("event: turn.completed");
  }
  return 0;
}

// ---- the figures

/// Seconds for one answer over a kept connection.
double time_of_answer(std::uint16_t port, const std::string& path, int count) {
  Connection connection(port);
  const auto begun = Clock::now();
  for (int i = 0; i < count; ++i) {
    connection.ask("GET " + path);
    connection.answer();
  }
  return seconds_since(begun) / count;
}

/// The same from a bare Beast server whose answers have a body of `size` bytes.
double floor_of_answer(std::size_t size, int count) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  std::jthread thread([&] {
    Tcp::socket socket = acceptor.accept();
    beast::flat_buffer buffer;
    for (int i = 0; i < count; ++i) {
      beast::http::request<beast::http::string_body> request;
      beast::http::read(socket, buffer, request);
      beast::http::response<beast::http::string_body> answer{beast::http::status::ok, 11};
      answer.set(beast::http::field::content_type, "application/json");
      answer.body().assign(size, 'x');
      answer.prepare_payload();
      beast::http::write(socket, answer);
    }
  });
  return time_of_answer(acceptor.local_endpoint().port(), "/", count);
}

void answers(const Place& place) {
  constexpr int kCount = 5'000;
  const auto server = place.serve("answers.db");
  const std::string run = new_run(server->port(), "chat");
  Connection connection(server->port());
  connection.ask("GET /api/v1/runs/" + run + "/events");
  connection.read_until("event: turn.completed");
  Connection once(server->port());
  once.ask("GET /agent/" + run);
  const double floor = floor_of_answer(once.answer().size(), kCount);
  const double praxis = time_of_answer(server->port(), "/agent/" + run, kCount);
  std::printf("  GET /agent/:id: %.1f µs, %.1f x of a bare Beast answer (%.1f µs)\n", praxis * 1e6,
              praxis / floor, floor * 1e6);
}

/// CPU of this process for a run with `pieces` pieces and so many observers.
double cpu_of_observed(const Place& place, int pieces, int observers) {
  PacedModel model(pieces, std::chrono::microseconds(500));
  model.may_answer = false;
  const auto server = place.serve("observed-" + std::to_string(observers) + ".db");
  const std::string run = new_run(server->port(), "live");
  Client client("observe " + std::to_string(server->port()) + " " + std::to_string(observers) +
                " 'event: turn.completed' /api/v1/runs/" + run + "/events");
  client.until_ready();
  const double begun = cpu();
  model.may_answer = true;
  client.finish();
  return cpu() - begun;
}

/// CPU for writing an event of this size to one socket.
double cpu_of_write(int count) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  Client client("drain " + std::to_string(acceptor.local_endpoint().port()));
  Tcp::socket socket = acceptor.accept();
  const std::string event(250, 'x');
  const double begun = cpu();
  for (int i = 0; i < count; ++i) {
    boost::asio::write(socket, boost::asio::buffer(event));
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const double used = cpu() - begun;
  socket.close();
  return used / count;
}

void observers(const Place& place) {
  constexpr int kPieces = 2'000, kObservers = 100;
  const double alone = cpu_of_observed(place, kPieces, 1),
               crowd = cpu_of_observed(place, kPieces, kObservers);
  const double each = (crowd - alone) / kPieces, floor = cpu_of_write(5'000);
  std::printf(
      "  a delta to %d observers: %.0f µs of CPU, %.0f x of writing it once (%.1f µs); the run alone %.0f "
      "µs\n",
      kObservers, each * 1e6, each / floor, floor * 1e6, alone / kPieces * 1e6);
}

void whole_runs(const Place& place) {
  constexpr int kRuns = 300;
  const app::Workspace workspace = place.workspace("inside.db");
  const auto runtime = must(app::open_runtime(workspace, {}));
  const Agent agent = Agent("", "").model(
      must(script_model(R"({"text":"Hello there."})", "bench", runtime->model_services().executor)));
  double begun = cpu();
  for (int i = 0; i < kRuns; ++i) must(runtime->run_once(agent, "go"));
  const double inside = (cpu() - begun) / kRuns;
  const auto server = place.serve("outside.db");
  begun = cpu();
  Client("runs " + std::to_string(server->port()) + " " + std::to_string(kRuns) + " chat").finish();
  const double outside = (cpu() - begun) / kRuns;
  std::printf("  a whole run: %.0f µs of CPU in process, %.0f µs over HTTP (created, streamed, finished)\n",
              inside * 1e6, outside * 1e6);
}

void first_event(const Place& place) {
  PacedModel model(1, std::chrono::microseconds(0));
  const auto server = place.serve("first.db");
  std::vector<double> waits;
  for (int i = 0; i < 30; ++i) {
    model.may_answer = false;
    Connection events(server->port());
    events.ask("GET /api/v1/runs/" + new_run(server->port(), "live") + "/events");
    events.read_until("model.requested");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the stream is caught up
    model.may_answer = true;
    events.read_until("text.delta");
    waits.push_back(static_cast<double>(Clock::now().time_since_epoch().count() - model.first_byte) / 1e6);
    events.read_until("turn.completed");
  }
  std::ranges::sort(waits);
  std::printf(
      "  from the model's first byte to the client's first event: %.2f ms (median), %.2f ms (worst of %zu)\n",
      waits[waits.size() / 2], waits.back(), waits.size());
}

/// The work of a client process.
int client_main(const std::vector<std::string>& words) {
  const auto port = static_cast<std::uint16_t>(std::atoi(words.at(1).c_str()));
  if (words[0] == "observe")
    return observe(port, std::atoi(words.at(2).c_str()), words.at(3), {words.begin() + 4, words.end()});
  if (words[0] == "runs") return follow_runs(port, std::atoi(words.at(2).c_str()), words.at(3));
  Connection connection(port);  // drain
  std::array<char, 65536> more;
  while (read(connection.fd(), more.data(), more.size()) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  allow_many_files();
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty()) return client_main(words);
  const Place place;
  answers(place);
  observers(place);
  whole_runs(place);
  first_event(place);
}
