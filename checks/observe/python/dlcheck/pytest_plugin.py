"""pytest: `--dlcheck` watches each test, `@pytest.mark.dlcheck` one test, and the fixture `dlcheck_watch` a part of
one. A test that trains with a finding fails; one that trains nothing is left alone.
"""

import os
import re

import pytest

from .watching import FindingsError, watch

SEVERITIES = ("note", "warning", "error")


def pytest_addoption(parser):
    group = parser.getgroup("dlcheck", "faults of training code")
    group.addoption("--dlcheck", action="store_true", help="watch each test; a finding fails it")
    group.addoption("--dlcheck-fail-on", choices=SEVERITIES, default="error", help="severity that fails a test")
    group.addoption("--dlcheck-output", default="dlcheck-out", metavar="FOLDER",
                    help="folder for the results, one folder a test (dlcheck-out)")  # fmt: skip


def pytest_configure(config):
    config.addinivalue_line("markers", "dlcheck(fail_on='error', options=()): watch this test with dlcheck")


def folder_of(item):
    """One for each test, of its name."""
    name = re.sub(r"[^\w.-]+", "_", item.nodeid)
    return os.path.join(item.config.getoption("--dlcheck-output"), name[-200:])


def arguments_of(item, marker):
    given = dict(marker.kwargs) if marker else {}
    fail_on = given.get("fail_on", item.config.getoption("--dlcheck-fail-on"))
    return {"output_dir": folder_of(item), "fail_on": fail_on, "options": tuple(given.get("options", ()))}


def failure_of(watched, output_dir):
    """The text of a failed test: a line a finding."""
    lines = [f"{finding['severity']}: {finding['id']}: {finding['message']}" for finding in watched.findings]
    return FindingsError("\n".join(["dlcheck:", *lines, f"see {output_dir}/report.html"]))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker("dlcheck")
    if marker is None and not item.config.getoption("--dlcheck"):
        yield
        return
    arguments = arguments_of(item, marker)
    os.makedirs(os.path.dirname(arguments["output_dir"]), exist_ok=True)
    with watch(**arguments) as watched:
        outcome = yield
    if outcome.excinfo is None and watched.exit_code == 1:
        outcome.force_exception(failure_of(watched, arguments["output_dir"]))


@pytest.fixture
def dlcheck_watch(request):
    """A context manager: what is trained inside is watched, and a finding fails the test."""

    def watch_here(**options):
        return watch(**{**arguments_of(request.node, None), "raises": True, **options})

    return watch_here
