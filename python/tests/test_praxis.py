"""The package against the library: agents, tools, streams, approvals, journals, errors, threads."""

import dataclasses
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import unittest

import praxis
from praxis import Agent, Context, Runtime, ToolError, tool
from praxis import tools as praxis_tools
from rig import ScriptTest, call


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Runs(ScriptTest):
    def test_run_gives_the_answer_and_the_report(self):
        result = self.agent("Hello.", id="greeter").run("hi")
        self.assertEqual(result.text, "Hello.")
        self.assertTrue(result.finished)
        self.assertEqual(result.report["agent"], "greeter")
        self.assertEqual(self.runtime.runs()[0]["id"], result.session)

    def test_turn_that_does_not_finish_raises_with_its_report(self):
        with self.assertRaises(praxis.ModelError) as raised:
            self.agent({"error": {"status": 401, "message": "no"}}).run("hi")
        self.assertEqual(raised.exception.kind, "auth")
        self.assertEqual(raised.exception.result.status, "error")
        with self.assertRaises(praxis.LimitError) as raised:
            self.agent(call("kv", op="list"), "x", builtin_tools={"kv": {}}, limits={"max_steps": 1}).run("hi")
        self.assertEqual(raised.exception.result.termination, "max_steps")

    def test_wrong_descriptions_name_what_is_wrong(self):
        cases = {"modell": 'did you mean "model"', "limits": "must be"}
        for key, message in cases.items():
            with self.subTest(key), self.assertRaisesRegex(praxis.InputError, message):
                Agent(**{key: "x"}, runtime=self.runtime)
        with self.assertRaisesRegex(praxis.InputError, "zero character"):
            self.agent("a").run("a\0b")
        with self.assertRaises(ValueError):
            Runtime("/nonexistent/folder/journal.db", model=1)

    def test_conversation_sees_earlier_turns(self):
        start = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
        with self.agent("one", "two").session(start, metadata={"k": 1}) as session:
            self.assertEqual(session.run("first").text, "one")
            self.assertEqual(session.run("second").text, "two")
            self.assertEqual(len(session.messages()), 6)
            self.assertEqual(session.status, "completed")
            self.assertEqual(session.describe()["queued"], 0)

    def test_answer_is_a_value_of_the_type(self):
        agent = self.agent('{"x": 1, "y": 2}')
        self.assertEqual(agent.run("where?", output=Point).value, Point(1, 2))
        self.assertEqual(self.agent("[1, 2]").run("which?", output=list[int]).value, [1, 2])
        schema = {"type": "object", "required": ["x"]}
        self.assertEqual(self.agent("Nowhere.", '{"x": 3}').run("where?", output=schema).value, {"x": 3})

    def test_agent_file_is_an_agent(self):
        path = self.folder / "a.toml"
        path.write_text(f'id = "filed"\nmodel = "{self.script(call("now"), "noon")}"\n')
        agent = Agent.from_file(path, tools=[tool(lambda: "12:00", name="now")], runtime=self.runtime)
        self.assertEqual(agent.run("time?").text, "noon")
        self.assertEqual(agent.describe()["id"], "filed")
        with self.assertRaises(praxis.InputError):
            Agent.from_file(self.folder / "none.toml", runtime=self.runtime)


