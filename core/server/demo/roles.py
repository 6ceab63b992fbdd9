"""The roles of the demo: what each agent does, call by call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from core.server.demo.agent import Agent, Answer
from core.server.demo.compression import compress, read_package

RETRY_SECONDS = 3.0
BACK_OFF_SECONDS = 6.0
SHIFT_SECONDS = 5.0
"""How often an agent in a session notes where it stands; then it sees as well whether the session is still its own."""
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


async def shift(agent: Agent) -> None:
    """Works in a session. When the operator has relayed it, its heartbeat is refused and names the successor, which it goes on as."""
    project, key = agent.story.project_key, f"{agent.name}-1"
    started = await agent.call("brain_session_start", project_key=project, client_key=key)
    if started.code:
        agent.say("refused", f"may start no session, {started.why}", {"verb": "brain_session_start", "code": started.code})
        return
    session_id, number = started.data["session"]["id"], 0
    agent.say("session", f"starts session {session_id[:8]} in {project} and reads its briefing", {"session_id": session_id})
    while True:
        number += 1
        line = next(agent.lines)
        pair = {"session_id": session_id, "expected_client_key": key}
        noted = await agent.call(
            "brain_session_checkpoint", **pair, seq=number, progress=line.text, next_step="The next of the golden queries."
        )
        heir = noted.facts.get("successor_session_id") if noted.code == "session_not_open" else None
        if noted.code:
            agent.say("refused", f"can't go on in its session, {noted.why}", {**noted.facts, "code": noted.code})
        if heir:
            found = await agent.call("brain_session_get", session_id=heir)
            session_id, key, number = heir, found.data["session"]["client_key"], 0
            resumed = await agent.call("brain_session_resume", session_id=session_id, expected_client_key=key)
            briefing = resumed.data.get("briefing", "")
            focus = resumed.data.get("current_focus") or ""
            agent.say(
                "session",
                f"comes back as the successor, session {session_id[:8]}, with a briefing of {len(briefing):,} characters",
                {"session_id": session_id, "resumed": True, "focus_in_briefing": bool(focus) and focus in briefing},
            )
        elif noted.code:
            return
        await agent.rest(SHIFT_SECONDS)


ROLES: Mapping[str, Callable[[Agent], Awaitable[None]]] = {
    "worker": worker,
    "doomed": doomed,
    "blocked": blocked,
    "wedged": wedged,
    "waiter": waiter,
    "shift": shift,
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
    climbed = [one for one in answer.data["patterns"] if one["judgement"] == "validated" and one["level"] > (one["prior"] or 0)]
    told = "".join(f"; {one['name']} climbs from {one['prior']}x to {one['level']}x" for one in climbed)
    sentence = f"saves wrap {wrap_id}: {len(episodes)} episodes in {len(text):,} characters{told}"
    agent.say("saved", sentence, {"wrap_id": wrap_id, "climbed": [one["name"] for one in climbed]})
    return True
