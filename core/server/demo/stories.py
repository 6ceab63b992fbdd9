"""What the demo's agents write about: a shop's payment service and its neighbours, as episodes that agents would record."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.models import EpisodeType, Trust


@dataclass(frozen=True, slots=True)
class Line:
    """One episode to record. Names in braces in `text` stand for numbers that differ each time."""

    episode_type: EpisodeType
    text: str
    source: str = "agent"
    trust: Trust = "agent"


@dataclass(frozen=True, slots=True)
class Lesson:
    """What an agent explains a pattern with when it cites an episode that has these words: true of that episode, and said once."""

    words: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of a project: an episode with `word` is its first sighting, each lesson can raise it by a rung."""

    name: str
    word: str
    says: str
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A project: what it is, what always holds of it, which patterns its episodes ground, and its episodes."""

    project_key: str
    about: str
    facts: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    lines: tuple[Line, ...]

    def episodes(self, seed: object) -> Iterator[Line]:
        """Endless episodes; the same seed gives the same ones."""
        chance = random.Random(f"{self.project_key} {seed}")
        at = chance.randrange(len(self.lines))
        while True:
            line = self.lines[at % len(self.lines)]
            yield Line(line.episode_type, line.text.format(**_numbers(chance)), line.source, line.trust)
            at += 1


def _numbers(chance: random.Random) -> dict[str, Any]:
    return {
        "pr": chance.randrange(2100, 2900),
        "ms": chance.randrange(140, 980),
        "few": chance.randrange(2, 9),
        "count": chance.randrange(11, 480),
        "order": f"A-{chance.randrange(10_000, 99_999)}",
        "percent": f"{chance.randrange(2, 90) / 10:.1f}",
        "build": chance.randrange(4_000, 9_999),
    }


CHECKOUT = Story(
    "checkout",
    "The checkout: from the basket to a paid order, three steps, one page each.",
    (
        "An order number is given when the payment is authorised, never before.",
        "Amounts are integers in the currency's smallest unit.",
        "The feature flag `one-page` belongs to the web team.",
    ),
    (
        Pattern(
            "retry-needs-idempotency-key",
            "idempotency",
            "Whatever a browser can send twice, it will.",
            (
                Lesson("paid twice", "the browser retried after a timeout and the order was paid twice"),
                Lesson("carries an idempotency key", "every checkout page makes its idempotency key when it is opened"),
            ),
        ),
        Pattern(
            "flaky-test-is-a-race",
            "flaky",
            "A test that fails now and then has found something.",
            (Lesson("test_double_submit", "the lock is taken only after the read, so a double submit slips in"),),
        ),
    ),
    (
        Line("observation", "The address step takes {ms} ms at p95; {few} of its calls are to the postcode service."),
        Line("decision", "Every POST of the checkout carries an idempotency key, made when the page is opened (PR {pr})."),
        Line("outcome", "Build {build}: {count} tests passed, {few} skipped, 0 failed.", "ci", "tool"),
        Line("tension", "The basket must be locked during payment, yet a customer with two tabs expects both to work."),
        Line(
            "observation",
            "Order {order} was paid twice: the browser retried after a gateway timeout, without an idempotency key.",
        ),
        Line("question", "May a voucher be kept when the payment fails, or does it go back at once?"),
        Line("context", "Marcela asks for the new order summary before Thursday; the design is in ticket SHOP-{count}."),
        Line("observation", "The flaky test `test_double_submit` fails in {few} of 40 runs; the lock is taken after the read."),
        Line("decision", "The summary page reads totals from the order, not from the basket, so that both can't differ."),
        Line("outcome", "PR {pr} merged: errors of the payment step are told apart, declined from unreachable."),
        Line("observation", "Sentry counts {count} times `KeyError: 'shipping_method'` since yesterday.", "sentry", "tool"),
        Line("tension", "Guests should not need an account, but refunds without one cost support {few} mails each."),
    ),
)

SEARCH = Story(
    "search",
    "Product search: an index built every night, ranking by text, stock and margin.",
    (
        "The index is built at 02:00 UTC and swapped by alias; the old one is kept for a day.",
        "Relevance is judged on the 400 queries of `golden.tsv`.",
    ),
    (
        Pattern(
            "synonyms-before-stemming",
            "synonym",
            "A synonym that was stemmed first is not found.",
            (
                Lesson("finds nothing", "the list knows usb but not kabel, so a plain wish finds nothing"),
                Lesson("expansion happens", "expansion at indexing keeps what is asked short"),
            ),
        ),
        Pattern(
            "measure-on-golden-queries",
            "golden",
            "No change of the ranking without a measure.",
            (
                Lesson("got worse", "some golden queries got worse while the mean rose"),
                Lesson("pinned products", "pinned products please merchandising and cost relevance"),
            ),
        ),
    ),
    (
        Line("observation", "NDCG@10 on the golden queries is 0.{ms}, {few} queries got worse."),
        Line("decision", "Boost for stock is capped at 1.4: above it, sold-out classics vanish from page one."),
        Line("observation", "`usb c kabel` finds nothing: the synonym list knows only `usb-c`."),
        Line("outcome", "Reindex of {count},000 products took {few} min; p95 of a query fell to {ms} ms.", "indexer", "tool"),
        Line("question", "Should a query without a hit fall back to vectors, or say honestly that there is nothing?"),
        Line("tension", "Merchandising wants pinned products; the golden queries lose {percent} % with them."),
        Line("context", "The analyser was changed in PR {pr}; a full reindex is needed before it can be compared."),
        Line("observation", "{percent} % of queries have a typo at distance one; fuzziness AUTO costs {ms} ms more."),
        Line("decision", "Synonym expansion happens when indexing, not when asking: queries stay short (PR {pr})."),
        Line(
            "observation",
            "A forum answer advises to switch the circuit breaker off altogether; read as a claim, not as advice.",
            "web: forum",
            "external",
        ),
    ),
)

PAYMENTS = Story(
    "payments",
    "The payment service: authorise, capture, refund, over two gateways, with a ledger of its own.",
    (
        "Capture happens at dispatch; an authorisation lapses after 7 days.",
        "The ledger is append-only: a mistake is corrected by a second entry.",
        "Gateway B answers a timeout although it has booked: ask for the state before trying again.",
    ),
    (
        Pattern(
            "ask-before-retry",
            "timeout",
            "No answer is not a no.",
            (
                Lesson("booked after all", "a gateway that answers with a timeout has booked after all"),
                Lesson("same reference", "the state is asked with one reference before it is retried"),
            ),
        ),
        Pattern(
            "ledger-is-the-truth",
            "ledger",
            "What is not in the ledger has not happened.",
            (
                Lesson("ledger entry waits", "even a webhook waits until its ledger entry is written"),
                Lesson("partial captures", "partial captures are each an own booking"),
            ),
        ),
    ),
    (
        Line("observation", "Gateway B: {count} timeout answers in the last hour, {few} of them were booked after all."),
        Line("decision", "After a timeout the state is asked with the same reference, three times, before anything is retried."),
        Line("outcome", "The nightly reconciliation found {few} differences between ledger and gateway A.", "reconcile", "tool"),
        Line("observation", "Refund of order {order} hangs in `pending` for {count} min; the webhook was answered with 500."),
        Line("tension", "Webhooks must be answered within 3 s, but the ledger entry waits for a lock of up to {ms} ms."),
        Line("decision", "Webhooks are stored first and worked on later; the answer is 202 at once (PR {pr})."),
        Line("question", "Who may refund more than was captured, for a gesture of goodwill, and in which ledger account?"),
        Line("context", "The PCI audit begins on Monday; card numbers must be out of the logs of build {build} by then."),
        Line("observation", "p95 of an authorisation: {ms} ms, {percent} % slower than last week.", "grafana", "tool"),
        Line("outcome", "PR {pr} merged: partial captures are booked each as an entry of their own in the ledger."),
        Line(
            "observation",
            "Status page of gateway A: degraded performance in eu-west since 09:12.",
            "web: status page",
            "external",
        ),
        Line("outcome", "Load test: {count} authorisations a second for 10 min, {few} errors.", "k6", "tool"),
    ),
)

DOCS = Story(
    "docs",
    "The developers' handbook: API reference, guides, a changelog; built from the repositories.",
    ("Every example in a guide is run in CI.", "Words are spelled as in `glossary.md`."),
    (
        Pattern(
            "examples-are-tests",
            "example",
            "What nobody runs is wrong sooner or later.",
            (
                Lesson("answers 422", "the guide to refunds showed what answers 422 by now"),
                Lesson("gets a test", "an example that is not run is cut or gets a test"),
            ),
        ),
        Pattern(
            "one-word-one-thing",
            "glossary",
            "Two words for one thing are two things to a reader.",
            (
                Lesson("noun", "capture is used as a noun and as a verb"),
                Lesson("pages wait", "translated pages wait until the glossary is settled"),
            ),
        ),
    ),
    (
        Line("observation", "The guide to refunds shows an example that answers 422 since PR {pr}."),
        Line("decision", "An example that can't be run is cut or gets a test; no third way."),
        Line("outcome", "Link check: {count} links, {few} dead.", "linkcheck", "tool"),
        Line("question", "Is `capture` a noun in the glossary, or only ever a verb?"),
        Line("context", "翻訳チームは用語集の更新を待っている ({few} pages wait for the glossary)."),
        Line("observation", "Search log of the handbook: `webhook retry` is asked {count} times, the page is titled “Delivery”."),
        Line("tension", "Support wants longer answers in the guides, readers leave after {few} screens."),
        Line("outcome", "PR {pr} merged: the error table is generated from the code, [brackets] and all ✓"),
        Line("observation", "A blog cites our rate limits as {count} a minute; they are per second.", "web: blog", "external"),
    ),
)

STORIES = {story.project_key: story for story in (CHECKOUT, SEARCH, PAYMENTS, DOCS)}
