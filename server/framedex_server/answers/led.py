"""Leading a reader one frame on, and telling quietly what that went over and which other ways there were.

It is told after the answer, since what an editor shows of the file that it opens would cover it, and only where it is
shown in a line at the window's edge: to clients that take `framedex/led`, and to editors that are known to show
messages so. Others would open a window over the text at each step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pygls.lsp.server import LanguageServer

from framedex_server.answers.requests import tell
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import MOST_TARGETS, Targets, answer
from framedex_server.answers.ways import Way
from framedex_server.inward import passed_text
from framedex_server.protocol import LED

if TYPE_CHECKING:
    from framedex.index import Index


async def lead(
    server: LanguageServer,
    session: Session,
    place: Place,
    method: str,
    search: Callable[[Session, Place, Index], list[Way]],
) -> Targets:
    """Where the first way from a line leads, as the client takes it; all of them where the settings ask for that."""
    takes_all = session.settings_at(place.path).all_places
    most, links = MOST_TARGETS if takes_all else 1, session.links_supported_for(method)

    def found(index: Index) -> tuple[list[Way], Targets]:
        ways = search(session, place, index)
        origin = session.line_range(place.path, place.line)
        return ways, answer(session, origin, [way.target for way in ways], links, most)

    ways, targets = await session.ask_at(place, found) or ([], None)
    if ways:
        _tell_afterwards(server, session, "" if takes_all else _led(ways))
    return targets


def _led(ways: Sequence[Way]) -> str:
    """What is said of a step that took the first of these ways; empty where nothing is."""
    others = [f"way 1 of {len(ways)}"] if len(ways) > 1 else []
    return "; ".join([*passed_text(ways[0].passed), *others])


def _tell_afterwards(server: LanguageServer, session: Session, text: str) -> None:
    """Tell of a step once its request is answered: clients that keep what is shown are told of an empty text, too."""
    task = asyncio.current_task()
    assert task is not None
    if session.takes_led:
        task.add_done_callback(lambda _: server.protocol.notify(LED, {"text": text}))
    elif text and session.shows_messages_in_a_line:
        task.add_done_callback(lambda _: tell(server, text))
