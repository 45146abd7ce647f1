"""The redaction rules for definitions: the fields that stay, by class. All other texts become empty."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framedex.base.words import SHARED_MARK
from framedex.model import (
    CompileNote,
    Function,
    Metadata,
    NoteArgument,
    Parameter,
    PhaseKind,
    ProgramBuffer,
    ProgramCollective,
    ProgramFrame,
    ProgramFusion,
    ProgramMemory,
    Signature,
    Thread,
)
from framedex.model.programs import KEY_KINDS
from framedex.programs.ffi.joins import BOUNDARY, find_metadata_site_keys, split_function
from framedex.programs.ffi.model import Signature as HandlerSignature
from framedex.programs.objects import PJRT_BOUNDARIES
from framedex.shared.contents import (
    Definitions,
    SharedFunction,
    SharedHandler,
    SharedOps,
    SharedPhase,
    SharedProgram,
    SharedSite,
    SharedSource,
)
from framedex.sharing import harmless
from framedex.sharing.emptying import empty_texts
from framedex.sharing.names import PUBLIC_PACKAGES, NameReplacer
from framedex.sharing.paths import PROJECT, PYTHON, PathRedactor, is_interpreter, plain_file_name
from framedex.sharing.replacement import REDACTED, TextReplacer
from framedex.sources.releases import REPOSITORIES, Build

_PROBLEMS = re.compile(r"The capture was cut short by [\d,]+ calls? while it was shared\.")
_PROBLEMS_OF_PROGRAMS = re.compile(
    r"it is damaged, or in a form of MLIR's bytecode that is not known: some of its ops are missing"
    r"|only its first [\d,]+ ops were looked at|"
)
_MEMBER = re.compile(r"sources/\d{6}")
_RUN = re.compile(r"[0-9a-f]{32}")
_SELECTED_BY = frozenset(
    {"FRAMEDEX_INCLUDE", "FRAMEDEX_EXCLUDE", "FRAMEDEX_SAMPLE", "FRAMEDEX_RING", "FRAMEDEX_FLIGHT"}
)
_PACKAGES = frozenset({"python", "jax", "jaxlib", "torch_xla", "libtpu", "numpy"})
_MARKS = frozenset({SHARED_MARK, "imported"})
_ATTRIBUTES = frozenset(
    {
        *("mhlo.sharding", "sdy.sharding", "mhlo.layout_mode", "mhlo.memory_kind", "jax.buffer_donor"),
        *("tf.aliasing_output", "jax.result_info", "mhlo.is_same_data_across_replicas", "jax.arg_info"),
    }
)
_AXES = re.compile(r"'[^']*'")
_PARTITIONS = re.compile(r"P\((?:None|axis_\d+|\?|:part|[(), ])*\)")
_STAGES = frozenset({"execute", "instantiate", "prepare", "initialize"})
_JOINS = frozenset({"exact", "single", "ambiguous", "by_target"})


class DefinitionRules:
    """Redacts definitions. It empties every class first, so a field without a rule stays empty."""

    def __init__(self, replacement: TextReplacer, names: NameReplacer, paths: PathRedactor) -> None:
        self._replacement = replacement
        self._names = names
        self._paths = paths
        self._redacted_paths: tuple[str, ...] = ()  # paths with redacted folders, before their names are hidden
        self._targets: list[str] = []
        self._description_rules = self._rules_by_kind()

    def redact(self, definitions: Definitions) -> Definitions:
        """Return the redacted definitions."""
        self._redacted_paths = tuple(map(self._paths.redact_file, definitions.paths))
        self._names.add_definitions(definitions, self._redacted_paths)
        self._targets = [
            str(json.loads(text).get("target")) for kind, text in definitions.descriptions if kind == "ffi_target"
        ]
        kept_name = self._replacement.redact_kept_name
        paths = tuple(map(self._redact_file, definitions.paths))
        plain = replace(
            empty_texts(definitions),
            metadata=self._redact_metadata(definitions.metadata, paths),
            paths=paths,
            functions=tuple(map(self._redact_function, definitions.functions)),
            boundaries=tuple(map(self._redact_boundary, definitions.boundaries)),
            threads=tuple(map(self._redact_thread, definitions.threads)),
            problems=tuple(map(self._redact_problem, definitions.problems)),
            descriptions=tuple(self._redact_description(kind, text) for kind, text in definitions.descriptions),
            builds=tuple(self._redact_build(each) for each in definitions.builds if each.component in REPOSITORIES),
            handlers=tuple(map(self._redact_handler, definitions.handlers)),
            programs={kept_name(name): self._redact_program(each) for name, each in definitions.programs.items()},
            options={kept_name(name): self._redact_options(text) for name, text in definitions.options.items()},
            notes={kept_name(name): self._redact_note(each) for name, each in definitions.notes.items()},
            sources=tuple(self._redact_source(each) for each in definitions.sources if _MEMBER.fullmatch(each.member)),
            phases=tuple(map(self._redact_phase, definitions.phases)),
            memories={kept_name(name): self._redact_memory(each) for name, each in definitions.memories.items()},
        )
        return replace(plain, sites=self._redact_sites(definitions, plain))

    # Files and functions

    def _redact_file(self, name: str) -> str:
        """Redact the name of a file. Other recorders also write relative names, and names from other systems."""
        plain = self._paths.redact_file(name)
        self._replacement.counts["path"] += plain != name
        return self._names.redact_file(plain)

    def _redact_function(self, function: SharedFunction) -> SharedFunction:
        plain = self._names.redact_function(function, self._redacted_paths[function.module])
        return replace(
            empty_texts(function),
            name=plain.name,
            symbol=plain.symbol,
            mangled=plain.mangled,
            unit=plain_file_name(plain.unit),
        )

    def _redact_boundary(self, function: Function) -> Function:
        boundary, name = function.boundary, function.name
        if boundary == BOUNDARY:
            target, stage = split_function(name, self._targets)
            plain = self._names.redact_target(target)
            return Function(boundary, plain if stage == "execute" else f"{plain}.{stage}")
        if harmless.is_boundary(boundary):
            is_public = harmless.is_function(boundary, name)
            return Function(boundary, name if is_public else self._names.redact_name("function", name))
        return Function(self._names.redact_name("boundary", boundary), self._names.redact_name("function", name))

    def _redact_thread(self, thread: Thread) -> Thread:
        return replace(empty_texts(thread), name=self._names.redact_thread(thread.name))

    # FFI

    def _redact_sites(self, before: Definitions, after: Definitions) -> tuple[SharedSite, ...]:
        """Redact sites, and give them new keys. A site known only from program metadata gets its key from there."""
        keys = dict(
            zip(find_metadata_site_keys(before.descriptions), find_metadata_site_keys(after.descriptions), strict=True)
        )
        sites = (
            replace(
                empty_texts(site),
                key=keys.get(site.key) or self._replacement.redact_site_key(site.key),
                target=self._names.redact_target(site.target),
            )
            for site in before.sites
        )
        return tuple({site.key: site for site in sites}.values())

    def _redact_handler(self, handler: SharedHandler) -> SharedHandler:
        found = handler.signature
        if found is None:
            return empty_texts(handler)
        signature = HandlerSignature(*map(self._redact_types, (found.arguments, found.results, found.attributes)))
        return replace(empty_texts(handler), signature=signature)

    def _redact_types(self, types: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            each if harmless.is_part_of_signature(each) else self._replacement.remove("argument") for each in types
        )

    def _redact_description(self, kind: str, text: str) -> tuple[str, str]:
        parsed = json.loads(text)
        rules = self._description_rules.get(kind)
        if rules is None or not isinstance(parsed, dict):
            self._replacement.remove("argument")
            return "", "{}"
        return kind, json.dumps({key: rules[key](value) for key, value in parsed.items() if key in rules})

    def _rules_by_kind(self) -> Mapping[str, Mapping[str, Callable[[Any], Any]]]:
        """The rules for each kind of description, by the keys of docs/reference/capture-format.md."""
        target, platform = self._apply_to_text(self._names.redact_target), self._apply_to_text(self._redact_platform)
        site = self._apply_to_text(self._replacement.redact_site_key)
        shapes = self._apply_to_text(lambda text: text if harmless.is_plain_value("arguments", text) else REDACTED)
        plugin = self._apply_to_text(
            lambda text: text if harmless.is_plain_value("plugin", text) else self._replacement.remove("argument")
        )
        return {
            "ffi_target": {
                "target": target,
                "platform": platform,
                "api_version": _keep_number,
                "stages": lambda value: [each for each in _keep_texts(value) if each in _STAGES],
                "is_wrapped": lambda value: value is not False,
                "registered_at": self._redact_frames,
            },
            "ffi_site": {"site": site, "target": target, "user_frame": _keep_number, "frames": self._redact_frames},
            "ffi_instance": {
                "instance": _keep_number,
                "join": lambda value: value if value in _JOINS else "ambiguous",
                "target": target,
                "site": site,
                "operands": shapes,
                "results": shapes,
                "frames": self._redact_frames,
            },
            "plugin": {
                "boundary": lambda value: value if value in PJRT_BOUNDARIES else REDACTED,
                "path": plugin,
            },
            "ffi_problem": {
                "kind": lambda value: value if value == "not_registered" else REDACTED,
                "target": target,
                "platform": platform,
                "registered_for": lambda value: list(map(self._redact_platform, _keep_texts(value))),
                "sites": lambda value: list(map(self._replacement.redact_site_key, _keep_texts(value))),
                "message": lambda _: self._replacement.remove("argument"),
            },
        }

    def _apply_to_text(self, rule: Callable[[str], str]) -> Callable[[Any], Any]:
        return lambda value: rule(value) if isinstance(value, str) else None

    def _redact_platform(self, name: str) -> str:
        return name if harmless.is_platform(name) else self._names.redact_name("platform", name)

    def _redact_frames(self, value: Any) -> list[list[Any]]:
        found: list[list[Any]] = []
        for frame in value if isinstance(value, list | tuple) else ():
            match frame:
                case [str(file), int(line), str(function)]:
                    found.append(
                        [
                            self._redact_file(file),
                            line,
                            self._names.redact_python(function, self._paths.redact_file(file)),
                        ]
                    )
        return found

    # Programs

    def _redact_program(self, program: SharedProgram) -> SharedProgram:
        return replace(
            empty_texts(program),
            name=self._names.redact_program(program.name),
            lines=tuple(map(self._redact_lines, program.lines)),
            problem=program.problem if _PROBLEMS_OF_PROGRAMS.fullmatch(program.problem) else REDACTED,
            signature=None if program.signature is None else self._redact_signature(program.signature),
        )

    def _redact_lines(self, lines: SharedOps) -> SharedOps:
        kind = self._names.redact_operation(lines.kind)
        return replace(
            empty_texts(lines),
            kind=kind,
            name=self._redact_op(lines.name, kind),
            frames=tuple(
                (path, line, self._names.redact_python(function, self._redacted_paths[path]))
                for path, line, function in lines.frames
            ),
        )

    def _redact_op(self, name: str, kind: str = "") -> str:
        """Redact JAX's name of an op. Users name scopes, so only the program and JAX's own scopes and ops stay.

        An op that is not JAX's gets the redacted kind, or a number.
        """
        root, *scopes = name.split("/")
        root = self._names.redact_program(root) if root else ""
        if not scopes:
            return root
        op = scopes.pop()
        plain = op if harmless.is_jax_function(op) or not kind else kind
        return "/".join(
            (root, *filter(None, map(self._names.redact_scope, scopes)), self._names.redact_operation(plain))
        )

    def _redact_memory(self, memory: ProgramMemory) -> ProgramMemory:
        return replace(
            empty_texts(memory),
            buffers=tuple(map(self._redact_buffer, memory.buffers)),
            collectives=tuple(map(self._redact_collective, memory.collectives)),
            fusions=tuple(map(self._redact_fusion, memory.fusions)),
        )

    def _redact_collective(self, collective: ProgramCollective) -> ProgramCollective:
        return replace(
            empty_texts(collective),
            opcode=self._names.redact_operation(collective.opcode),
            op=self._redact_op(collective.op),
            shape=self._redact_type(collective.shape),
            frames=tuple(map(self._redact_program_frame, collective.frames)),
        )

    def _redact_fusion(self, fusion: ProgramFusion) -> ProgramFusion:
        return replace(
            empty_texts(fusion),
            instruction=self._names.redact_name("instruction", fusion.instruction),
            op=self._redact_op(fusion.op),
            lines=tuple((self._redact_program_frame(frame), ops) for frame, ops in fusion.lines),
        )

    def _redact_buffer(self, buffer: ProgramBuffer) -> ProgramBuffer:
        return replace(
            empty_texts(buffer),
            instruction=self._names.redact_name("instruction", buffer.instruction),
            opcode=self._names.redact_operation(buffer.opcode),
            op=self._redact_op(buffer.op),
            shape=self._redact_type(buffer.shape),
            last_instruction=self._names.redact_name("instruction", buffer.last_instruction),
            frames=tuple(map(self._redact_program_frame, buffer.frames)),
            fused=tuple(
                (self._redact_op(op), None if frame is None else self._redact_program_frame(frame))
                for op, frame in buffer.fused
            ),
        )

    def _redact_program_frame(self, frame: ProgramFrame) -> ProgramFrame:
        function = self._names.redact_python(frame.function, self._paths.redact_file(frame.path))
        return ProgramFrame(self._redact_file(frame.path), frame.line, function)

    def _redact_signature(self, signature: Signature) -> Signature:
        return replace(
            empty_texts(signature),
            arguments=tuple(map(self._redact_parameter, signature.arguments)),
            results=tuple(map(self._redact_parameter, signature.results)),
            partitions=_keep_digits(signature.partitions),
            replicas=_keep_digits(signature.replicas),
            constants=tuple(map(self._marked_digest, signature.constants)),
            code=self._replacement.digest(signature.code),
            mesh={self._names.redact_axis(name): size for name, size in signature.mesh.items()},
        )

    def _redact_parameter(self, parameter: Parameter) -> Parameter:
        return Parameter(
            type=self._redact_type(parameter.type),
            name=self._names.redact_argument(parameter.name),
            attributes={
                name if name in _ATTRIBUTES else self._names.redact_name("attribute", name): self._redact_attribute(
                    value
                )
                for name, value in parameter.attributes.items()
            },
        )

    def _redact_attribute(self, value: str) -> str:
        """Redact an attribute. A flag or number stays; a sharding keeps its form, with numbers for its axis names."""
        if value in ("", "true", "false", "default", "auto") or value.isdecimal() or harmless.is_sharding(value):
            return value
        plain = _AXES.sub(lambda match: self._names.redact_axis(match[0][1:-1]), value)
        if _PARTITIONS.fullmatch(plain):
            return _AXES.sub(lambda match: repr(self._names.redact_axis(match[0][1:-1])), value)
        return self._marked_digest(value)

    def _marked_digest(self, value: str) -> str:
        """Return a redaction mark with a digest, so that different texts get different marks."""
        self._replacement.counts["constant"] += 1
        return f"(redacted {self._replacement.digest(value)[:8]})"

    def _redact_type(self, text: str) -> str:
        return text if not text or harmless.is_type(text) else self._replacement.remove("argument")

    def _redact_options(self, text: str) -> str:
        return json.dumps(dict(self._redact_option(name, str(value)) for name, value in json.loads(text).items()))

    def _redact_option(self, name: str, value: str) -> tuple[str, str]:
        if not harmless.is_option(name):
            return self._names.redact_name("option", name), self._replacement.remove("option")
        return name, value if not value or harmless.is_flag(name, value) else self._replacement.remove("option")

    def _redact_note(self, note: CompileNote) -> CompileNote:
        file, colon, line = note.defined.rpartition(":")
        file = file if colon and line.isdecimal() else note.defined
        return replace(
            empty_texts(note),
            name=self._names.redact_program(note.name),
            function=self._names.redact_jitted_name(note.function) if note.function else "",
            defined=f"{self._redact_file(file)}{colon}{line}" if file != note.defined else self._redact_file(file),
            arguments=tuple(
                NoteArgument(self._names.redact_argument(each.name), self._redact_type(each.type), each.is_weak)
                for each in note.arguments
            ),
            statics=tuple((self._replacement.remove("argument"), REDACTED) for _ in note.statics),
            keys=None if note.keys is None else tuple(self._redact_key(*key) for key in note.keys),
        )

    def _redact_key(self, kind: str, subject: str, value: str) -> tuple[str, str, str]:
        """Redact a key of JAX's tracing cache. Equal values stay equal: the cause of a recompilation stays known."""
        known = kind if kind in KEY_KINDS else REDACTED
        return known, self._names.redact_name("subject", subject), self._names.redact_name("value", value)

    # The run

    def _redact_phase(self, phase: SharedPhase) -> SharedPhase:
        return replace(empty_texts(phase), name=self._redact_phase_name(phase.kind, phase.name))

    def _redact_phase_name(self, kind: PhaseKind, name: str) -> str:
        if not name:
            return name
        match kind:
            case PhaseKind.PROCESS:
                return name if name == "early" else ""
            case PhaseKind.IMPORT:
                is_public = harmless.is_standard_module(name) or name.partition(".")[0] in PUBLIC_PACKAGES
                return name if is_public else self._names.redact_name("package", name)
            case PhaseKind.BACKEND:
                return ", ".join(map(self._redact_platform, name.split(", ")))
            case _:
                return self._names.redact_program(name) if "(" in name else self._names.redact_jitted_name(name)

    def _redact_problem(self, text: str) -> str:
        if _PROBLEMS.fullmatch(text):
            return text
        self._replacement.remove("problem")
        return "A capture problem (text redacted)."

    def _redact_build(self, build: Build) -> Build:
        return replace(
            empty_texts(build),
            component=build.component,
            version=harmless.find_leading_release(build.version),
            revision=harmless.find_public_revision(build.revision),
            folder=folder if (folder := self._paths.redact_file(build.folder)).startswith(f"{PYTHON}/") else "",
        )

    def _redact_source(self, source: SharedSource) -> SharedSource:
        self._names.record_shared_source(self._redacted_paths[source.path])
        return replace(empty_texts(source), member=source.member)

    def _redact_metadata(self, text: str, paths: Sequence[str]) -> str:
        parsed, metadata = json.loads(text), Metadata.parse(text)
        plain: dict[str, Any] = {
            key: value
            for key in ("version", "started_unix_ns", "started_clock_ns", "pid")
            if (value := getattr(metadata, key)) is not None
        }
        if metadata.format == "framedex-capture":
            plain["format"] = metadata.format
        plain["argv"] = self._redact_command(metadata.argv, paths)
        plain["python"] = harmless.find_leading_release(metadata.python or "")
        plain["selected_by"] = [name for name in metadata.selected_by if name in _SELECTED_BY]
        plain["is_of_samples"] = parsed.get("is_of_samples") is True
        if metadata.cwd and self._paths.redact_file(metadata.cwd) == PROJECT:
            plain["cwd"] = PROJECT
        for key in ("host", "system", "python_problem"):
            if parsed.get(key):
                plain[key] = self._replacement.remove("name of a user, a host or a secret")
        for _ in metadata.job:
            self._replacement.remove("variable of the environment")
        if metadata.launch is not None:
            launch = metadata.launch
            plain["launcher"] = json.dumps(
                {
                    "run": launch.run if launch.run and _RUN.fullmatch(launch.run) else None,
                    "packages": {
                        name: harmless.find_leading_release(version)
                        for name, version in launch.packages.items()
                        if name in _PACKAGES
                    },
                    "arguments": self._redact_command(launch.arguments, paths),
                }
            )
        return json.dumps(plain)

    def _redact_command(self, words: Sequence[str], paths: Sequence[str]) -> list[str]:
        """Redact a command. The interpreter stays, and so does a script that is one of the kept files."""
        scripts = {path.rpartition("/")[2] for path in paths}
        return [self._redact_word(word, scripts) for word in words]

    def _redact_word(self, word: str, scripts: set[str]) -> str:
        name = word.rpartition("/")[2]
        is_script = name.endswith(".py") and name in scripts and plain_file_name(word) == name
        if word in _MARKS or (is_script and not word.startswith("-")):
            return name
        return name if is_interpreter(name) and "=" not in word else self._replacement.remove("argument")


def _keep_number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _keep_texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _keep_digits(text: str) -> str:
    return text if text.isdecimal() else ""
