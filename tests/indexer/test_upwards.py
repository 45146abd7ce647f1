"""How far up a project's index and settings are looked for."""

from framedex.folders import folders_upwards


def test_the_nearest_folder_comes_first_and_the_root_folder_is_nobodys_project() -> None:
    assert list(folders_upwards("/home/project/src")) == ["/home/project/src", "/home/project", "/home"]
    assert list(folders_upwards("/tmp")) == ["/tmp"]


def test_who_is_in_the_root_folder_has_a_project_there() -> None:
    assert list(folders_upwards("/")) == ["/"]
