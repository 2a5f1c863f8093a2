/* Praxis from C, and from every language that can call C. docs/c-and-python.md has examples.
 *
 * Handles. A handle is a number, never an address: it names an object in a table of the library. Numbers are never used
 * again, so a handle that is closed, zero, made up or of another kind is recognised, and the function returns
 * PRAXIS_BAD_HANDLE. A function that is working with an object keeps it alive while another thread closes its handle.
 *
 * Text. All text is UTF-8 that ends with a zero byte. JSON goes in as text and comes out as text. A `char **` argument gets
 * text that the caller releases with praxis_free; it is NULL after an error. Text that is passed in is copied.
 *
 * Errors. Functions return a praxis_status. After anything but PRAXIS_OK, PRAXIS_TIMEOUT and PRAXIS_END,
 * praxis_last_error describes the failure. No C++ exception leaves the library.
 *
 * Threads. Every function may be called from any thread, by several at once, with the same handle too, unless its comment
 * says otherwise. Functions marked "waits" block the calling thread; all others return soon, apart from reading and writing
 * the journal. A tool runs on a thread of the library, several at once: from inside one, waiting for the run that it
 * belongs to and stopping or closing its runtime are refused with PRAXIS_INPUT, because they would wait for themselves.
 */
#ifndef PRAXIS_PRAXIS_H
#define PRAXIS_PRAXIS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PRAXIS_API __attribute__((visibility("default")))
#else
#define PRAXIS_API
#endif

/* The version of this interface. It grows by one with each change that breaks a program; new functions and new members of
 * JSON objects do not change it. */
#define PRAXIS_ABI_VERSION 1

/* A handle of any kind; 0 is never valid. The names say which kind a function takes. */
typedef uint64_t praxis_handle;
typedef praxis_handle praxis_runtime; /* the sessions of this process, with their journal */
typedef praxis_handle praxis_agent;   /* a description: model, instructions, tools, limits, rules */
typedef praxis_handle praxis_session; /* a conversation with an agent, and its log */
typedef praxis_handle praxis_run;     /* one turn of a session; taken wherever a session is taken */
typedef praxis_handle praxis_call;    /* a tool call in progress; ends when its callback returns */

/* NOLINTBEGIN(readability-identifier-naming): names as usual in C */
/* What a function returns. 1 to 8 are the codes of errors; the names are those in JSON. */
typedef enum praxis_status {
  PRAXIS_OK = 0,
  PRAXIS_MODEL = 1,       /* "model": network, authentication, status, malformed response */
  PRAXIS_TOOL = 2,        /* "tool": failed, timed out, or does not exist */
  PRAXIS_POLICY = 3,      /* "policy": a rule or an approver denied it */
  PRAXIS_LIMIT = 4,       /* "limit": a limit of the run was reached */
  PRAXIS_CANCELLED = 5,   /* "cancelled": the caller or a user cancelled it, or the runtime was stopped */
  PRAXIS_JOURNAL = 6,     /* "journal": unreadable, altered, full, owned by another process */
  PRAXIS_INPUT = 7,       /* "input": an argument is wrong */
  PRAXIS_INTERNAL = 8,    /* "internal": a bug in Praxis, or out of memory */
  PRAXIS_TIMEOUT = 9,     /* the time is over; not an error */
  PRAXIS_END = 10,        /* there is nothing more; not an error */
  PRAXIS_BAD_HANDLE = 11  /* closed, never valid, or of another kind */
} praxis_status;
/* NOLINTEND(readability-identifier-naming) */

/* ---- the library */

/* Returns PRAXIS_ABI_VERSION of the library. A program that loads the library itself compares it with its own. */
PRAXIS_API uint32_t praxis_abi_version(void);

/* Returns the version of Praxis, such as "0.1.0". Valid for ever. */
PRAXIS_API const char *praxis_version(void);

/* Describes the last failure on the calling thread: `{"code", "message", "retriable", "detail"?, "cause"?}`; the code is
 * "bad_handle" for PRAXIS_BAD_HANDLE. NULL if the last function that returned a status on this thread did not fail. Valid
 * until that thread calls another function. */
PRAXIS_API const char *praxis_last_error(void);

/* Releases text that the library returned; NULL is fine. */
PRAXIS_API void praxis_free(char *text);

/* Closes a handle of any kind but praxis_call. Closing a run or session cancels nothing: its turn continues. Closing a
 * runtime stops it as praxis_runtime_stop does, with five seconds, closes every handle that was made from it, and waits until
 * every tool function of it has returned and, at most five seconds, until it is released. */