class Tools(ScriptTest):
    def use(self, function, **arguments):
        """Lets a model call the tool once; returns the event that ends the call."""
        agent = self.agent(call(function.__name__, **arguments), "done", tools=[function])
        run = agent.stream("go")
        ends = [event for event in run if event.name in ("tool.completed", "tool.failed")]
        self.assertEqual(run.result().text, "done")
        return ends[-1]

    def test_arguments_and_results_are_values(self):
        seen = []

        @tool
        def move(start: Point, by: int = 2) -> Point:
            seen.append((start, by))
            return Point(start.x + by, start.y)

        event = self.use(move, start={"x": 1, "y": 0})
        self.assertEqual(seen, [(Point(1, 0), 2)])
        self.assertEqual(event.value, {"x": 3, "y": 0})
        self.assertEqual(move(Point(0, 0)), Point(2, 0))

    def test_exceptions_fail_the_call_and_not_the_run(self):
        def fails():
            raise KeyError("nope")

        def exits():
            raise SystemExit(3)

        def unfit():
            return object()

        def says():
            raise ToolError("try elsewhere")

        for function, why in ((fails, "KeyError: 'nope'"), (exits, "SystemExit"), (unfit, "TypeError"),
                              (says, "try elsewhere")):
            with self.subTest(why):
                event = self.use(tool(function))
                self.assertEqual(event.name, "tool.failed")
                self.assertIn(why, event.error["message"])

    def test_retriable_error_is_tried_again(self):
        attempts = []

        @tool(retries=2, idempotent=True)
        def flaky(context: Context) -> str:
            attempts.append((context.attempt, context.idempotency_key))
            if len(attempts) == 1:
                raise ToolError("later", retriable=True)
            return "ok"

        self.assertEqual(self.use(flaky).text, "ok")
        self.assertEqual([number for number, _ in attempts], [1, 2])
        self.assertEqual(attempts[0][1], attempts[1][1])

    def test_context_ends_with_the_call(self):
        kept = []

        @tool
        def keep(context: Context) -> str:
            context.progress("half", 0.5)
            kept.append(context)
            return context.agent

        self.assertEqual(self.use(keep).text, "agent")
        self.assertFalse(kept[0].stopped)
        with self.assertRaises(praxis.HandleError):
            kept[0].progress("late")

    def test_coroutine_is_a_tool(self):
        @tool
        async def later(n: int) -> int:
            return n + 1

        self.assertEqual(self.use(later, n=1).text, "2")

    def test_tool_may_run_another_agent_but_not_wait_for_itself(self):
        inner, outcome = self.agent("from within"), []

        @tool
        def nest() -> str:
            try:
                runs[0].result()
            except praxis.InputError as error:
                outcome.append(error.message)
            return inner.run("x").text

        runs = []
        started = threading.Event()
        plain = nest.function
        nest.function = lambda: (started.wait(), plain())[1]
        runs.append(self.agent(call("nest"), "done", tools=[nest]).stream("go"))
        started.set()
        self.assertIn("from within", [event.get("text") for event in runs[0]])
        self.assertIn("wait for the run", outcome[0])

    def test_what_is_no_tool_is_refused(self):
        for wrong in (3, "name"):
            with self.assertRaises(praxis.InputError):
                self.agent("a", tools=[wrong])
        with self.assertRaisesRegex(praxis.InputError, "two tools named"):
            self.agent("a", tools=[tool(lambda: 1, name="a"), tool(lambda: 2, name="a")])

    def test_tools_are_released_with_their_runtime(self):
        before = len(praxis_tools._tools)
        with Runtime() as runtime:
            agent = self.agent(call("act"), "done", tools=[tool(lambda: 1, name="act")], runtime=runtime)
            agent.run("go")
            self.assertEqual(len(praxis_tools._tools), before + 1)
        while len(praxis_tools._tools) > before:
            gc.collect()


