"""The rules of the PJRT C API that a capture can show as broken.

`docs/reference/validation.md` has one section per rule, written by `docs/make_validation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.base.words import add_article
from framedex.model import Severity


class Side(StrEnum):
    """A side of the C API."""

    CLIENT = "client"
    PLUGIN = "plug-in"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and the text of its violations.

    `breaker` is the side that breaks it. `sentence` states the rule. `basis` says in our words how the header supports
    it; `declared` names the declarations in pjrt_c_api.h with that comment. `evidence` are the stacks and values that a
    finding shows. `message` completes "PJRT_Buffer_Destroy ...". Its fields are `noun` (what the violation is about),
    `a_type` ("a buffer") and `earlier` (the function of the earlier call). `is_live`: `framedex run --validate` also
    judges it at the call, in `native/pjrt/live_rules/`.
    """

    name: str
    breaker: Side
    severity: Severity
    sentence: str
    basis: str
    declared: tuple[str, ...]
    evidence: str
    message: str
    remedy: str
    is_live: bool = False

    def format_message(self, noun: str, earlier: str | None = None) -> str:
        """Return the message about an object of the type `noun`, with the function of the earlier call."""
        return self.message.format(noun=noun, a_type=add_article(noun), earlier=earlier)


_CLIENT, _PLUGIN = Side.CLIENT, Side.PLUGIN
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