PRAXIS_API praxis_status praxis_close(praxis_handle handle);

/* ---- runtimes */

/* Opens a runtime. `options`, an object or NULL, may have
 *   "journal": the file of a SQLite journal, "postgres://...", or "memory" (default);
 *   "model": for agents that name none; "instructions": before those of every agent;
 *   "stream": false requests no deltas from models; "suspend": true keeps no waiting session in memory;
 *   "begin_queued_turns": false leaves a queued message to praxis_session_resume;
 *   "principal": the name that records give as the author of commands. */
PRAXIS_API praxis_status praxis_runtime_open(const char *options, praxis_runtime *out);

/* Interrupts all running turns and waits until they have settled, at most `grace_ms`. Turns that wait for an approver stay
 * in the journal. Final: the runtime starts no turn afterwards. Waits; refused inside a tool of the runtime. */
PRAXIS_API praxis_status praxis_runtime_stop(praxis_runtime runtime, int64_t grace_ms);

/* Gives `{"ok", "accepts_work", "sessions", "running", "waiting", "journal_error"?}`. */
PRAXIS_API praxis_status praxis_runtime_health(praxis_runtime runtime, char **out);

/* ---- agents */

/* Makes an agent from a JSON object with the keys of an agent file (docs/agent-file.md), such as
 * `{"id": "desk", "model": "openai:gpt-5-mini", "instructions": "...", "limits": {"max_usd": 0.5}, "tools": {"kv": {}}}`. */
PRAXIS_API praxis_status praxis_agent_create(praxis_runtime runtime, const char *description, praxis_agent *out);

/* Makes an agent from an agent file. */
PRAXIS_API praxis_status praxis_agent_open(praxis_runtime runtime, const char *path, praxis_agent *out);

/* Carries out a tool call. `arguments` is a JSON object that fits the tool's schema, valid until the callback returns.
 * Calls praxis_call_return or praxis_call_fail once and returns 0; returning another number, throwing a C++ exception, or
 * returning without a result fails the call. Runs on a thread of the library, several calls at once, and may block. */
typedef int (*praxis_tool_function)(void *user, praxis_call call, const char *arguments);

/* Called once when no agent and no session can call the tool any more, on any thread. */
typedef void (*praxis_release_function)(void *user);

/* Gives the agent a tool. `definition`: `{"name", "description", "parameters"}` with a JSON Schema of type object, and
 * optionally "timeout" ("30s" or milliseconds; 0: none), "idempotent", "needs_approval" (every call waits for an approver),
 * "safe_by_default" (true; false: needs a rule that allows it), "retries", "fatal_errors". Sessions that exist already do
 * not get the tool. `release` may be NULL; it is also called when this function fails. */
PRAXIS_API praxis_status praxis_agent_add_tool(praxis_agent agent, const char *definition, praxis_tool_function function,
                                               void *user, praxis_release_function release);

/* Gives the agent another agent as a tool: each call runs `other` on a prompt and returns its answer. */
PRAXIS_API praxis_status praxis_agent_add_agent(praxis_agent agent, praxis_agent other, const char *name,
                                                const char *description);

/* Gives the description that sessions of the agent record: id, model, instructions, tools, limits, rules. */
PRAXIS_API praxis_status praxis_agent_describe(praxis_agent agent, char **out);

/* ---- what a tool may do while it runs */

/* Ends the call with a value: any JSON text. The model reads a string as it is, any other value as JSON. */
PRAXIS_API praxis_status praxis_call_return(praxis_call call, const char *value);

/* Ends the call with an error, which the model reads. `retriable` other than 0: the tool's "retries" apply. */
PRAXIS_API praxis_status praxis_call_fail(praxis_call call, const char *message, int retriable);

/* Publishes the event `tool.progress`. `fraction` is the part that is done, from 0 to 1; negative: unknown. */
PRAXIS_API praxis_status praxis_call_progress(praxis_call call, const char *text, double fraction);

/* Returns 1 if the call was cancelled and should return soon, 0 if not, also for a call that has ended. */
PRAXIS_API int praxis_call_stopped(praxis_call call);

/* Gives `{"session", "agent", "call", "attempt", "depth", "idempotency_key", "metadata"}` of the call. */
PRAXIS_API praxis_status praxis_call_describe(praxis_call call, char **out);

/* ---- sessions and runs */

/* Starts one turn in a new session. `options`, an object or NULL, may have
 *   "schema": JSON Schema that the answer must follow; "messages": the conversation so far; "metadata": of the session. */
PRAXIS_API praxis_status praxis_agent_run(praxis_agent agent, const char *prompt, const char *options, praxis_run *out);

