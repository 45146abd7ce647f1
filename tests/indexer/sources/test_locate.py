"""The files that a recorded name may refer to."""

from framedex.path_resolution.moved_files import TreeFiles
from framedex.sources import find_likely_files

FILES = TreeFiles(
    [
        "/src/xla/pjrt/pjrt_client.h",
        "/src/xla/pjrt/pjrt_client.cc",
        "/src/xla/pjrt/utils.cc",
        "/src/xla/service/utils.cc",
        "/src/xla/service/hlo.proto",
        "/src/xla/mlir_hlo/mhlo/IR/hlo_ops.td",
        "/src/xla/tsl/concurrency/async_value.h",
    ]
)


def test_a_recorded_path_is_found_by_its_tail() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("pjrt_client.cc", ["/src/xla/pjrt/pjrt_client.cc"]),
        ("utils.cc", ["/src/xla/pjrt/utils.cc", "/src/xla/service/utils.cc"]),
        ("external/xla/xla/service/utils.cc", ["/src/xla/service/utils.cc"]),
        ("/proc/self/cwd/external/xla/xla/pjrt/utils.cc", ["/src/xla/pjrt/utils.cc"]),
        ("bazel-out/k8-opt/bin/external/xla/xla/service/hlo.pb.cc", ["/src/xla/service/hlo.proto"]),
        ("bazel-out/k8-opt/bin/xla/mlir_hlo/mhlo/IR/hlo_ops.h.inc", ["/src/xla/mlir_hlo/mhlo/IR/hlo_ops.td"]),
        ("nowhere.cc", []),
    ]
    for recorded, expected in cases:
        assert FILES.files_with_tail(recorded) == expected


def test_a_function_is_searched_in_its_unit_and_class_header() -> None:
    assert find_likely_files(FILES, "xla::PjRtClient::Put(int)", "utils.cc") == [
        "/src/xla/pjrt/utils.cc",
        "/src/xla/service/utils.cc",
        "/src/xla/pjrt/pjrt_client.h",
        "/src/xla/pjrt/pjrt_client.cc",
    ]
    assert find_likely_files(FILES, "xla::service::f()", "utils.cc") == ["/src/xla/service/utils.cc"]
    assert find_likely_files(FILES, "tsl::AsyncValue::Wait() const", "") == ["/src/xla/tsl/concurrency/async_value.h"]
