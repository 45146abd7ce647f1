"""The process, or the job of several processes, that an argument names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.commands.inputs.files import working_folder

if TYPE_CHECKING:
    from framedex.fleet.running.states import RunningJob
    from framedex.live.targets import Target


def find_process(named: str | None) -> tuple[Target, RunningJob | None]:
    """The process of a process id, a capture or a folder of captures, by default that of the working folder.

    The job is that of the process, if the folder has captures of several ranks, otherwise None. Raises FramedexError if
    there is no such process.
    """
    from framedex.fleet.running.states import find_job_of_target
    from framedex.live.targets import find_target

    here = working_folder()
    target = find_target(named, here)
    if target.capture is None or (named is not None and not (here / named).is_dir()):
        return target, None
    return target, find_job_of_target(target, target.capture.parent if named is None else here / named)
