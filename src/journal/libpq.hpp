// libpq, loaded when a PostgreSQL database is opened first: programs without one need neither the library nor
// its header. The declarations are those of PostgreSQL 14 and later, whose binary interface is stable.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis::pq {

struct Connection;  ///< PGconn
struct Answer;      ///< PGresult
struct Cancel;      ///< PGcancel

/// PGnotify, of which the rest is private.
struct Notification {
  char* relname;
  int be_pid;
  char* extra;
};

/// PQconninfoOption.
struct Option {
  char *keyword, *envvar, *compiled, *val, *label, *dispchar;
  int dispsize;
};

inline constexpr int kConnectionOk = 0;                                      ///< ConnStatusType
inline constexpr int kCommandOk = 1, kTuplesOk = 2, kPipelineSync = 10;      ///< ExecStatusType
inline constexpr int kSingleTuple = 9;                                       ///< likewise
inline constexpr int kPollReading = 1, kPollWriting = 2, kPollOk = 3;        ///< PostgresPollingStatusType
inline constexpr int kIdle = 0;                                              ///< PGTransactionStatusType
inline constexpr int kSqlState = 'C', kPrimaryMessage = 'M', kDetail = 'D';  ///< PG_DIAG_...
inline constexpr int kHint = 'H', kPosition = 'P';                           ///< likewise
inline constexpr int kBinary = 1;                                            ///< format of a value

/// The functions of libpq that Praxis uses, with the names of libpq without `PQ`.
struct Library {
  Connection* (*connectdbParams)(const char* const* keywords, const char* const* values, int expand_dbname);
  void (*finish)(Connection*);
  int (*status)(const Connection*);
  int (*transactionStatus)(const Connection*);
  int (*socket)(const Connection*);
  int (*backendPID)(const Connection*);
  int (*serverVersion)(const Connection*);
  char* (*errorMessage)(const Connection*);
  void* (*setNoticeProcessor)(Connection*, void (*)(void*, const char*), void*);
  Option* (*conninfoParse)(const char* text, char** error);
  void (*conninfoFree)(Option*);
  void (*freemem)(void*);
  Answer* (*exec)(Connection*, const char* sql);
  int (*sendPrepare)(Connection*, const char* name, const char* sql, int count, const unsigned* types);
  int (*sendQueryPrepared)(Connection*, const char* name, int count, const char* const* values,
                           const int* lengths, const int* formats, int result_format);
  int (*enterPipelineMode)(Connection*);
  int (*exitPipelineMode)(Connection*);
  int (*pipelineSync)(Connection*);
  int (*isBusy)(Connection*);
  int (*consumeInput)(Connection*);
  Answer* (*getResult)(Connection*);
  Notification* (*notifies)(Connection*);
  int (*resultStatus)(const Answer*);
  char* (*resultErrorField)(const Answer*, int field);
  void (*clear)(Answer*);
  int (*ntuples)(const Answer*);
  char* (*getvalue)(const Answer*, int row, int column);
  int (*getlength)(const Answer*, int row, int column);
  int (*getisnull)(const Answer*, int row, int column);
  char* (*cmdTuples)(Answer*);
  Connection* (*connectStartParams)(const char* const* keywords, const char* const* values,
                                    int expand_dbname);
  int (*connectPoll)(Connection*);
  int (*setnonblocking)(Connection*, int is_nonblocking);
  int (*flush)(Connection*);
  int (*sendQueryParams)(Connection*, const char* sql, int count, const unsigned* types,
                         const char* const* values, const int* lengths, const int* formats,
                         int result_format);
  int (*sendDescribePrepared)(Connection*, const char* name);
  int (*setSingleRowMode)(Connection*);
  int (*nparams)(const Answer*);
  unsigned (*paramtype)(const Answer*, int parameter);
  int (*nfields)(const Answer*);
  char* (*fname)(const Answer*, int column);
  unsigned (*ftype)(const Answer*, int column);
  char* (*cmdStatus)(Answer*);
  Cancel* (*getCancel)(Connection*);
  int (*cancel)(Cancel*, char* why, int size);
  void (*freeCancel)(Cancel*);
};

/// Loads libpq once for the process. Thread-safe. Error `io`: it is missing, or older than version 14.
Result<const Library*> load();

/// What each connection asks of libpq, in the form of `connectdbParams` with `expand_dbname`.
struct ConnectSettings {
  std::array<const char*, 10> keywords{}, values{};
};
/// For an address, which must outlive the settings and may override most of them. `reads_only` also accepts a
/// server that is a replica.
ConnectSettings connect_settings(const std::string& address, bool reads_only);

/// A message of libpq without its line breaks, and without lines that repeat the one before.
std::string one_line(std::string_view message);

}  // namespace praxis::pq
