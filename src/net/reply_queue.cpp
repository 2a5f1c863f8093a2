#include "net/reply_queue.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string>
#include <utility>

#include "net/http_request.hpp"
#include "net/web_socket.hpp"

namespace praxis {
namespace {

// RFC 9110, 15; RFC 6585.
struct Phrase {
  int status;
  std::string_view text;
};
constexpr std::array kPhrases{Phrase{100, "Continue"},
                              Phrase{101, "Switching Protocols"},
                              Phrase{200, "OK"},
                              Phrase{201, "Created"},
                              Phrase{202, "Accepted"},
                              Phrase{204, "No Content"},
                              Phrase{206, "Partial Content"},
                              Phrase{304, "Not Modified"},
                              Phrase{400, "Bad Request"},
                              Phrase{401, "Unauthorized"},
                              Phrase{403, "Forbidden"},
                              Phrase{404, "Not Found"},
                              Phrase{405, "Method Not Allowed"},
                              Phrase{406, "Not Acceptable"},
                              Phrase{408, "Request Timeout"},
                              Phrase{409, "Conflict"},
                              Phrase{411, "Length Required"},
                              Phrase{413, "Content Too Large"},
                              Phrase{415, "Unsupported Media Type"},
                              Phrase{416, "Range Not Satisfiable"},
                              Phrase{417, "Expectation Failed"},
                              Phrase{421, "Misdirected Request"},
                              Phrase{422, "Unprocessable Content"},
                              Phrase{426, "Upgrade Required"},
                              Phrase{429, "Too Many Requests"},
                              Phrase{431, "Request Header Fields Too Large"},
                              Phrase{500, "Internal Server Error"},
                              Phrase{501, "Not Implemented"},
                              Phrase{503, "Service Unavailable"},
                              Phrase{505, "HTTP Version Not Supported"}};

// RFC 9110, 5.6.7; independent of the locale.
std::string http_date(std::time_t now) {
  static constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  ::gmtime_r(&now, &t);
  const auto two = [](int n) {
    return std::string(1, static_cast<char>('0' + n / 10)) + static_cast<char>('0' + n % 10);
  };
  return std::string(kDays[static_cast<std::size_t>(t.tm_wday)]) + ", " + two(t.tm_mday) + " " +
         kMonths[static_cast<std::size_t>(t.tm_mon)] + " " + std::to_string(t.tm_year + 1900) + " " +
         two(t.tm_hour) + ":" + two(t.tm_min) + ":" + two(t.tm_sec) + " GMT";
}

bool has_no_body(int status) { return status / 100 == 1 || status == 204 || status == 304; }

std::string head_of(int status, const HttpHeaders& headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
  head.append(status_phrase(status)).append("\r\n");
  for (const auto& [name, value] : headers) {
    if (is_token(name) && is_field_value(value)) append_header(head, name, value);
  }
  append_header(head, "Date", http_date(std::time(nullptr)));
  return head;
}

}  // namespace

std::string_view status_phrase(int status) {
  const auto* const found = std::ranges::find(kPhrases, status, &Phrase::status);
  return found == kPhrases.end() ? "" : found->text;
}

void ReplyQueue::push(std::unique_lock<std::mutex> lock, SharedBytes bytes) {
  if (bytes && !bytes->empty()) {
    waiting_ += bytes->size();
    queue_.push_back(std::move(bytes));
  }
  if (std::exchange(woken_, true)) return;
  lock.unlock();
  wake_();
}

void ReplyQueue::add_headers(HttpHeaders headers) {
  const std::lock_guard lock(mutex_);
  added_.insert(added_.end(), std::make_move_iterator(headers.begin()),
                std::make_move_iterator(headers.end()));
}

void ReplyQueue::send(HttpAnswer answer) {
  std::unique_lock lock(mutex_);
  if (gone_ || std::exchange(begun_, true)) return;
  finished_ = true;
  question_.keep_alive = question_.keep_alive && !answer.ends_connection;
  for (auto& header : std::exchange(added_, {})) answer.headers.push_back(std::move(header));
  std::string text = head_of(answer.status, answer.headers);
  if (!has_no_body(answer.status)) append_header(text, "Content-Length", std::to_string(answer.body.size()));
  if (!question_.keep_alive) append_header(text, "Connection", "close");
  text += "\r\n";
  if (!question_.is_head && !has_no_body(answer.status)) text += answer.body;
  push(std::move(lock), std::make_shared<const std::string>(std::move(text)));
}

void ReplyQueue::begin(int status, const HttpHeaders& headers) {
  std::unique_lock lock(mutex_);
  if (gone_ || std::exchange(begun_, true)) return;
  finished_ = question_.is_head;
  push(std::move(lock), begun_with(status, headers, "close"));
}

void ReplyQueue::begin_socket(const std::string& key, const HttpHeaders& headers) {
  std::unique_lock lock(mutex_);
  if (gone_ || std::exchange(begun_, true)) return;
  is_socket_ = true;
  HttpHeaders all{{"Upgrade", "websocket"}, {"Sec-WebSocket-Accept", web_socket_accept(key)}};
  all.insert(all.end(), headers.begin(), headers.end());
  push(std::move(lock), begun_with(101, all, "Upgrade"));
}

SharedBytes ReplyQueue::begun_with(int status, const HttpHeaders& headers, std::string_view connection) {
  question_.keep_alive = false;
  streams_ = true;
  HttpHeaders all = std::exchange(added_, {});
  all.insert(all.begin(), headers.begin(), headers.end());
  std::string text = head_of(status, all);
  append_header(text, "Connection", connection);
  return std::make_shared<const std::string>(text + "\r\n");
}

bool ReplyQueue::write(SharedBytes bytes) {
  std::unique_lock lock(mutex_);
  if (gone_ || finished_ || !begun_) return false;
  push(std::move(lock), std::move(bytes));
  return true;
}

void ReplyQueue::finish(SharedBytes last) {
  std::unique_lock lock(mutex_);
  if (gone_ || !begun_ || std::exchange(finished_, true)) return;
  push(std::move(lock), std::move(last));
}

bool ReplyQueue::ended() const {
  const std::lock_guard lock(mutex_);
  return gone_ || finished_;
}

std::size_t ReplyQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void ReplyQueue::on_gone(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) return when_gone_.push_back(std::move(task));
  }
  task();
}

