#include "journal/libpq.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "journal/chain.hpp"

namespace praxis::pq {
namespace {

Error not_loaded(const std::string& why) {
  return journal_error(
      ErrorKind::kIo,
      "PostgreSQL needs the library libpq, version 14 or later (on Debian the package libpq5): " + why);
}

/// Fills `function` from the library; notes the name of the first that is missing.
template <class Function>
void find(void* library, const char* name, Function*& function, std::string& missing) {
  void* found = dlsym(library, name);
  if (found == nullptr && missing.empty()) missing = name;
  function = reinterpret_cast<Function*>(found);
}

constexpr const char* kNames[] = {"PQconnectdbParams",
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
                                  "PQcmdTuples",
                                  "PQconnectStartParams",
                                  "PQconnectPoll",
                                  "PQsetnonblocking",
                                  "PQflush",
                                  "PQsendQueryParams",
                                  "PQsendDescribePrepared",
                                  "PQsetSingleRowMode",
                                  "PQnparams",
                                  "PQparamtype",
                                  "PQnfields",
                                  "PQfname",
                                  "PQftype",
                                  "PQcmdStatus",
                                  "PQgetCancel",
                                  "PQcancel",
                                  "PQfreeCancel"};

Result<const Library*> load_now() {
  void* handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(not_loaded(dlerror()));
  static Library library;
  std::string missing;
  const auto find_each = [&](auto&... functions) {
    static_assert(std::size(kNames) == sizeof...(functions));
    const char* const* name = kNames;
    (find(handle, *name++, functions, missing), ...);
  };
  auto& l = library;
  find_each(l.connectdbParams, l.finish, l.status, l.transactionStatus, l.socket, l.backendPID,
            l.serverVersion, l.errorMessage, l.setNoticeProcessor, l.conninfoParse, l.conninfoFree, l.freemem,
            l.exec, l.sendPrepare, l.sendQueryPrepared, l.enterPipelineMode, l.exitPipelineMode,
            l.pipelineSync, l.isBusy, l.consumeInput, l.getResult, l.notifies, l.resultStatus,
            l.resultErrorField, l.clear, l.ntuples, l.getvalue, l.getlength, l.getisnull, l.cmdTuples,
            l.connectStartParams, l.connectPoll, l.setnonblocking, l.flush, l.sendQueryParams,
            l.sendDescribePrepared, l.setSingleRowMode, l.nparams, l.paramtype, l.nfields, l.fname, l.ftype,
            l.cmdStatus, l.getCancel, l.cancel, l.freeCancel);
  if (!missing.empty()) return fail(not_loaded("libpq.so.5 lacks " + missing));
  return &library;
}

}  // namespace

Result<const Library*> load() {
  static const Result<const Library*> loaded = load_now();
  return loaded;
}

ConnectSettings connect_settings(const std::string& address, bool reads_only) {
  // The address comes after what it may override.
  const std::pair<const char*, const char*> settings[] = {
      {"connect_timeout", "10"},
      {"application_name", "praxis"},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "2"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "10000"},
      {"target_session_attrs", reads_only ? "any" : "read-write"},
      {"dbname", address.c_str()},
      {"client_encoding", "UTF8"},
  };
  ConnectSettings result;
  static_assert(std::size(settings) + 1 == std::tuple_size_v<decltype(result.keywords)>);
  for (std::size_t i = 0; i < std::size(settings); ++i) {
    result.keywords[i] = settings[i].first;
    result.values[i] = settings[i].second;
  }
  return result;
}

std::string one_line(std::string_view message) {
  std::string line;
  std::string_view before;
  while (!message.empty()) {
    std::string_view each = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(each.size() + 1, message.size()));
    while (!each.empty() && each.back() == ' ') each.remove_suffix(1);
    if (each.empty() || each == before) continue;
    before = each;
    if (!line.empty()) line += "; ";
    for (const char c : each) {
      if (c != '\t') line += c;
    }
  }
  return line;
}

}  // namespace praxis::pq