class Streams(ScriptTest):
    def test_events_come_once_and_in_order(self):
        run = self.agent("Hello there.").stream("hi")
        names = [event.name for event in run]
        self.assertEqual((names[0], names[-1]), ("turn.started", "turn.completed"))
        self.assertEqual(list(run), [])
        self.assertEqual(run.result().text, "Hello there.")
        with self.assertRaises(AttributeError):
            praxis.Event({"event": "a"}).missing

    def test_text_is_that_of_the_answer(self):
        self.assertEqual("".join(self.agent("Hello there.").stream("hi").text()), "Hello there.")

    def test_leaving_with_interrupts(self):
        with self.agent({"text": "late", "delay_ms": 60000}).stream("hi") as run:
            session = run.session
        self.assertEqual(self.runtime.state(session)["status"], "cancelled")

    def test_commands_reach_the_turn(self):
        waits = threading.Event()
        agent = self.agent(call("hold"), "steered", "queued", tools=[tool(lambda: waits.wait() and "ok", name="hold")])
        run = agent.stream("go")
        for event in run:
            if event.name == "tool.started":
                run.steer("be brief")
                self.runtime.command(run.session, "annotate", "look")
                waits.set()
        self.assertEqual(run.result().text, "steered")
        state = self.runtime.state(run.session)
        self.assertEqual(state["comment"], "look")
        self.assertIn("be brief", str(state["messages"]))
        with self.assertRaisesRegex(praxis.InputError, "is not a command"):
            self.runtime.command(run.session, "explode")


class Approvals(ScriptTest):
    def setUp(self):
        super().setUp()
        self.ran = []
        self.act = tool(lambda n: self.ran.append(n) or "ok", name="act", needs_approval=True)

    def guarded(self):
        return self.agent(call("act", n=1), "done", tools=[self.act])

    def test_approver_decides_while_the_run_waits(self):
        answers = {True: [1], False: [], None: []}
        for answer, ran in answers.items():
            with self.subTest(answer):
                self.ran.clear()
                result = self.guarded().run("go", approve=lambda step: answer)
                self.assertEqual(self.ran, ran)
                self.assertEqual(result.text, "" if answer is None else "done")
                self.assertEqual(bool(result.pending), answer is None)

    def test_step_is_decided_later(self):
        agent = self.guarded()
        result = agent.run("go")
        step = result.pending[0]
        self.assertEqual((step.tool, step.arguments, step.kind), ("act", {"n": 1}, "approval"))
        self.assertEqual([one.session for one in self.runtime.pending()], [result.session])
        self.assertEqual(agent.resume(result.session, step.edit(n=2)).text, "done")
        self.assertEqual(self.ran, [2])
        with self.assertRaises(praxis.InputError):
            agent.resume(result.session, step.approve())

    def test_rejection_is_read_by_the_model(self):
        result = self.guarded().run("go", approve=lambda step: step.reject("not today"))
        self.assertIn("not today", result.denials[0])

    def test_question_is_answered(self):
        agent = self.agent(call("ask_user", question="How?"), "By train.", builtin_tools={"ask_user": {}})
        self.assertEqual(agent.run("go", approve=lambda step: "by train").text, "By train.")

    def test_step_of_a_sub_agent_belongs_to_its_run(self):
        below = self.agent(call("act", n=1), "found", id="below", tools=[self.act])
        lead = self.agent(call("research", prompt="x"), "done", id="lead", tools=[below.as_tool("research", "Looks")])
        result = lead.run("go")
        for step in (result.pending[0], self.runtime.pending()[0]):
            self.assertEqual(step.run, result.session)
            self.assertNotEqual(step.session, step.run)
        self.assertEqual(lead.resume(step.run, step.approve()).text, "done")
        self.assertEqual(self.ran, [1])

    def test_run_that_waited_continues_as_a_run(self):
        run = self.guarded().stream("go")
        result = run.result()
        rest = run.resume(result.pending[0].approve())
        self.assertIn("tool.completed", [event.name for event in rest])


