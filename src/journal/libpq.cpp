#include "journal/libpq.hpp"

#include <dlfcn.h>

#include <string>

#include "journal/chain.hpp"

namespace praxis::pq {
namespace {

Error not_loaded(const std::string& why) {
  return journal_error(ErrorKind::kIo,
                       "a PostgreSQL journal needs the library libpq, version 14 or later (on Debian the "
                       "package libpq5): " +
                           why);
}

/// Fills `function` from the library; notes the name of the first that is missing.
template <class Function>
void find(void* library, const char* name, Function*& function, std::string& missing) {
  void* found = dlsym(library, name);
  if (found == nullptr && missing.empty()) missing = name;
  function = reinterpret_cast<Function*>(found);
}

Result<const Library*> load_now() {
  void* handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(not_loaded(dlerror()));
  static Library library;
  std::string missing;
  const auto find_each = [&](auto&... functions) {
    const char* const names[] = {"PQconnectdbParams",
                                 "PQfinish",
                                 "PQstatus",
                                 "PQtransactionStatus",
                                 "PQsocket",
                                 "PQbackendPID",
                                 "PQserverVersion",
                                 "PQerrorMessage",
                                 "PQsetNoticeProcessor",
                                 "PQconninfoParse",
                                 "PQconninfoFree",
                                 "PQfreemem",
                                 "PQexec",
                                 "PQsendPrepare",
                                 "PQsendQueryPrepared",
                                 "PQenterPipelineMode",
                                 "PQexitPipelineMode",
                                 "PQpipelineSync",
                                 "PQisBusy",
                                 "PQconsumeInput",
                                 "PQgetResult",
                                 "PQnotifies",
                                 "PQresultStatus",
                                 "PQresultErrorField",
                                 "PQclear",
                                 "PQntuples",
                                 "PQgetvalue",
                                 "PQgetlength",
                                 "PQgetisnull",
                                 "PQcmdTuples"};
    static_assert(std::size(names) == sizeof...(functions));
    const char* const* name = names;
    (find(handle, *name++, functions, missing), ...);
  };
  auto& l = library;
  find_each(l.connectdbParams, l.finish, l.status, l.transactionStatus, l.socket, l.backendPID,
            l.serverVersion, l.errorMessage, l.setNoticeProcessor, l.conninfoParse, l.conninfoFree, l.freemem,
            l.exec, l.sendPrepare, l.sendQueryPrepared, l.enterPipelineMode, l.exitPipelineMode,
            l.pipelineSync, l.isBusy, l.consumeInput, l.getResult, l.notifies, l.resultStatus,
            l.resultErrorField, l.clear, l.ntuples, l.getvalue, l.getlength, l.getisnull, l.cmdTuples);
  if (!missing.empty()) return fail(not_loaded("libpq.so.5 lacks " + missing));
  return &library;
}

}  // namespace

Result<const Library*> load() {
  static const Result<const Library*> loaded = load_now();
  return loaded;
}

}  // namespace praxis::pq
