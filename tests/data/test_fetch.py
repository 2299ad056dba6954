"""Downloads against a local server: whole, cut off and resumed, of the wrong size, and not at all."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from data.range_server import Site, serving
from utilitune.data.catalogue import Archive
from utilitune.data.fetch import fetch
from utilitune.errors import DataError, UtilituneError

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = bytes(range(256)) * 4000


def archive(site: Site, size_bytes: int | None = None) -> Archive:
    return Archive("archive.zip", site.url, size_bytes)


def test_a_whole_download_with_progress(tmp_path: Path):
    seen: list[tuple[int, int | None]] = []
    with serving(Site(CONTENT)) as site:
        path = fetch(
            archive(site, len(CONTENT)), tmp_path / "new", lambda done, total: seen.append((done, total))
        )
    assert path.read_bytes() == CONTENT
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [entry.name for entry in path.parent.iterdir()] == ["archive.zip"]


def test_what_is_there_is_not_downloaded_again(tmp_path: Path):
    (tmp_path / "archive.zip").write_bytes(b"here")
    with serving(Site(CONTENT)) as site:
        assert fetch(archive(site), tmp_path).read_bytes() == b"here"
        assert site.requests == []


def test_a_cut_download_is_continued(tmp_path: Path):
    with serving(Site(CONTENT, cut_after=300_000)) as site:
        with pytest.raises(DataError, match=r"after 300,000 of 1,024,000 bytes; run the same command again"):
            fetch(archive(site), tmp_path)
        assert not (tmp_path / "archive.zip").exists()
        site.cut_after = None
        assert fetch(archive(site), tmp_path).read_bytes() == CONTENT
        assert site.requests == ["", "bytes=300000-"]


def test_a_server_without_ranges_starts_over(tmp_path: Path):
    (tmp_path / "archive.zip.part").write_bytes(b"x" * 1000)
    with serving(Site(CONTENT, ranges=False)) as site:
        assert fetch(archive(site), tmp_path).read_bytes() == CONTENT


def test_a_complete_part_only_gets_its_name(tmp_path: Path):
    (tmp_path / "archive.zip.part").write_bytes(CONTENT)
    with serving(Site(CONTENT)) as site:
        assert fetch(archive(site), tmp_path).read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path: Path):
    (tmp_path / "archive.zip.part").write_bytes(CONTENT + b"more")
    with serving(Site(CONTENT)) as site:
        assert fetch(archive(site), tmp_path).read_bytes() == CONTENT


def test_a_server_that_states_no_length(tmp_path: Path):
    with serving(Site(CONTENT, state_length=False)) as site:
        assert fetch(archive(site), tmp_path).read_bytes() == CONTENT
        (tmp_path / "archive.zip").unlink()
        with pytest.raises(DataError, match=r"received 1,024,000 bytes where 5 were expected"):
            fetch(archive(site, 5), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_size_is_refused(tmp_path: Path):
    with (
        serving(Site(CONTENT)) as site,
        pytest.raises(DataError, match=r"1,024,000 bytes where 77 were expected"),
    ):
        fetch(archive(site, 77), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_of_the_server(tmp_path: Path, status: int):
    with serving(Site(CONTENT, status=status)) as site, pytest.raises(DataError, match=f"answered {status}"):
        fetch(archive(site), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_connection(tmp_path: Path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/archive.zip"
        with pytest.raises(
            UtilituneError, match=r"could not download .* check the connection to the internet"
        ):
            fetch(Archive("archive.zip", url), tmp_path)


def test_other_addresses_and_folders_that_cannot_be(tmp_path: Path):
    with pytest.raises(DataError, match="not a web address"):
        fetch(Archive("archive.zip", "file:///etc/hosts"), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        fetch(Archive("archive.zip", "https://example.org"), tmp_path / "file")