class Journals(ScriptTest):
    def test_run_outlives_the_runtime(self):
        path = self.folder / "journal.db"
        model = self.script("one", "two")
        with Runtime(path) as runtime:
            first = Agent(model, runtime=runtime).run("hi")
        with Runtime(path, principal="ada") as runtime:
            agent = Agent(model, runtime=runtime)
            with agent.open("last") as session:
                self.assertEqual(session.id, first.session)
                self.assertEqual(session.run("more").text, "two")
            self.assertEqual([run["title"] for run in runtime.runs(status="completed", limit=1)], ["hi"])
            self.assertEqual(runtime.runs(text="absent"), [])
            self.assertTrue(runtime.replay("last")["identical"])
            fork = runtime.fork(first.session)
            self.assertEqual(len(runtime.runs()), 2)
            self.assertEqual(runtime.tree(fork)[0].status, "completed")
            self.assertTrue(runtime.health()["ok"])
            with self.assertRaises(praxis.InputError):
                runtime.state("absent")

    def test_tree_shows_the_agents_below(self):
        below = self.agent("found", id="below")
        lead = self.agent(call("research", prompt="x"), "done", id="lead", tools=[below.as_tool("research", "Looks")])
        result = lead.run("go")
        nodes = self.runtime.tree(result.session)
        self.assertEqual([(node.path, node.depth) for node in nodes], [("lead", 0), ("lead/below", 1)])
        self.assertEqual(nodes[1].parent, nodes[0].id)


class Ends(ScriptTest):
    def test_closed_objects_raise(self):
        agent = self.agent("a", "b")
        run = agent.stream("hi")
        run.result()
        run.close()
        run.close()
        for use in (run.result, run.done, lambda: list(run), run.interrupt):
            with self.assertRaises(praxis.HandleError):
                use()
        self.runtime.close()
        with self.assertRaises(praxis.HandleError):
            agent.run("hi")
        agent.close()

    def test_stopped_runtime_starts_nothing(self):
        agent = self.agent("a")
        self.runtime.stop(1)
        with self.assertRaises(praxis.Cancelled):
            agent.run("hi")

    def test_threads_share_an_agent(self):
        agent, texts = self.agent("hi"), []
        threads = [threading.Thread(target=lambda: texts.extend(agent.run("x").text for _ in range(5))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, ["hi"] * 40)

    def program(self, text, **environment):
        return subprocess.run(
            [sys.executable, "-c", text], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
        )

    def test_program_ends_while_a_turn_and_a_tool_are_working(self):
        model = self.script(call("hold"), "never")
        done = self.program(
            "import praxis, threading\n"
            "begun = threading.Event()\n"
            "@praxis.tool\n"
            "def hold(context: praxis.Context) -> str:\n"
            "    begun.set()\n"
            "    while not context.stopped: pass\n"
            "    return 'ok'\n"
            f"run = praxis.Agent({model!r}, tools=[hold]).stream('go')\n"
            "begun.wait()\n"
            "print('ends')\n"
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ends\n", ""))

    def test_ctrl_c_ends_a_program_that_waits(self):
        model = self.script({"text": "late", "delay_ms": 60000})
        text = (
            "import praxis\n"
            f"run = praxis.Agent({model!r}).stream('go')\n"
            "for event in run:\n"
            "    if event.name == 'model.requested': break\n"
            "print('waits', flush=True)\n"
            "run.result()\n"
        )
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), b"waits\n")
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", errors)

    def test_missing_library_is_named(self):
        done = self.program("import praxis", PRAXIS_LIBRARY="/nonexistent.so")
        self.assertIn("ImportError: cannot load libpraxis_c.so; set PRAXIS_LIBRARY", done.stderr)
        self.assertIn("/nonexistent.so", done.stderr)

    def test_many_runs_leave_nothing_behind(self):
        """PRAXIS_MANY_RUNS=10000 for the whole."""
        rounds = max(8, int(os.environ.get("PRAXIS_MANY_RUNS", "200")) // 25)
        long = {"text": "x" * 300_000, "chunk": 400_000}
        model, sizes = self.script(call("act"), long), []
        for _ in range(rounds):
            with Runtime() as runtime:
                agent = Agent(model, tools=[tool(lambda: "ok", name="act")], runtime=runtime)
                for _ in range(25):
                    self.assertEqual(len(agent.run("go").text), 300_000)
            del agent
            gc.collect()
            sizes.append(int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4)  # KiB
        self.assertLess(sizes[-1] - sizes[len(sizes) // 2], 8 * 1024, sizes)


if __name__ == "__main__":
    unittest.main()
