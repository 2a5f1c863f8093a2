// One connection of a client to the HTTP server: requests are read one after another, each answered before
// the next.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "base/file_descriptor.hpp"
#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/http_request_parser.hpp"
#include "net/reply_queue.hpp"
#include "net/web_socket.hpp"

namespace praxis {

class ServerConnection;

/// What connections need of their server, on the I/O thread.
class ConnectionHost {
 public:
  virtual const HttpServerOptions& options() const = 0;
  virtual EventLoop& loop() = 0;
  virtual Deadlines& deadlines() = 0;
  /// Scratch memory, valid until control returns to the event loop.
  virtual std::span<char> buffer() = 0;
  virtual bool draining() const = 0;
  virtual void handle(ReceivedRequest request, HttpReply reply) = 0;
  /// Runs `task` on the I/O thread; from any thread.
  virtual void post(Task task) = 0;
  /// The connection has closed; drops the host's reference.
  virtual void forget(const ServerConnection& connection) = 0;

 protected:
  ~ConnectionHost() = default;
};

/// All its code runs on the I/O thread.
class ServerConnection final : public Timed,
                               public EventLoop::Watcher,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(std::shared_ptr<ConnectionHost> host, FileDescriptor socket);
  ~ServerConnection() override;
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Begins to read. Closes at once if the event loop refuses the socket.
  void start();
  /// Answers 503 and closes: the server has no place for it.
  void turn_away();
  /// Closes after the answer in progress; at once without one.
  void drain();
  void close();

 private:
  enum class Phase : std::uint8_t {
    kHandshake,  ///< of TLS
    kIdle,       ///< waits for the first byte of a request
    kReading,    ///< a request has begun
    kAnswering,  ///< waits for the answer, or sends it; as a WebSocket also reads
    kLingering,  ///< everything is sent; reads what the client still sends, so that it gets the answer
    kClosed
  };

  void on_ready(Readiness ready) override;
  void on_deadline() override;
  void limit(std::chrono::milliseconds from_now);

  void shake_hands();
  void begin_requests();
  void read();
  void take(std::string_view bytes);
  void parse();
  void dispatch();
  void refuse(int status, std::string reason);
  ReplyQueue& new_reply(ReplyQueue::Question question);
  void flush();
  bool write_some();
  void on_answered(bool ends);
  void linger();
  void end_output();
  bool may_read() const;
  void begin_frames();
  void take_frames(std::string_view bytes);
  void on_silence();

  std::shared_ptr<ConnectionHost> host_;
  FileDescriptor socket_;
  ByteStream stream_;
  Phase phase_ = Phase::kIdle;
  bool readable_ = false;      ///< the socket may hold unread bytes
  bool input_ended_ = false;   ///< the client sends no more
  bool output_ended_ = false;  ///< the client knows that we send no more
  bool is_turned_away_ = false;
  std::size_t lingered_ = 0;  ///< bytes read while lingering

  std::string pending_;  ///< received and not yet parsed
  std::optional<RequestParser> parser_;
  std::shared_ptr<ReplyQueue> reply_;
  std::optional<WebSocketReader> frames_;  ///< of the client, once the connection has become a WebSocket
  bool has_pinged_ = false;                ///< and heard nothing since
  bool is_blocked_ = false;                ///< the socket takes no more at present
  std::vector<SharedBytes> out_;
  std::size_t next_out_ = 0, sent_of_next_ = 0;
  bool last_out_ = false, ends_ = false;  ///< as in `Outgoing`
};

}  // namespace praxis
