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

from framedex_server.answers.elsewhere import public_ways_on
from framedex_server.answers.requests import Json, tell
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import MOST_TARGETS, Targets, answer
from framedex_server.answers.ways import TURNED, Way, ways_in
from framedex_server.inward import passed_text, place_name
from framedex_server.markup import shorten
from framedex_server.protocol import LED, OPEN_PUBLIC

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location


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
        _tell_afterwards(server, session, place, "" if takes_all else _led(ways))
    elif search is ways_in:
        pages = await session.ask_at(place, lambda index: public_ways_on(session, index, place))
        if pages:
            tell_of_page(server, session, place, *pages[0])
    return targets


def tell_of_page(server: LanguageServer, session: Session, place: Place, what: str, there: Location) -> None:
    """Tell, once the request is answered, that a frame is not on this machine, and the command that opens its page."""
    text = f"{shorten(what)} continues at {place_name(there)}, which is not on this machine"
    action = {"title": f"Open {place_name(there)} in the browser", "command": OPEN_PUBLIC, "arguments": [there.url]}
    _tell_afterwards(server, session, place, text, action)


def _led(ways: Sequence[Way]) -> str:
    """What is said of a step that took the first of these ways; empty where nothing is."""
    others = [f"way 1 of {len(ways)}"] if len(ways) > 1 else []
    turned = [TURNED] if ways[0].turns_outward else []
    return "; ".join([*turned, *passed_text(ways[0].passed), *others])


def _tell_afterwards(
    server: LanguageServer, session: Session, place: Place, text: str, action: Json | None = None
) -> None:
    """Tell of a step once its request is answered: clients that keep what is shown are told of an empty text, too."""
    task = asyncio.current_task()
    assert task is not None
    if session.takes_led:
        at = {"uri": place.uri, "line": place.shown}
        about = {"action": action, "at": at} if action is not None else {}
        task.add_done_callback(lambda _: server.protocol.notify(LED, {"text": text, **about}))
    elif text and session.shows_messages_in_a_line:
        address = f": {action['arguments'][0]}" if action is not None else ""
        task.add_done_callback(lambda _: tell(server, text + address))
