#include "net/http_server_connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLingerTime{2'000};
constexpr std::size_t kMaxLingered = 1024 * 1024;

HttpAnswer plain_refusal(int status, const std::string& reason) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, reason + "\n"};
}

/// Whether nothing can be sent any more. A client that has only ended its own half still reads.
bool is_broken(int socket) {
  pollfd asked{socket, 0, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

ServerConnection::ServerConnection(std::shared_ptr<ConnectionHost> host, FileDescriptor socket)
    : host_(std::move(host)), socket_(std::move(socket)), stream_(socket_.get()) {}

ServerConnection::~ServerConnection() {
  if (reply_) reply_->leave();
}

void ServerConnection::start() {
  if (!host_->loop().watch(socket_.get(), *this)) return close();
  const auto& tls = host_->options().tls;
  if (!tls) return begin_requests();
  phase_ = Phase::kHandshake;
  if (auto started = stream_.start_tls(*tls); !started) return close();
  limit(host_->options().request_time);
}

void ServerConnection::begin_requests() {
  phase_ = Phase::kIdle;
  if (is_turned_away_) return refuse(503, "the server has no free connection");
  limit(host_->options().idle_time);
}

void ServerConnection::turn_away() {
  is_turned_away_ = true;
  start();
}

void ServerConnection::drain() {
  if (phase_ == Phase::kIdle || phase_ == Phase::kHandshake) return close();
  if (reply_) reply_->end_connection();
}

void ServerConnection::on_ready(Readiness ready) {
  const auto self = shared_from_this();
  input_ended_ = input_ended_ || ready.ended;
  // TLS may have to read in order to write, and to write in order to read.
  readable_ = readable_ || ready.readable || ready.ended || stream_.is_tls();
  if (phase_ == Phase::kHandshake) shake_hands();
  if (phase_ == Phase::kAnswering && (ready.writable || stream_.is_tls())) flush();
  if (phase_ == Phase::kLingering && ready.writable) end_output();
  if (phase_ == Phase::kAnswering && ready.ended && !frames_ && reply_ && reply_->streams()) {
    if (is_broken(socket_.get())) return close();
    reply_->probe();
  }
  if (may_read() && readable_) read();
}

void ServerConnection::shake_hands() {
  static constexpr std::string_view kPlainHttp =
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
      "This port speaks TLS: the address begins with https.\n";
  switch (stream_.handshake().state) {
    case IoState::kOk:
      return begin_requests();
    case IoState::kWantRead:
    case IoState::kWantWrite:
      return;
    case IoState::kEnd:
    case IoState::kFailed:
      if (stream_.got_plain_http())
        std::ignore = ::send(socket_.get(), kPlainHttp.data(), kPlainHttp.size(), MSG_NOSIGNAL);
      return close();
  }
}

bool ServerConnection::may_read() const {
  if (phase_ == Phase::kAnswering) return frames_.has_value();
  return phase_ != Phase::kHandshake && phase_ != Phase::kClosed;
}

// Reads until the socket is empty, or a request is complete: the next one waits until that is answered.
void ServerConnection::read() {
  while (may_read()) {
    const std::span<char> buffer = host_->buffer();
    const IoResult result = stream_.read(buffer);
    if (result.state == IoState::kOk) {
      take({buffer.data(), result.bytes});
      if (stream_.has_drained() && !input_ended_ && may_read()) {
        readable_ = false;
        return;
      }
      continue;
    }
    readable_ = false;
    if (result.state == IoState::kEnd || result.state == IoState::kFailed) close();
    return;
  }
}

void ServerConnection::take(std::string_view bytes) {
  if (phase_ == Phase::kLingering) {
    lingered_ += bytes.size();
    if (lingered_ > kMaxLingered) close();
    return;
  }
  if (frames_) return take_frames(bytes);
  pending_ += bytes;
  parse();
}

void ServerConnection::parse() {
  if (pending_.empty()) return;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kReading;
    parser_.emplace(host_->options().bounds);
    limit(host_->options().request_time);
  }
  const bool had_head = parser_->state() != RequestParser::State::kHead;
  pending_.erase(0, parser_->feed(pending_));
  switch (parser_->state()) {
    case RequestParser::State::kHead:
      if (pending_.size() > host_->options().bounds.head_bytes)
        refuse(431, "the head of the request is too large");
      return;
    case RequestParser::State::kBody: {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      if (!had_head && parser_->request().wants_continue) stream_.write(kContinue, {}, host_->buffer());
      return;
    }
    case RequestParser::State::kDone:
      return dispatch();
    case RequestParser::State::kFailed:
      return refuse(parser_->status(), parser_->reason());
  }
}

ReplyQueue& ServerConnection::new_reply(ReplyQueue::Question question) {
  phase_ = Phase::kAnswering;
  last_out_ = ends_ = false;
  host_->deadlines().drop(*this);  // how long an answer takes is not the client's doing
  reply_ = std::make_shared<ReplyQueue>(question, [host = host_, weak = weak_from_this()] {
    host->post([weak] {
      if (const auto self = weak.lock()) self->flush();
    });
  });
  return *reply_;
}

void ServerConnection::dispatch() {
  ReceivedRequest request = std::move(parser_->request());
  parser_.reset();
  new_reply({request.method == "HEAD", request.keep_alive && !request.is_http_1_0 && !host_->draining()});
  // The handler's copies keep the queue; the last one to go without an answer leaves 500. It drops the queue
  // itself: this function lives as long as weak references, and the queue keeps the host with its options.
  const std::shared_ptr<ReplyQueue> guarded(reply_.get(), [queue = reply_](ReplyQueue*) mutable {
    queue->send(plain_refusal(500, "the request was not answered"));
    queue->finish();
    queue.reset();
  });
  host_->handle(std::move(request), HttpReply(guarded));
}

// `reason` is a copy, because the parser may hold the original.
void ServerConnection::refuse(int status,
                              std::string reason) {  // NOLINT(performance-unnecessary-value-param)
  parser_.reset();
  const auto& refusal = host_->options().refuse;
  new_reply({false, false}).send(refusal ? refusal(status, reason) : plain_refusal(status, reason));
}

void ServerConnection::flush() {
  if (phase_ != Phase::kAnswering || !reply_) return;
  while (true) {
    if (next_out_ == out_.size()) {
      Outgoing more = reply_->take();
      out_ = std::move(more.bytes);
      next_out_ = 0;
      last_out_ = more.finished;
      ends_ = more.ends_connection;
      if (!frames_ && reply_->is_socket()) begin_frames();
      if (out_.empty()) {
        if (last_out_) return on_answered(ends_);
        is_blocked_ = false;
        return frames_ ? limit(host_->options().idle_time / 2) : host_->deadlines().drop(*this);
      }
    }
    if (!write_some()) return;
  }
}

// Returns false when the socket accepts no more, or has failed.
bool ServerConnection::write_some() {
  const std::string_view first = std::string_view(*out_[next_out_]).substr(sent_of_next_);
  const bool has_second = next_out_ + 1 < out_.size();
  const std::string_view second = has_second ? std::string_view(*out_[next_out_ + 1]) : std::string_view();
  const IoResult result = stream_.write(first, second, host_->buffer());
  if (result.state == IoState::kFailed || result.state == IoState::kEnd) {
    close();
    return false;
  }
  reply_->sent(result.bytes);
  for (std::size_t left = result.bytes; left > 0;) {
    const std::size_t rest = out_[next_out_]->size() - sent_of_next_;
    const std::size_t step = std::min(left, rest);
    left -= step;
    sent_of_next_ += step;
    if (step < rest) continue;
    out_[next_out_++].reset();
    sent_of_next_ = 0;
  }
  if (result.state == IoState::kOk) return true;
  is_blocked_ = true;
  limit(host_->options().write_time);
  return false;
}

void ServerConnection::on_answered(bool ends) {
  reply_->leave();
  reply_.reset();
  frames_.reset();
  out_.clear();
  next_out_ = 0;
  if (ends || host_->draining()) return linger();
  phase_ = Phase::kIdle;
  limit(host_->options().idle_time);
  parse();
  if (may_read() && readable_) read();
}

// ---- WebSocket

void ServerConnection::begin_frames() {
  frames_.emplace(host_->options().message_bytes);
  take_frames(std::exchange(pending_, {}));
  // Reading may end the connection, which is sending now.
  host_->post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->may_read() && self->readable_) self->read();
  });
}

