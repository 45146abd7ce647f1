"""The contents of a redacted file, searched byte by byte for anything that must be hidden."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path

import pytest

from framedex.model import Language, LocationEvidence, Metadata, StopReasons
from framedex.programs.ffi.joins import find_metadata_site_keys
from framedex.shared.contents import (
    Definitions,
    SharedFrame,
    SharedFunction,
    SharedProgram,
    SharedSite,
    SharedSourceLine,
)
from framedex.sharing.names import NameReplacer
from framedex.sharing.redaction import Redactor, Secrets
from framedex.sharing.replacement import REDACTED
from framedex.sharing.secrets import collect_secrets
from tests.indexer.sharing.project import CONSTANT, FUNCTION, ORGANISATION, SCOPE, STATIC, USER, framedex, project

_GIVEN = (STATIC, "--dataset")


def _read_uncompressed(name: str) -> bytes:
    """All uncompressed bytes of a shared file, with the names of its parts."""
    with zipfile.ZipFile(project().files[name]) as archive:
        return b"\n".join([part.encode() + archive.read(part) for part in archive.namelist()])


def _forms(secret: str) -> list[bytes]:
    """The forms of a text in bytes."""
    plain = secret.encode()
    shifted = [base64.b64encode(b"x" * shift + plain)[4:-4] for shift in range(3)]
    return [plain, secret.encode("utf-16-le"), secret.encode("utf-16-be"), *(form for form in shifted if len(form) > 4)]


@pytest.mark.parametrize("name", ["redacted", "hidden", "told"])
def test_a_redacted_file_reveals_no_path_and_no_argument(name: str) -> None:
    said = _read_uncompressed(name)
    chosen = (SCOPE, CONSTANT) if name != "told" else ()
    places = (USER, ORGANISATION, str(project().folder), str(project().folder.parents[1]), "/data/")
    given = _GIVEN if name != "told" else _GIVEN[1:]  # a source's data is queried with it
    for secret in (*places, *chosen, *given, project().host if len(project().host) > 3 else USER):
        for form in _forms(secret):
            assert form not in said, (secret, said[max(0, said.find(form) - 60) : said.find(form) + 40])


def test_a_file_without_redaction_has_all_data() -> None:
    """The same search finds every text in an unredacted file."""
    said = _read_uncompressed("plain")
    assert all(
        secret.encode() in said for secret in (USER, ORGANISATION, STATIC, FUNCTION, SCOPE, CONSTANT, "--dataset")
    )


def test_names_outside_kept_packages_are_hidden() -> None:
    """With `--keep flax`, all names of the program are hidden: functions, files, programs and scopes; JAX's stay."""
    said = _read_uncompressed("hidden")
    for name in (FUNCTION, "moonshot", "model train", SCOPE):
        assert name.encode() not in said
    assert b"pxla.py" in said or b"_src/" in said
    assert FUNCTION.encode() in _read_uncompressed("redacted")


def test_shapes_numbers_and_lines_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redacted capture has unchanged calls, times, sizes and lines, and public links."""
    monkeypatch.chdir(tmp_path)
    for name in ("redacted", "hidden"):
        index = f"{name}/index.db"
        assert framedex("--index", index, "import", project().files[name]).exit_code == 0
        summary = framedex("--index", index, "summary").stdout.splitlines()
        assert summary[1:] == project().answers["summary"].splitlines()[1:]
        told = framedex("--index", index, "compiles").stdout
        assert "/project/" in told and ":16 [not here] in " in told
        assert "broadcast_in_dim" in told  # a function of JAX, whose name is public
        assert "https://github.com/jax-ml/jax/blob/" in framedex("--index", index, "trace", "40").stdout
    assert "1970" in framedex("--index", "hidden/index.db", "captures").stdout
    assert b"float32[3,5]" in _read_uncompressed("redacted")


def test_calls_that_differ_in_numbers_stay_distinct() -> None:
    """A secret number is found even in calls like earlier ones without secrets."""
    redactor = Redactor(Secrets(["alice"], ["48151623"]), [], None)

    def shared(text: str) -> str:
        return redactor.redact_text(redactor.redact_arguments(text))

    for size in (1, 42):
        plain = f'{{"buffer": "0x55{size}", "size": {size}}}'
        assert shared(plain) == plain
        assert json.loads(shared(f'{{"name": "of alice", "size": {size}}}')) == {"name": REDACTED, "size": size}
    assert "48151623" not in shared('{"buffer": "0x551", "size": 48151623}')


@pytest.mark.parametrize("value", ["AKIAIOSFODNN7EXAMPLE", "ORCHID", "10.1.2.3", "orchid"])
def test_option_values_are_kept_only_for_xla_numbers_and_flags(value: str) -> None:
    redactor = Redactor(Secrets([], []), [], None)
    kept = {"device_ordinal": "-1", "xla_cpu_enable_fast_math": "true", "xla_gpu_enable_command_buffer": "13, 5"}
    options = json.dumps({**kept, "xla_gpu_cuda_data_dir": value, "xla_cpu_use_onednn": value})
    nothing = Definitions('{"argv": []}', (), (), (), (), (), (), 0, (), StopReasons(), options={"0": options})
    (plain,) = redactor.redact_definitions(nothing).options.values()
    assert json.loads(plain) == {**kept, "xla_gpu_cuda_data_dir": REDACTED, "xla_cpu_use_onednn": REDACTED}


def test_sites_match_their_redacted_descriptions() -> None:
    """Callback runs whose site comes from a program's metadata keep it without its folder."""
    instance = {"instance": 1, "join": "exact", "target": "f", "site": None, "frames": [["/home/orchid/a.py", 3, "g"]]}
    described = (("ffi_instance", json.dumps(instance)),)
    (key,) = find_metadata_site_keys(described)
    assert key is not None
    site = SharedSite(key, "f", (SharedFrame(0, 0, 0, None, None, False, 3),), 0, from_metadata=True)
    definitions = Definitions(
        '{"argv": []}', ("",), (), (), (), (), (), 0, (), StopReasons(), descriptions=described, sites=(site,)
    )
    plain = Redactor(Secrets([], []), [], None).redact_definitions(definitions)
    assert [site.key for site in plain.sites] == find_metadata_site_keys(plain.descriptions) != [key]


