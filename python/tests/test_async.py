"""Runs in an event loop."""

import asyncio
import threading
import unittest

import praxis
from praxis import tool
from rig import ScriptTest, call


class Asynchronous(ScriptTest):
    def run_loop(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 30))

    def test_run_does_not_block_the_loop(self):
        go_on = threading.Event()
        agent = self.agent(call("hold"), "done", tools=[tool(lambda: go_on.wait() and "ok", name="hold")])

        async def main():
            task = asyncio.create_task(agent.run_async("go"))
            await asyncio.sleep(0)  # the loop works while the tool waits
            go_on.set()
            return (await task).text

        self.assertEqual(self.run_loop(main()), "done")

    def test_many_runs_at_once(self):
        agent = self.agent("hi")

        async def main():
            return await asyncio.gather(*(agent.run_async("x") for _ in range(40)))

        self.assertEqual([result.text for result in self.run_loop(main())], ["hi"] * 40)

    def test_events_and_text_are_iterators(self):
        async def main():
            run = self.agent("Hello there.").stream_async("hi")
            names = [event.name async for event in run]
            async with self.agent("Hello there.").stream_async("hi") as other:
                text = "".join([piece async for piece in other.text()])
            return names, text, (await run.result()).text

        names, text, result = self.run_loop(main())
        self.assertEqual(names[-1], "turn.completed")
        self.assertEqual((text, result), ("Hello there.", "Hello there."))

    def test_cancelled_task_interrupts_the_turn(self):
        async def main():
            run = self.agent({"text": "late", "delay_ms": 60000}).stream_async("hi")
            task = asyncio.create_task(run.result())
            async for event in run:
                if event.name == "model.requested":
                    break
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return await run.report()

        self.assertEqual(self.run_loop(main()).status, "cancelled")

    def test_leaving_the_block_interrupts_the_turn(self):
        async def main():
            async with self.agent({"text": "late", "delay_ms": 60000}).stream_async("hi") as run:
                pass
            with self.assertRaises(praxis.Cancelled):
                await run.result()

        self.run_loop(main())

    def test_errors_are_raised(self):
        async def main():
            with self.assertRaises(praxis.ModelError):
                await self.agent({"error": {"status": 401}}).run_async("hi")

        self.run_loop(main())

    def test_sessions_and_approvals(self):
        agent = self.agent(call("act"), "one", "two", tools=[tool(lambda: "ok", name="act", needs_approval=True)])

        async def main():
            with agent.session() as session:
                first = await session.run_async("a", approve=lambda step: True)
                return first.text, (await session.run_async("b")).text

        self.assertEqual(self.run_loop(main()), ("one", "two"))


if __name__ == "__main__":
    unittest.main()
