#include "server/relay_outbox.hpp"

#include <deque>

#include "app/read_program_json.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::server {
namespace {

/// Whether the text of a piece begins where that of another ends.
bool follows(const RemotePiece& before, const RemotePiece& after) {
  return continues(before.event, after.event) &&
         (!is_answer_piece(after.event.body) || before.at + delta_text(before.event)->size() == after.at);
}

/// Cuts a piece whose text is long in two; the second begins where the first ends.
RemotePiece cut_off(RemotePiece& piece) {
  RemotePiece rest = piece;
  std::string& text = *delta_text(piece.event);
  text.resize(utf8_head(text, text.size() / 2).size());
  delta_text(rest.event)->erase(0, text.size());
  if (is_answer_piece(piece.event.body)) rest.at += text.size();
  return rest;
}

std::string piece_text(const RemotePiece& piece) {
  JsonObject json{{"event", to_json(piece.event)}};
  if (piece.at > 0) json["at"] = piece.at;
  return to_json_text(json);
}

/// Puts texts of pieces together, as many as fit.
class Packer {
 public:
  Packer(const std::string& from, std::size_t most)
      : head_("{\"from\":" + to_json_text(Json(from))), most_(most) {}

  bool fits(const std::string& piece) const { return head_.size() + piece.size() + kFrame <= most_; }
  void add(const std::string& piece) {
    if (!body_.empty() && head_.size() + body_.size() + piece.size() + kFrame > most_) flush();
    body_ += (body_.empty() ? "" : ",") + piece;
  }
  std::vector<std::string> finish(bool has_records) {
    if (has_records || !body_.empty()) flush(has_records ? ",\"records\":true" : "");
    return std::move(texts_);
  }

 private:
  static constexpr std::size_t kFrame = 40;  // bytes of what is around the pieces

  void flush(std::string_view more = {}) {
    texts_.push_back(head_ + ",\"pieces\":[" + std::exchange(body_, {}) + "]" + std::string(more) + "}");
  }

  const std::string head_;
  const std::size_t most_;
  std::string body_;
  std::vector<std::string> texts_;
};

}  // namespace

// ---- what waits

bool RelayOutbox::push(const std::string& reader, RemotePiece piece) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = waiting_.empty();
    Waiting& waiting = waiting_[reader];
    const std::string* const text = delta_text(piece.event);
    const std::size_t bytes = text == nullptr ? 1 : text->size();
    if (waiting.bytes + bytes > kMostWaiting && !waiting.pieces.empty()) return false;
    waiting.bytes += bytes;
    std::vector<RemotePiece>& pieces = waiting.pieces[piece.event.agent.id];
    if (!pieces.empty() && text != nullptr && follows(pieces.back(), piece)) {
      *delta_text(pieces.back().event) += *text;
    } else {
      pieces.push_back(std::move(piece));
    }
  }
  if (is_first) on_first_();
  return true;
}

void RelayOutbox::note_record(const std::string& reader) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    is_first = waiting_.empty();
    waiting_[reader].has_records = true;
  }
  if (is_first) on_first_();
}

bool RelayOutbox::is_empty(const std::string& reader) {
  const std::lock_guard lock(mutex_);
  return !waiting_.contains(reader);
}

bool RelayOutbox::is_empty() {
  const std::lock_guard lock(mutex_);
  return waiting_.empty();
}

std::map<std::string, RelayOutbox::Waiting> RelayOutbox::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

// ---- the sessions of this process

bool RelaySink::on_frame(const Frame& frame) {
  if (is_lost_) return false;
  if (frame.position) {
    if (ends_turn(frame.event->body)) writing_.erase(frame.event->agent.id);
    outbox_->note_record(reader_);
    return true;
  }
  const bool is_wanted = frame.exact && (is_delta(frame.exact->body) ||
                                         std::holds_alternative<events::ToolProgress>(frame.exact->body));
  if (!is_wanted || frame.is_remote) return true;
  RemotePiece piece{*frame.exact};
  if (is_answer_piece(piece.event.body)) {
    Writing& writing = writing_[piece.event.agent.id];
    if (std::pair(writing.seq, writing.attempt) != std::pair(piece.event.seq, piece.event.attempt))
      writing = {piece.event.seq, piece.event.attempt, 0};
    piece.at = writing.bytes;
    writing.bytes += delta_text(piece.event)->size();
  }
  is_lost_ = !outbox_->push(reader_, std::move(piece));
  return !is_lost_;
}

// ---- as text

std::vector<std::string> relay_texts(const std::string& from, RelayOutbox::Waiting waiting,
                                     std::size_t most) {
  Packer packer(from, most);
  for (auto& [session, pieces] : waiting.pieces) {
    std::deque<RemotePiece> left(std::make_move_iterator(pieces.begin()),
                                 std::make_move_iterator(pieces.end()));
    while (!left.empty()) {
      const std::string text = piece_text(left.front());
      const std::string* const delta = delta_text(left.front().event);
      if (packer.fits(text)) {
        packer.add(text);
        left.pop_front();
      } else if (delta != nullptr && delta->size() > 8) {
        left.insert(left.begin() + 1, cut_off(left.front()));
      } else {
        left.pop_front();  // the report of a tool that is too long
      }
    }
  }
  return packer.finish(waiting.has_records);
}

std::vector<RemotePiece> relayed_pieces(const Json& text) {
  std::vector<RemotePiece> pieces;
  const JsonArray* const all = json_at(text, "pieces").if_array();
  for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const Json& each = all->at(i);
    pieces.push_back(
        {app::event_from(json_at(each, "event")), static_cast<std::uint64_t>(json_int(each, "at"))});
  }
  return pieces;
}

}  // namespace praxis::server