def test_imported_files_are_identified_by_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import with relative, build, Windows and missing paths hides their folders."""
    monkeypatch.chdir(tmp_path)
    frames = (
        "<module> (orchid/pkg/a.py:3)",
        "eval (orchid/b.cc:9)",
        "g (/proc/self/cwd/orchid/c.cc:9)",
        "h (C:\\orchid\\d.py:5)",
        "x (/proc/self/cwd/external/xla/xla/e.cc:1)",
        "k (<generated by orchid>:3)",
    )
    Path("a.txt").write_text(";".join(frames) + " 3\n")
    assert framedex("import", "a.txt").exit_code == 0
    assert framedex("share", "--redact", "--keep", "jax", "-o", "hidden.zip").exit_code == 0
    assert framedex("share", "--redact", "-o", "plain.zip").exit_code == 0
    said = {}
    for name in ("hidden", "plain"):
        with zipfile.ZipFile(f"{name}.zip") as archive:
            said[name] = archive.read("definitions.json")
    assert b"orchid" not in said["hidden"]
    assert b"orchid" not in said["plain"].replace(b"<generated by orchid>", b"")
    for path in (b"/elsewhere/a.py", b"/elsewhere/b.cc", b"/elsewhere/c.cc", b"/elsewhere/d.py"):
        assert path in said["plain"]
    assert b"/proc/self/cwd/external/xla/xla/e.cc" in said["plain"] and b"/xla/e.cc" in said["hidden"]


def test_threads_keep_names_from_python_and_xla() -> None:
    names = NameReplacer(["jax"])
    told = ("", "python3.13", "MainThread", "Thread-3", "ThreadPoolExecutor-0_1", "tf_XLAEigen/7", "/host:CPU python")
    assert [names.redact_thread(name) for name in told] == list(told)
    given = [
        names.redact_thread(name) for name in ("orders of acme", "python of acme", "orders of acme", "Thread-acme")
    ]
    assert given == ["thread_0", "thread_1", "thread_0", "thread_2"]
    assert names.count == 3


@pytest.mark.parametrize(
    "name",
    [
        "10.128.0.7",
        "4929123412341234",
        "/10",
        "_",
        "python-555.1234",
        "Thread-10.0.0.3",
        "Thread-1234567",
        "py",
        "tf_X/7",
        "/host:CPU:4929123412341234",
        "python-555_1234",
    ],
)
def test_a_thread_named_after_a_private_number_is_hidden(name: str) -> None:
    assert NameReplacer(["jax"]).redact_thread(name) == "thread_0"


@pytest.mark.parametrize("name", ["tf_XLAPjRtCpuCl", "tf_XLAEigen/123", "ThreadPoolExecu", "python3", "framedex"])
def test_a_pool_thread_keeps_its_truncated_linux_name(name: str) -> None:
    assert NameReplacer(["jax"]).redact_thread(name) == name


@pytest.mark.parametrize("name", ["STRIPE_KEY", "keys", "DB_PASS", "PGPASSWORD", "SIGNING_KEY_FILE", "MY_TOKEN"])
def test_environment_variables_define_secrets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "orchid and tulip")
    monkeypatch.setenv("KEYBOARD", "a keyboard")
    values = collect_secrets(Metadata.parse("{}")).values
    assert "orchid and tulip" in values and "a keyboard" not in values


def test_replacements_and_remaining_texts_are_reported() -> None:
    told = project().said["redacted"]
    assert "x path" in told and "x argument" in told and "x option" in told
    assert "left: " in told


def test_suspicious_texts_are_listed() -> None:
    from framedex.sharing.suspects import SuspectCollector

    suspects = SuspectCollector()
    for text in (
        "open /srv/models/weights.bin",
        "ask carol@example.org",
        "on node7.cluster.internal",
        "hf_abcdefghijklmnopqrstuv",
        "jit(f)/transpose(jvp())/mul",
        "xla@131bf41acb46+nearest:xla/pjrt/pjrt_client.cc",
        "_ZN3xla10PjRtClient21BufferFromHostBufferEPKvNS_13PrimitiveTypeE",
        "/python/site-packages/jax/_src/api.py",
    ):
        suspects.collect(text)
    assert list(suspects.collected()) == [
        ("a path", "/srv/models/weights.bin"),
        ("a mail address", "carol@example.org"),
        ("a host", "example.org"),
        ("a host", "node7.cluster.internal"),
        ("a token", "hf_abcdefghijklmnopqrstuv"),
    ]


def test_framedex_files_are_not_listed_as_suspicious() -> None:
    """Of framedex's and a user's binaries, both built in a home folder, the user's files are listed."""
    paths = (
        *("/x/site-packages/framedex_native/libtpu.so", "/home/carol/kernel.so"),
        *("/home/carol/framedex/native/pjrt/buffer.cc", "/home/carol/kernel.cc", "/home/carol/shared.h"),
    )
    functions = tuple(SharedFunction(Language.NATIVE, "f", "f", "f", module, "", 0) for module in (0, 1))
    frames = tuple(
        (SharedFrame(function, 0, 0, SharedSourceLine(path, 1, LocationEvidence.EXACT), None, False, 0),)
        for function, path in ((0, 2), (1, 3), (0, 4), (1, 4))
    )
    for packages in (None, ["jax"]):
        redactor = Redactor(Secrets([], []), [], packages)
        plain = redactor.redact_definitions(
            Definitions('{"argv": []}', paths, functions, frames, (), (), (), 0, (), StopReasons(), programs={})
        )
        left = {text for kind, text in redactor.remaining_texts() if kind == "is a file"}
        assert plain.paths[2] == "/elsewhere/buffer.cc"
        if packages is None:
            assert left == {"/elsewhere/kernel.so", "/elsewhere/kernel.cc", "/elsewhere/shared.h"}
        else:
            assert left == set() and not any("kernel" in path or "shared" in path for path in plain.paths)