/* Makes a session without a turn. `options` as above, without "schema". */
PRAXIS_API praxis_status praxis_session_create(praxis_agent agent, const char *options, praxis_session *out);

/* Opens a session of the journal, such as one that a dead process left. `id` is its id, a part of at least four characters,
 * its name, or "last". The agent brings model and tools. `force` other than 0 takes it from a live process. */
PRAXIS_API praxis_status praxis_session_open(praxis_agent agent, const char *id, int force, praxis_session *out);

/* Starts the next turn. `message` is a text. `options`: "schema". Fails by its result if a turn is running. */
PRAXIS_API praxis_status praxis_session_send(praxis_session session, const char *message, const char *options,
                                             praxis_run *out);

/* Continues a turn that a crash cut off or that waits for approvers, with decisions on its steps, or begins the turn of the
 * first queued message. `decisions`: `{"p1": DECISION, ...}` or NULL; a DECISION as in praxis_decide. Applies all or, if one
 * is invalid, none. An error is that of the run's result. */
PRAXIS_API praxis_status praxis_session_resume(praxis_session session, const char *decisions, praxis_run *out);

/* Gives `{"id", "status", "agent", "comment", "queued", "usage", "context": {"used", "window"}}`. */
PRAXIS_API praxis_status praxis_session_describe(praxis_session session, char **out);

/* Gives the whole conversation: `{"id", "messages", "metadata"?}`. */
PRAXIS_API praxis_status praxis_session_messages(praxis_session session, char **out);

/* Gives the next event of the run, one JSON object as in docs/events.md, or PRAXIS_TIMEOUT after `timeout_ms` (negative: no
 * limit). PRAXIS_END once the turn has ended or waits for an approver. Each event is given once. Waits. */
PRAXIS_API praxis_status praxis_run_next(praxis_run run, int64_t timeout_ms, char **out);

/* Gives the report of the turn once it has ended or waits for an approver: the members that `praxis run --json` ends with
 * (docs/json.md), also of a turn that failed. May be called again. PRAXIS_TIMEOUT after `timeout_ms` (negative: no limit).
 * Any other status: the turn could not run. Waits. */
PRAXIS_API praxis_status praxis_run_result(praxis_run run, int64_t timeout_ms, char **out);

/* Decides a step that waits for an approver, in the session or below it; the turn continues. `decision`:
 * `{"decision": "allow"}`, `{"decision": "deny", "text": REASON}`, `{"decision": "edit", "arguments": {...}}` or
 * `{"decision": "answer", "text": ANSWER}`. While a run of the session is waiting, praxis_session_resume gives its rest. */
PRAXIS_API praxis_status praxis_decide(praxis_session session, const char *step, const char *decision);

/* Sends a command to a session: "steer" (reaches the model at the next safe point), "enqueue" (the next turn), "interrupt"
 * (stop now), "pause", "unpause", "annotate", "modify", "withdraw", "move", "compact", "delete". `target` is a session of any depth, which may also belong
 * to another process; NULL: the session of the handle. `handle`: a session, a run, or a runtime with a target. `text`: for
 * the verbs that take one, else NULL. */
PRAXIS_API praxis_status praxis_command(praxis_handle handle, const char *target, const char *verb, const char *text);

/* ---- runs of the journal */

/* Gives the runs of the journal, the newest first, at most `limit` (0: all). `filter`, an object or NULL, may have "text",
 * "agent", "model", "status" and "tag". */
PRAXIS_API praxis_status praxis_runs(praxis_runtime runtime, const char *filter, uint32_t limit, char **out);

/* Gives an array of the agents of a run and below it, parents first, each with its "pending" steps; with NULL, of all runs
 * that are not idle. */
PRAXIS_API praxis_status praxis_tree(praxis_runtime runtime, const char *id, char **out);

/* Gives one session of any depth with its conversation: the members of the tree and "messages". */
PRAXIS_API praxis_status praxis_state(praxis_runtime runtime, const char *id, char **out);

/* Makes a run that is the same up to the record `seq` (0: all) and gives its id as a JSON string. */
PRAXIS_API praxis_status praxis_fork(praxis_runtime runtime, const char *id, uint64_t seq, char **out);

/* Derives the log of a run again, without models and tools, and compares:
 * `{"identical", "records", "derived", "divergence": {"seq", "field", "expected", "found"} or null}`. */
PRAXIS_API praxis_status praxis_replay(praxis_runtime runtime, const char *id, char **out);

#ifdef __cplusplus
}
#endif

#endif
