"""The folders in which a project's index and settings are searched."""

from framedex.base.folders import iterate_folders_upwards


def test_the_nearest_folder_comes_first_and_the_root_folder_is_no_project() -> None:
    assert list(iterate_folders_upwards("/home/project/src")) == ["/home/project/src", "/home/project", "/home"]
    assert list(iterate_folders_upwards("/tmp")) == ["/tmp"]


def test_in_the_root_folder_the_project_is_the_root() -> None:
    assert list(iterate_folders_upwards("/")) == ["/"]