def test_names_in_kept_packages_stay_and_are_listed() -> None:
    """With `--keep flax`, names of flax are visible and listed, and other names are hidden."""
    paths = ("/x/site-packages/flax/core.py", "/x/site-packages/acme/core.py", "/x/site-packages/jax/_src/api.py")
    functions = tuple(
        SharedFunction(Language.PYTHON, name, name, "", module, "", 1)
        for module, name in enumerate(("bind", "sell", "jit"))
    )
    programs = {
        str(number): SharedProgram(1, f"jit_{name}", (), "", None)
        for number, name in enumerate(("bind", "sell", "jit"))
    }
    redactor = Redactor(Secrets([], []), [], ["flax"])
    plain = redactor.redact_definitions(
        Definitions('{"argv": []}', paths, functions, (), (), (), (), 0, (), StopReasons(), programs=programs)
    )
    assert [function.name for function in plain.functions] == ["bind", "function_0", "jit"]
    assert [program.name for program in plain.programs.values()] == ["jit_bind", "jit_function_0", "jit_jit"]
    assert {text for _, text in redactor.remaining_texts()} == {"bind", "/python/site-packages/flax/core.py"}


@pytest.mark.parametrize(
    ("scope", "redacted"),
    [
        ("transpose(jvp())", "transpose(jvp())"),
        ("vmap(jvp(tulip_model))", "vmap(jvp(function_0))"),
        ("jit(sort)", "jit(sort)"),
        ("while", "while"),
        ("branch_1_fun", "branch_1_fun"),
        ("rematted_computation", "rematted_computation"),
        (SCOPE, ""),
        (f"{SCOPE}(jvp())", ""),
    ],
)
def test_scopes_of_jax_are_kept_and_those_of_users_are_left_out(scope: str, redacted: str) -> None:
    assert NameReplacer(None).redact_scope(scope) == redacted


@pytest.mark.parametrize(
    "kind", ["sine", "all-reduce", "copy-start", "dynamic-update-slice", "add_any", "psum_invariant"]
)
def test_ops_of_hlo_stablehlo_and_jax_are_kept(kind: str) -> None:
    assert NameReplacer(None).redact_operation(kind) == kind
    assert NameReplacer(None).redact_operation(SCOPE) == "op_0"