RULES = (
    # The lifetime of objects.
    Rule(
        name="use-after-destroy",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A destroyed object is not used again.",
        basis="A destroying function frees its object, so the address is no longer valid.",
        declared=("PJRT_Buffer_Destroy", "PJRT_Event_Destroy", "PJRT_LoadedExecutable_Destroy"),
        evidence="The stack of the use, and that of the destruction.",
        message="was given {a_type} that {earlier} had destroyed",
        remedy="Destroy the object after its last use, or keep a reference count around it.",
        is_live=True,
    ),
    Rule(
        name="double-destroy",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="An object is destroyed once for each time that the plug-in created it.",
        basis="A destroying function frees its object. Only null may be passed any number of times.",
        declared=("PJRT_Buffer_Destroy", "PJRT_Event_Destroy", "PJRT_Executable_Destroy"),
        evidence="The stacks of both destructions.",
        message="was given {a_type} that had been destroyed before",
        remedy="Let one owner destroy the object, and set its other pointers to null.",
        is_live=True,
    ),
    Rule(
        name="unknown-destroy",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="Only objects that the plug-in created are destroyed.",
        basis="The caller destroys what the plug-in returned. Other addresses are not objects of the plug-in.",
        declared=("PJRT_Buffer_Destroy", "PJRT_Event_Destroy"),
        evidence="The stack of the destruction.",
        message="was given {a_type} to destroy that no recorded call created",
        remedy="Look for a pointer that was never set, or that belongs to another plug-in.",
    ),
    Rule(
        name="foreign-destroy",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="An object that belongs to its client is not destroyed by the caller.",
        basis="The topology of a client is the client's own, and the caller should not delete it.",
        declared=("PJRT_Client_TopologyDescription",),
        evidence="The stack of the destruction, and that of the call that returned the object.",
        message="was given {a_type} to destroy that belongs to the client",
        remedy="Do not destroy it: it is freed with its client.",
    ),
    Rule(
        name="use-after-delete",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A deleted or donated object is only queried for its deletion, and destroyed.",
        basis=(
            "After the deletion, only the functions IsDeleted and Destroy accept the object. A donated buffer is like a"
            " deleted one."
        ),
        declared=("PJRT_Buffer_Delete", "PJRT_LoadedExecutable_Delete", "PJRT_Buffer_DonateWithControlDependency"),
        evidence="The stack of the use, and that of the deletion, donation, or query that reported it.",
        message="was given {a_type} whose content was gone, deleted or donated",
        remedy=(
            "Use the result of the execution in place of the donated buffer, or do not donate it"
            " (`non_donatable_input_indices`)."
        ),
        is_live=True,
    ),
    Rule(
        name="destroyed-in-use",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="An object is not destroyed while a call on another thread uses it.",
        basis="A destroying function frees its object at once. It does not wait for other calls.",
        declared=("PJRT_Event_Destroy", "PJRT_Buffer_Destroy"),
        evidence="The stack of the destruction, and that of the other thread's call.",
        message="destroyed {a_type} that {earlier} was using on another thread",
        remedy="Join the thread, or let its call return, before the destruction.",
    ),
    Rule(
        name="use-after-client",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="An object is not used, and not destroyed, after its client.",
        basis="The destruction of a client shuts it down and frees it, and its objects refer to it.",
        declared=("PJRT_Client_Destroy",),
        evidence="The stack of the use, and that of the client's destruction.",
        message="was given {a_type} whose client had been destroyed",
        remedy="Destroy a client's objects before the client, or let each object hold a reference to it.",
    ),
    Rule(
        name="leak",
        breaker=_CLIENT,
        severity=_WARNING,
        sentence="The caller destroys each object that the plug-in created for it, before the client.",
        basis="The caller is responsible for freeing the buffers, events and executables that calls return.",
        declared=("PJRT_Event", "PJRT_Client_BufferFromHostBuffer", "PJRT_LoadedExecutable_GetExecutable"),
        evidence="The stack of the creation, and that of the client's destruction.",
        message="created {a_type} that was not destroyed before its client",
        remedy="Destroy the object. For an event that nobody awaits, destroy it at once.",
    ),
    Rule(
        name="unknown-handle",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A function receives objects that the plug-in returned.",
        basis="Buffers, events and executables are opaque. Their addresses come only from the plug-in.",
        declared=("PJRT_Event", "PJRT_Buffer"),
        evidence="The stack of the first use.",
        message="was given {a_type} that no recorded call created",
        remedy="Look for a pointer that was never set, or that belongs to another plug-in.",
    ),
    Rule(
        name="null-handle",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="Only destroying functions accept null in place of an object. A list of objects has no null.",
        basis="The comments of destroying functions allow null. Those of other functions do not.",
        declared=("PJRT_Buffer_Destroy", "PJRT_Event_Destroy"),
        evidence="The stack of the call.",
        message="was given null for {a_type}",
        remedy="Check the call that should have returned the object: it failed, or its result was lost.",
        is_live=True,
    ),
    Rule(
        name="pointer-without-reference",
        breaker=_CLIENT,
        severity=_WARNING,
        sentence="The memory of a buffer is only accessed while an external reference holds it.",
        basis="The pointer may become invalid at any moment while the external reference count is 0.",
        declared=("PJRT_Buffer_OpaqueDeviceMemoryDataPointer",),
        evidence="The stack of the call.",
        message="was given a buffer without an external reference",
        remedy="Call PJRT_Buffer_IncreaseExternalReferenceCount first, and decrease the count after the last access.",
    ),
    # Errors.
    Rule(
        name="undestroyed-error",
        breaker=_CLIENT,
        severity=_WARNING,
        sentence="The caller destroys each error that a call returns.",
        basis="The plug-in allocates errors, and the caller always has to free them.",
        declared=("PJRT_Error", "PJRT_Event_Error", "PJRT_Event_Await"),
        evidence="The stack of the call that returned the error.",
        message="returned an error that was never destroyed",
        remedy="Pass every error to PJRT_Error_Destroy, also one that you ignore.",
    ),
    # Events.
    Rule(
        name="event-set-twice",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="An event is set once.",
        basis="Setting an event completes it. A completed event keeps its state.",
        declared=("PJRT_Event_Set",),
        evidence="The stacks of both calls of PJRT_Event_Set.",
        message="was given an event that {earlier} had set before",
        remedy="Let one owner set the event.",
    ),
    Rule(
        name="event-never-set",
        breaker=_CLIENT,
        severity=_WARNING,
        sentence="An event that the caller created, and that another side waits for, is set before it is destroyed.",
        basis="Setting the event tells the other side that the work is complete. Without it, that side waits forever.",
        declared=("PJRT_Event", "PJRT_Event_Set"),
        evidence="The stack of the destruction, and that of the first call that waits.",
        message="was given an event that was never set",
        remedy="Call PJRT_Event_Set on every path, with an error code if the work failed.",
    ),
    Rule(
        name="error-before-ready",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="The error of an event is read after the event is ready.",
        basis="The function should only be called if PJRT_Event_IsReady returns true.",
        declared=("PJRT_Event_Error",),
        evidence="The stack of the call, and that of the event's creation.",
        message="was given an event that was not known to be ready",
        remedy="Call PJRT_Event_Await, or check PJRT_Event_IsReady first.",
    ),
    # The start.
    Rule(
        name="not-initialized",
        breaker=_CLIENT,
        severity=_WARNING,
        sentence="The plug-in is initialised before its other functions are called.",
        basis="The set-up of a plug-in happens once, before any other function is called.",
        declared=("PJRT_Plugin_Initialize",),
        evidence="The stack of the first early call.",
        message="was called before PJRT_Plugin_Initialize",
        remedy="Call PJRT_Plugin_Initialize once after GetPjrtApi.",
    ),
    # The boundary.
    Rule(
        name="struct-too-small",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A caller's struct has at least the fields of the first version.",
        basis="The size says how many fields the caller knows. Fields are only ever added at the end.",
        declared=("PJRT_API_MINOR",),
        evidence="The stack of the call; both sizes.",
        message="was given a struct that is too small: {noun}",
        remedy="Set `struct_size` to the `..._STRUCT_SIZE` constant of the header.",
        is_live=True,
    ),
    Rule(
        name="struct-too-large",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A caller's struct is not larger than any version has it.",
        basis=(
            "The size says how many fields the caller knows. Up to twice the size that framedex knows counts as a newer"
            " client."
        ),
        declared=("PJRT_API_MINOR",),
        evidence="The stack of the call; both sizes.",
        message="was given a struct that is too large: {noun}",
        remedy="Set `struct_size` to the `..._STRUCT_SIZE` constant of the header.",
    ),
    Rule(
        name="larger-struct-refused",
        breaker=_PLUGIN,
        severity=_ERROR,
        sentence="A plug-in accepts structs that are larger than it knows.",
        basis=(
            "Adding a field to a struct is a compatible change. An implementation uses the size to detect the fields"
            " that the caller knows."
        ),
        declared=("PJRT_API_MINOR",),
        evidence="The stack of the call; both sizes.",
        message="refused a struct for its size: {noun}",
        remedy="Compare with `>=`. Read and write only fields that both sides know.",
    ),
    Rule(
        name="null-function",
        breaker=_PLUGIN,
        severity=Severity.NOTE,
        sentence="Each function within the size of a table is there.",
        basis="The size of a table says which functions the plug-in knows. Clients call these without a test for null.",
        declared=("PJRT_Api", "PJRT_API_MINOR"),
        evidence="The stack of GetPjrtApi; the function's name.",
        message="returned a table in which {noun} is null",
        remedy="Fill the slot with a function that returns UNIMPLEMENTED.",
    ),
    Rule(
        name="missing-function",
        breaker=_PLUGIN,
        severity=_ERROR,
        sentence="A client's calls find their functions in the plug-in's table.",
        basis="The size of a table says which functions the plug-in knows. Clients call these without a test for null.",
        declared=("PJRT_Api", "PJRT_API_MINOR"),
        evidence="The stack of the call, which did not return.",
        message="was called, but is null in the plug-in's table",
        remedy="Implement the function, or return UNIMPLEMENTED.",
    ),
    Rule(
        name="function-beyond-table",
        breaker=_CLIENT,
        severity=_ERROR,
        sentence="A client calls only functions within the size of the plug-in's table.",
        basis="Callers check the version of the plug-in, to learn whether it is aware of newer functions.",
        declared=("PJRT_Api", "PJRT_API_MINOR"),
        evidence="The stack of the call, which did not return.",
        message="was called, but the plug-in's table ends before it",
        remedy="Compare the table's `struct_size` with the function's offset, or use an older client.",
    ),
    Rule(
        name="exception",
        breaker=_PLUGIN,
        severity=_ERROR,
        sentence="No C++ exception leaves a function.",
        basis="The header is C, and functions return failures as PJRT_Error*. A C client cannot unwind.",
        declared=("PJRT_Error",),
        evidence="The stack of the call; the exception's type and text.",
        message="let the C++ exception {noun} through",
        remedy="Catch exceptions in each function, and return them as errors.",
        is_live=True,
    ),
    # Results.
    Rule(
        name="ok-without-result",
        breaker=_PLUGIN,
        severity=_ERROR,
        sentence="A call that succeeds fills its results.",
        basis="A null error means success, and the fields marked `out` are then set by the plug-in. An object, or a"
        " list or text with a length above zero, is not null.",
        declared=("PJRT_Error", "PJRT_Client_BufferFromHostBuffer"),
        evidence="The stack of the call; the names of the fields.",
        message="succeeded without filling {noun}",
        remedy="Fill every field marked `out`, or return an error. UNIMPLEMENTED is the code for a missing feature.",
        is_live=True,
    ),
)
"""All rules, by subject."""

RULES_BY_NAME = {rule.name: rule for rule in RULES}