void ReplyQueue::probe_with(SharedBytes bytes) {
  const std::lock_guard lock(mutex_);
  probe_ = std::move(bytes);
}

void ReplyQueue::probe() {
  std::unique_lock lock(mutex_);
  if (gone_ || finished_ || !streams_ || !probe_) return;
  push(std::move(lock), std::exchange(probe_, nullptr));
}

Outgoing ReplyQueue::take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  return {std::exchange(queue_, {}), finished_, !question_.keep_alive};
}

void ReplyQueue::sent(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  waiting_ -= bytes;
}

void ReplyQueue::leave() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    queue_.clear();
    tasks = std::exchange(when_gone_, {});
  }
  for (Task& task : tasks) task();
}

void ReplyQueue::end_connection() {
  const std::lock_guard lock(mutex_);
  if (!begun_) question_.keep_alive = false;
}

bool ReplyQueue::streams() const {
  const std::lock_guard lock(mutex_);
  return streams_;
}

bool ReplyQueue::is_socket() const {
  const std::lock_guard lock(mutex_);
  return is_socket_;
}

void HttpReply::add_headers(HttpHeaders headers) const { queue_->add_headers(std::move(headers)); }
void HttpReply::send(HttpAnswer answer) const { queue_->send(std::move(answer)); }
void HttpReply::begin(int status, HttpHeaders headers) const { queue_->begin(status, headers); }
bool HttpReply::write(SharedBytes bytes) const { return queue_->write(std::move(bytes)); }
void HttpReply::begin_socket(const std::string& key, HttpHeaders headers) const {
  queue_->begin_socket(key, headers);
}
void HttpReply::finish(SharedBytes last) const { queue_->finish(std::move(last)); }
bool HttpReply::ended() const { return queue_->ended(); }
std::size_t HttpReply::waiting() const { return queue_->waiting(); }
void HttpReply::probe_with(SharedBytes bytes) const { queue_->probe_with(std::move(bytes)); }
void HttpReply::on_gone(Task task) const { queue_->on_gone(std::move(task)); }

}  // namespace praxis
