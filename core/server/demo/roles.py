"""The roles of the demo: what each agent does, call by call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from core.server.demo.agent import Agent, Answer
from core.server.demo.compression import compress, read_package

RETRY_SECONDS = 3.0
BACK_OFF_SECONDS = 6.0
NEVER_SECONDS = 86_400.0
TOO_LATE = ("wrap_cancelled", "no_wrap", "wrap_token_mismatch")


async def worker(agent: Agent) -> None:
    """Records, prepares, compresses, saves, with calm pauses; and again."""
    while True:
        await agent.record(4, pause=1.5)
        prepared = await prepare(agent)
        if prepared:
            await agent.rest(8.0)
            await save(agent, prepared)
        await agent.rest(4.0)


async def doomed(agent: Agent) -> None:
    """Opens a wrap and compresses, too long: the fleet kills it meanwhile, client and server."""
    await agent.record(3, pause=0.05)
    prepared = await prepare(agent)
    if prepared:
        await agent.rest(NEVER_SECONDS)


async def blocked(agent: Agent) -> None:
    """Wants to wrap where the dead one's wrap is open: goes on recording, tries again, and wraps when it may."""
    await agent.record(2, pause=0.05)
    await agent.order("go")
    while True:
        prepared = await prepare(agent)
        if prepared:
            await agent.rest(1.0)
            await save(agent, prepared)
            break
        await agent.record(1, pause=RETRY_SECONDS)
    await agent.rest(4.0)
    await worker(agent)


async def wedged(agent: Agent) -> None:
    """Opens a wrap and then calls nothing, alive. When its wrap has been cancelled it saves late, and learns why that is refused.

    It waits for the fleet's word, which watches the store: a call to look for itself would make it LIVE.
    """
    await agent.record(3, pause=0.2)
    prepared = await prepare(agent)
    await agent.order("go")
    if prepared:
        await save(agent, prepared)
    await agent.rest(4.0)
    await worker(agent)


async def waiter(agent: Agent) -> None:
    """Wants to wrap while a live peer does: is told so, with the evidence, and backs off."""
    while not (await agent.call("status")).data.get("wrap"):
        await agent.rest(1.0)
    while True:
        prepared = await prepare(agent)
        if prepared:
            await agent.rest(2.0)
            await save(agent, prepared)
        else:
            agent.say("waiting", "backs off and goes on recording")
        await agent.record(2, pause=BACK_OFF_SECONDS / 2)


ROLES: Mapping[str, Callable[[Agent], Awaitable[None]]] = {
    "worker": worker,
    "doomed": doomed,
    "blocked": blocked,
    "wedged": wedged,
    "waiter": waiter,
}


async def prepare(agent: Agent) -> Answer | None:
    """Open a wrap; None when that was refused or there is nothing to do, which the fleet is told."""
    answer = await agent.call("prepare_wrap")
    if answer.code:
        agent.say("refused", f"is refused a wrap, {answer.why}", {**answer.facts, "verb": "prepare_wrap", "code": answer.code})
        return None
    outcome, wrap_id = answer.data.get("outcome"), answer.data.get("wrap_id")
    if outcome != "opened":
        agent.say("waiting", f"opens no wrap: {outcome} {answer.data.get('reason') or ''}".rstrip())
        return None
    agent.say("prepared", f"opens wrap {wrap_id} of {agent.story.project_key}", {"wrap_id": wrap_id})
    return answer


async def save(agent: Agent, prepared: Answer) -> bool:
    """Compress what was frozen and save it with the wrap's own token."""
    wrap_id = prepared.data["wrap_id"]
    episodes, earlier = read_package(prepared.text)
    text = compress(agent.story, episodes, earlier, prepared.data["wrap_date"])
    answer = await agent.call("save_continuity", text=text, wrap_token=prepared.data["wrap_token"])
    while answer.code == "store_busy":
        await agent.rest(RETRY_SECONDS)
        answer = await agent.call("save_continuity", text=text, wrap_token=prepared.data["wrap_token"])
    if answer.code:
        how = "too late" if answer.code in TOO_LATE else "in vain"
        sentence = f"saves wrap {wrap_id} {how}, {answer.code}: {answer.sentence}"
        agent.say("refused", sentence, {**answer.facts, "verb": "save_continuity", "code": answer.code, "wrap_id": wrap_id})
        return False
    agent.say("saved", f"saves wrap {wrap_id}: {len(episodes)} episodes in {len(text):,} characters", {"wrap_id": wrap_id})
    return True
