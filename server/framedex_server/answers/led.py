"""Going one frame further, with a quiet note on skipped frames and alternatives.

The note is sent after the answer, because the file that the editor opens would cover it. Only clients that show it in
a status line get it: clients that support `framedex/led`, and some known editors. Other editors would open a window
over the text at each step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pygls.lsp.server import LanguageServer

from framedex_server.answers.elsewhere import continues_text, public_ways_on
from framedex_server.answers.requests import Json, tell
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import MOST_TARGETS, Targets, answer
from framedex_server.answers.ways import TURNED, Way, ways_in
from framedex_server.inward import passed_text, place_name
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
    """Return the target of the first way from a line, or all targets if the settings say so; send the note."""
    takes_all = session.settings_at(place.path).all_places
    most, links = MOST_TARGETS if takes_all else 1, session.links_supported_for(method)

    def found(index: Index) -> tuple[list[Way], Targets]:
        ways = search(session, place, index)
        origin = session.line_range(place.path, place.line)
        return ways, answer(session, origin, [way.target for way in ways], links, most)

    ways, targets = await session.ask_at(place, found) or ([], None)
    if ways:
        text, about = ("", {}) if takes_all else _led(ways)
        request = "framedex/waysIn" if search is ways_in else "framedex/waysOut"
        _tell_afterwards(server, session, text, {**about, "at": place.parameters, "request": request})
    elif search is ways_in:
        pages = await session.ask_at(place, lambda index: public_ways_on(session, index, place))
        if pages:
            tell_of_page(server, session, place, *pages[0])
    return targets


def tell_of_page(server: LanguageServer, session: Session, place: Place, what: str, there: Location) -> None:
    """After the answer, report that a frame is not on this machine, with a command that opens its public page."""
    action = {"title": f"Open {place_name(there)} in the browser", "command": OPEN_PUBLIC, "arguments": [there.url]}
    about = {"action": action, "at": place.parameters}
    _tell_afterwards(server, session, continues_text(what, there), about, address=f": {there.url}")


def _led(ways: Sequence[Way]) -> tuple[str, Json]:
    """Return the note about a step along the first of these ways, which may be empty, and its further fields."""
    is_choice = len(ways) > 1
    others = [f"way 1 of {len(ways)}"] if is_choice else []
    turned = [TURNED] if ways[0].turns_outward else []
    text = "; ".join([*turned, *passed_text(ways[0].passed), *others])
    return text, {"ways": len(ways)} if is_choice else {}


def _tell_afterwards(server: LanguageServer, session: Session, text: str, about: Json, address: str = "") -> None:
    """Send a note after the answer; an empty text clears the note of a client that supports `framedex/led`.

    `about` has further fields of `framedex/led`. Messages end with the `address` instead.
    """
    task = asyncio.current_task()
    assert task is not None
    if session.takes_led:
        task.add_done_callback(lambda _: server.protocol.notify(LED, {"text": text, **about}))
    elif text and session.shows_messages_in_a_line:
        task.add_done_callback(lambda _: tell(server, text + address))
