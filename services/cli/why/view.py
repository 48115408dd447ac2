"""A context on a terminal: what `correspondent why` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from schemas.events.replies import ContextLayer
from services.cli.terminal import plain, short
from services.operations.threads.explanations import Decision, Explanation


def whole(one: Explanation) -> Iterator[Text]:
    """What was known, in the order in which the model read it; then what shaped the reply, and what became of it."""
    author = "authenticated" if one.trusted else "not authenticated: no memory of them is shown"
    yield Text.assemble(
        (f"Turn {short(one.turn_id)}", "bold"),
        f"  of thread {short(one.thread_id)}, {one.at:%Y-%m-%d %H:%M}, for a {one.purpose}; the author is {author}",
    )
    for layer in one.layers:
        yield from _layer(layer)
    yield Text("\nWhat shaped it", "bold")
    for name, chosen in sorted(one.settings.items()):
        style = "dim" if chosen.source == "default" else ""
        yield plain(f"  {name} = {str(chosen.value)[:80]}  ({chosen.source})", style)
    for decision in one.decisions:
        yield from _decision(decision)


def _layer(layer: ContextLayer) -> Iterator[Text]:
    """A layer's text, then why each entry that says so is in it."""
    marks = [f"{layer.tokens} tokens"]
    marks += [f"{layer.left_out} left out"] if layer.left_out else []
    marks += ["the same for all mails of the inbox"] if layer.shared else []
    yield Text.assemble((f"\nLayer {layer.name}", "bold"), plain(f"  {', '.join(marks)}", "dim"))
    yield from (plain(text, style) for text, style in ((layer.about, "dim"), (layer.text, "")) if text)
    yield from (plain(f"    {reason}", "dim") for item in layer.items if (reason := _reason(item)))


def _reason(item: Mapping[str, Any]) -> str:
    """Why an entry is there: how well it fits, or how sure memory is; "" where the layer itself is the reason."""
    if item.get("why"):
        near = "" if item.get("similarity") is None else f", cosine {item['similarity']:.2f}"
        return f"{short(item['id'])} {item['kind']}/{item['key']}: {item['why']}, score {item['score']:.3f}{near}"
    if item.get("recall"):
        fact = f" by {short(item['fact'])}" if item.get("fact") else ""
        return f'"{item["question"]}": {item["recall"]}{fact}, related {item["related"]:.2f}'
    return f"{short(item['id'])}: score {item['score']:.3f}" if {"id", "score"} <= item.keys() else ""


def _decision(one: Decision) -> Iterator[Text]:
    """What the model decided, at what cost, and which of its calls were refused."""
    usage = f"{one.model}, {one.usage.calls} calls, {one.usage.input} tokens in, {one.usage.output} out"
    why = f": {one.reason}" if one.reason else ""
    yield Text.assemble((f"\nDecided  {one.decision}", "bold"), plain(f"  {short(one.reply_id)}  {usage}{why}", "dim"))
    if one.text:
        yield plain(one.text)
    yield from (plain(f"    rests on {citation}", "dim") for citation in one.citations)
    yield from (plain(f"    refused: {call}", "dim") for call in one.refused_calls)
