/* An agent in C: a tool, an approval, the events of the run, and its answer. The program takes a model as its argument. */
#include <praxis/praxis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with the reason if a function failed. */
static void check(praxis_status status) {
  if (status == PRAXIS_OK) return;
  fprintf(stderr, "%s\n", praxis_last_error());
  exit(1);
}

/* The tool: gets its arguments as JSON, and returns JSON. */
static int look_up(void *user, praxis_call call, const char *arguments) {
  int *calls = user;
  ++*calls;
  if (strstr(arguments, "Paris") == NULL) return praxis_call_fail(call, "only Paris is known", 0);
  return praxis_call_return(call, "{\"sky\": \"sunny\", \"celsius\": 24}");
}

int main(int argc, char **argv) {
  praxis_runtime runtime;
  praxis_agent agent;
  praxis_run run, rest;
  char description[4096];
  char *text;
  int calls = 0;

  if (praxis_abi_version() != PRAXIS_ABI_VERSION) return 2;
  snprintf(description, sizeof description, "{\"id\": \"weather\", \"model\": \"%s\", \"instructions\": \"You are terse.\"}",
           argc > 1 ? argv[1] : "openai:gpt-5-mini");
  check(praxis_runtime_open(NULL, &runtime));
  check(praxis_agent_create(runtime, description, &agent));
  check(praxis_agent_add_tool(agent,
                              "{\"name\": \"look_up\", \"description\": \"Current weather\", \"needs_approval\": true,"
                              " \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}},"
                              " \"required\": [\"city\"]}}",
                              look_up, &calls, NULL));

  check(praxis_agent_run(agent, "Do I need an umbrella in Paris?", NULL, &run));
  check(praxis_run_result(run, -1, &text)); /* the call waits for an approver */
  printf("%s before the approval, %d calls\n", strstr(text, "awaiting_user") ? "waits" : "does not wait", calls);
  praxis_free(text);

  check(praxis_session_resume(run, "{\"p1\": {\"decision\": \"allow\"}}", &rest));
  while (praxis_run_next(rest, -1, &text) == PRAXIS_OK) {
    if (strstr(text, "\"event\":\"assistant.text\"")) puts("the model answers");
    praxis_free(text);
  }
  check(praxis_run_result(rest, -1, &text));
  printf("%s, %d call\n", strstr(text, "\"result\":\"No.\"") ? "No." : text, calls);
  praxis_free(text);

  check(praxis_close(runtime)); /* and everything that was made from it */
  printf("%s\n", praxis_run_result(rest, -1, &text) == PRAXIS_BAD_HANDLE ? "closed" : "still open");
  return 0;
}