void ServerConnection::take_frames(std::string_view bytes) {
  constexpr std::size_t kPongsUpTo = 64 * 1024;  // bytes that the client has not taken
  const auto shared = [](std::string text) { return std::make_shared<const std::string>(std::move(text)); };
  has_pinged_ = false;
  if (!is_blocked_) limit(host_->options().idle_time / 2);
  for (const WebSocketReader::Message& message : frames_->feed(bytes)) {
    if (message.kind == WebSocketReader::Kind::kPing && reply_->waiting() < kPongsUpTo)
      reply_->write(shared(pong_frame(message.payload)));
    if (message.kind == WebSocketReader::Kind::kClose)
      reply_->finish(shared(close_frame(CloseCode::kNormal, "")));
  }
  if (frames_->failed()) reply_->finish(shared(close_frame(frames_->code(), frames_->reason())));
}

void ServerConnection::on_silence() {
  if (is_blocked_ || std::exchange(has_pinged_, true)) return close();
  reply_->write(std::make_shared<const std::string>(ping_frame("")));
  limit(host_->options().idle_time / 2);
}

// Closing a socket with unread bytes resets the connection, and the client may lose the answer.
void ServerConnection::linger() {
  phase_ = Phase::kLingering;
  limit(kLingerTime);
  end_output();
  read();
}

void ServerConnection::end_output() {
  if (!output_ended_) output_ended_ = stream_.end_output().state != IoState::kWantWrite;
}

void ServerConnection::limit(std::chrono::milliseconds from_now) {
  host_->deadlines().set(*this, Clock::now() + from_now);
}

void ServerConnection::on_deadline() {
  const auto self = shared_from_this();
  if (phase_ == Phase::kReading) return refuse(408, "the request did not arrive in time");
  if (phase_ == Phase::kAnswering && frames_) return on_silence();
  close();
}

void ServerConnection::close() {
  if (std::exchange(phase_, Phase::kClosed) == Phase::kClosed) return;
  const auto self = shared_from_this();
  host_->deadlines().drop(*this);
  host_->loop().unwatch(socket_.get(), *this);
  socket_.reset();
  if (reply_) std::exchange(reply_, nullptr)->leave();
  host_->forget(*this);
}

}  // namespace praxis
