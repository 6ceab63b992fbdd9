"""What a text must pass before its patterns are judged, beside anneal-memory's: sections, annotated state, shrinking (wraps.md e1, 5 to 7)."""

from __future__ import annotations

import random

import pytest

from core.errors import Refusal
from core.memory import continuity, text_gates
from core.memory.continuity import Section

peer = pytest.importorskip("anneal_memory.continuity", reason="the peer comes with the bench extra")

EACH = 1_000
SCHEMAS = {
    **continuity.SCHEMAS,
    "own": (
        Section("C++", "live-state"),
        Section("Lessons learned", "graduating"),
        Section("Who we are", "narrative-timeless"),
        Section("Other lessons", "graduating"),
        Section("Facts", "durable", optional=True),
    ),
}
TITLES = (
    *("State", "Patterns", "Decisions", "Context", "Durable Facts", "Active Threads", "Understanding", "Plan", "Open", "Lessons"),
    *("History", "C++", "Lessons learned", "Who we are", "Other lessons", "Facts"),
)
AROUND = (
    "{}",
    "{}",
    "{}",
    "{}",
    "{} of Mind",
    "Inter{}",
    "the {} now",
    "{}s",
    "({})",
    "{}_x",
    "{} and State",
    " {}",
    "{}: today",
)
LINE_ENDS = ("\n", "\n", "\n", "\r\n")


def spelt(sections: tuple[Section, ...]) -> list[dict[str, object]]:
    """A schema in the peer's form."""
    return [{"heading": one.heading, "role": one.role, **({"optional": True} if one.optional else {})} for one in sections]


def heading(chance: random.Random, title: str) -> str:
    """A heading line with that title in it, more or less."""
    title = chance.choice(AROUND).format(title)
    return "## " + chance.choice((title, title, title.lower(), title.upper()))


def text(chance: random.Random, sections: tuple[Section, ...], longest: int) -> str:
    """A text with most of the sections, in any order, with bodies up to that long."""
    titles = [one.heading for one in sections if chance.random() < 0.97] + [chance.choice(TITLES)] * (chance.random() < 0.3)
    chance.shuffle(titles)
    lines = []
    for title in titles:
        lines += [heading(chance, title) if chance.random() < 0.2 else f"## {title}", "x" * int(longest ** chance.random())]
    return chance.choice(LINE_ENDS).join(lines) + chance.choice(("", "\n"))


def accepted(given: str, sections: tuple[Section, ...]) -> bool:
    """Whether our check of the sections lets a text through."""
    try:
        continuity.split_sections(given, sections)
    except Refusal as refusal:
        assert refusal.code == "continuity_structure"
        return False
    return True


@pytest.mark.parametrize("name", SCHEMAS)
def test_both_find_the_same_sections(name: str) -> None:
    sections = SCHEMAS[name]
    outcomes = set()
    for seed in range(EACH):
        given = continuity.canonical(text(random.Random(seed), sections, 5))
        outcomes.add(ours := accepted(given, sections))
        assert ours == peer.validate_structure(given, spelt(sections)), (seed, given)
    assert outcomes == {True, False}


@pytest.mark.parametrize("name", SCHEMAS)
def test_both_refuse_the_same_shrinking(name: str) -> None:
    sections = SCHEMAS[name]
    outcomes = set()
    for seed in range(EACH):
        chance = random.Random(seed)
        before, after = (continuity.canonical(text(chance, sections, longest)) for longest in (3_000, 2_000))
        if not (accepted(before, sections) and accepted(after, sections)):
            continue
        outcomes.add(ours := not text_gates.shrunk_parts(before, after, sections))
        assert ours == kept_enough(before, after, sections), seed
    assert outcomes == ({True, False} if any(one.role == "narrative-timeless" for one in sections) else {True})


def kept_enough(before: str, after: str, sections: tuple[Section, ...]) -> bool:
    """What the peer's gate says."""
    try:
        peer._check_no_catastrophic_shrink(before, after, spelt(sections), allow_shrink=False)
    except ValueError:
        return False
    return True


# state lines

OPENERS = (
    *("[derive: ", "[derive: ", "[derive:", "[derive@main: ", "[derive@m-1:", "[judged: ", "[judged: ", "[judged:", "[derive@: "),
    *(
        "[derive@Main: ",
        "[derive @main: ",
        "[Judged: ",
        "[ judged: ",
        "[jud\u200eged: ",
        "[judged",
        "\uff3bjudged: ",
        "[judged\u0301: ",
    ),
    *("[derived: ", "[derive@" + "x" * 33 + ": ", "[judgedx: ", "[derive;", "judged: "),
)
CLAIMS = ("- The queue holds", "  nested", "### Sub", "all well [see above]", "", "100 % ")
BODIES = ("test -f README.md", "grep -c x a.md => 3", "operator, today", "", " ", "a ] b", "a => b => c")
ENDS = ("]", "]", "]", "]", "", "].", "]]", "]x")


def state_line(chance: random.Random) -> str:
    """A line of a state section, annotated or nearly."""
    line = f"{chance.choice(CLAIMS)} "
    for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 2))):
        line += chance.choice(OPENERS) + chance.choice(BODIES) + chance.choice(ENDS)
    return line


def test_both_accept_the_same_annotations() -> None:
    """The commands themselves are judged by the peer alone, which can run them."""
    rederive = pytest.importorskip("anneal_memory.rederive")
    outcomes = set()
    for seed in range(20_000):
        line = state_line(random.Random(seed)).rstrip()
        if not line:
            continue
        try:
            found = rederive.parse_annotation(line)
            if found and found.root is not None:
                rederive._check_label(found.root)
        except rederive.DeriveRefused:
            found = None
        theirs = found is not None and bool(found.judgement or found.command or found.expected)
        outcomes.add(ours := text_gates._annotated(line))
        assert ours == theirs, (seed, line)
    assert outcomes == {True, False}


def test_a_state_line_may_have_trailing_blanks() -> None:
    """What nobody sees is no part of the line; the peer wants the bracket to be its last character."""
    rederive = pytest.importorskip("anneal_memory.rederive")
    line = "- The queue holds [judged: operator] \t"
    text_gates.refuse_unannotated_state(f"## State\n{line}\n", continuity.SCHEMAS["project"])
    assert rederive.parse_annotation(line) is None
