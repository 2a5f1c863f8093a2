"""Two agents at once in an event loop; the text of one as it comes, and a tool that is a coroutine."""

import asyncio
import sys

from praxis import Agent, tool

model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"


@tool
async def look_up(topic: str) -> str:
    """Looks a topic up"""
    await asyncio.sleep(0)
    return f"{topic} depend on the moon"


async def tides() -> str:
    result = await Agent(model, id="tides", tools=[look_up]).run_async("What are tides?")
    return result.text


async def winds() -> str:
    text = ""
    async with Agent(model, id="winds").stream_async("What are winds?") as run:
        async for piece in run.text():
            text += piece
    return text


async def main() -> None:
    for answer in await asyncio.gather(tides(), winds()):
        print(answer)


asyncio.run(main())
