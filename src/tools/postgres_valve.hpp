// Lies between libpq and the socket of its server, and counts what comes in.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/file_descriptor.hpp"

namespace praxis {

/// libpq reads a row as long as its server sends, in one call that no bound ends. So it reads from a pair of
/// sockets instead, which the valve fills part by part. TLS is inside of what passes. Used by one thread.
class PostgresValve {
 public:
  /// Takes the place of `socket`, a connected socket that is libpq's: from here on that number is an end of
  /// the pair. None, and nothing has changed, if there is no descriptor left.
  static std::optional<PostgresValve> before(int socket);

  PostgresValve(PostgresValve&&) = default;
  PostgresValve& operator=(PostgresValve&&) = default;
  /// Passes on what libpq wrote last, such as the end of its connection.
  ~PostgresValve();

  /// The server's socket, to wait for.
  int server() const { return server_.get(); }
  /// Whether libpq has not read all that was let in.
  bool has_input();
  /// Lets one part in, which is small, and gives its bytes. The end of the connection is let in, too.
  std::size_t let_in();
  /// Passes on what libpq wrote. False: the server does not take all of it yet.
  bool let_out();

 private:
  PostgresValve(FileDescriptor server, FileDescriptor inner)
      : server_(std::move(server)), inner_(std::move(inner)) {}

  FileDescriptor server_, inner_;
  std::string coming_, going_;  // what the other side does not take yet
};

}  // namespace praxis
