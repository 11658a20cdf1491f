"""Downloads from a server on this machine: cut, changed, refused, resumed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket

import pytest

from archive_server import Behaviour, serving, tar_of, zip_of
from musicgen.datasets import Downloading, Fetched, Patience, Remark, fetch, find_dataset
from musicgen.datasets import download as download_module
from musicgen.datasets.table import Dataset
from musicgen.datasets.web import check_address, check_hop
from musicgen.errors import DatasetError

QUICK = Patience(timeout_s=5.0, waits_s=(0.0, 0.0, 0.0))
NOISE = os.urandom(1_500_000)
ZIP = zip_of({"songs/a.mid": b"MThd-a", "songs/b.mid": NOISE, "songs/README.md": b"hello"})


def corpus(url: str | None, **others) -> Dataset:
    facts = {
        "name": "songs",
        "title": "Songs",
        "about": "Songs.",
        "page": "https://example.org/songs",
        "licence": "CC0",
        "licence_url": "https://example.org/licence",
        "terms": "Free.",
        "citation": "Songs, 2026",
        "root": "songs",
        **others,
    }
    return Dataset(url=url, **facts)


def known(url: str, data: bytes = ZIP, **others) -> Dataset:
    sha256 = hashlib.sha256(data).hexdigest()
    return corpus(url, sha256=sha256, size_bytes=len(data), sum_from="publisher", **others)


def run(dataset: Dataset, folder, **options):
    *events, last = fetch(dataset, folder, patience=QUICK, **options)
    assert isinstance(last, Fetched)
    return events, last


def remarks(events) -> str:
    return " ".join(event.text for event in events if isinstance(event, Remark))


def leave_part(folder, dataset: Dataset, data: bytes, validator: str) -> None:
    (folder / "songs.zip.part").write_bytes(data)
    state = json.dumps({"url": dataset.url, "validator": validator})
    (folder / "songs.zip.part.json").write_text(state)


def test_a_corpus_comes_whole_and_is_not_fetched_twice(tmp_path):
    how = Behaviour(ZIP)
    with serving(how) as address:
        events, found = run(known(f"{address}/songs.zip"), tmp_path / "there" / "songs")
        again = run(known(f"{address}/songs.zip"), tmp_path / "there" / "songs")
    assert found.n_files == 2
    assert found.is_new
    assert not again[1].is_new
    assert again[1].n_files == 2
    assert len(how.asked) == 1
    folder = tmp_path / "there" / "songs"
    assert (folder / "b.mid").read_bytes() == NOISE
    assert sorted(p.name for p in folder.iterdir()) == [
        "README.md",
        "SOURCE.json",
        "a.mid",
        "b.mid",
    ]
    # Nothing else is left: no archive, no part, no lock.
    assert [p.name for p in folder.parent.iterdir()] == ["songs"]
    steps = [event for event in events if isinstance(event, Downloading)]
    assert steps[-1].done_bytes == steps[-1].total_bytes == len(ZIP)


def test_a_cut_connection_goes_on_where_it_broke(tmp_path):
    """Guards a truncated reply taken for the whole, and a retry that begins at byte 0."""
    how = Behaviour(ZIP, cuts=[400_000, 0, 500_000])
    with serving(how) as address:
        events, found = run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert found.n_files == 2
    starts = [None if asked is None else int(asked[6:-1]) for _, asked in how.asked]
    assert starts == [None, 400_000, 400_000, 900_000]
    assert "cut off" in remarks(events)


def test_a_stopped_download_goes_on_in_the_next_call(tmp_path):
    how = Behaviour(ZIP)
    with serving(how) as address:
        stopped = fetch(known(f"{address}/songs.zip"), tmp_path / "songs", patience=QUICK)
        while True:
            event = next(stopped)
            if isinstance(event, Downloading) and event.done_bytes > 300_000:
                break
        stopped.close()  # as Ctrl-C does
        part = tmp_path / "songs.zip.part"
        assert part.stat().st_size == event.done_bytes
        _, found = run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert found.n_files == 2
    assert how.asked[-1][1] == f"bytes={event.done_bytes}-"
    assert not part.exists()


def test_a_file_that_changed_in_between_is_fetched_anew(tmp_path):
    """Guards an archive sewn together from two states of a file."""
    how = Behaviour(zip_of({"songs/old.mid": NOISE[::-1]}))
    with serving(how) as address:
        dataset = corpus(f"{address}/songs.zip")
        stopped = fetch(dataset, tmp_path / "songs", patience=QUICK)
        next(stopped)
        next(stopped)
        stopped.close()
        how.data, how.etag = ZIP, '"two"'
        events, found = run(dataset, tmp_path / "songs")
    assert found.n_files == 2
    assert "starting anew" in remarks(events)


def test_a_range_of_another_state_is_not_taken(tmp_path):
    """A server that ignores If-Range sends the rest of another file."""
    how = Behaviour(ZIP, minds_if_range=False)
    with serving(how) as address:
        dataset = known(f"{address}/songs.zip")
        leave_part(tmp_path, dataset, b"PK\x03\x04 of another file", '"two"')
        events, found = run(dataset, tmp_path / "songs")
    assert found.n_files == 2
    assert "has changed" in remarks(events)
    assert [asked for _, asked in how.asked] == ["bytes=20-", None]


@pytest.mark.parametrize("etag", [None, 'W/"weak"', '"one"'])
def test_a_server_without_ranges_or_states_starts_anew(tmp_path, etag):
    how = Behaviour(ZIP, cuts=[300_000], ranges=False, etag=etag)
    with serving(how) as address:
        events, found = run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert found.n_files == 2
    if etag == '"one"':
        assert "starting anew" in remarks(events)
    else:
        assert how.asked[-1][1] is None


def test_a_part_that_is_everything_already_is_enough(tmp_path):
    """Killed between the last byte and the renaming: the server answers 416."""
    how = Behaviour(ZIP)
    with serving(how) as address:
        url = f"{address}/songs.zip"
        leave_part(tmp_path, known(url), ZIP, '"one"')
        _, found = run(known(url), tmp_path / "songs")
    assert found.n_files == 2
    assert len(how.asked) == 1


def test_a_shorter_file_than_the_part_is_fetched_anew(tmp_path):
    how = Behaviour(ZIP)
    with serving(how) as address:
        url = f"{address}/songs.zip"
        leave_part(tmp_path, known(url), ZIP + b"more", '"one"')
        how.answers = [416]
        events, found = run(known(url), tmp_path / "songs")
    assert found.n_files == 2
    assert "has changed" in remarks(events)


def test_a_busy_server_is_asked_again(tmp_path):
    how = Behaviour(ZIP, answers=[500, 503, 429], headers={"Retry-After": "0"})
    with serving(how) as address:
        events, found = run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert found.n_files == 2
    assert "answered 503" in remarks(events)


def test_a_server_that_stays_broken_is_given_up(tmp_path):
    how = Behaviour(ZIP, answers=[500] * 9)
    with serving(how) as address, pytest.raises(DatasetError, match="again and again") as caught:
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "server"
    assert len(how.asked) == 1 + len(QUICK.waits_s)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_refusal_is_not_asked_again(tmp_path, status):
    how = Behaviour(ZIP, answers=[status])
    with serving(how) as address, pytest.raises(DatasetError) as caught:
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "not-on-server"
    assert len(how.asked) == 1
    assert not (tmp_path / "songs").exists()


def test_without_a_network_it_says_so(tmp_path, monkeypatch):
    def nowhere(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    with pytest.raises(DatasetError, match=r"^Not without internet: example\.org cannot") as caught:
        run(known("https://example.org/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "no-internet"
    assert "--archive" in caught.value.hint


def test_nobody_at_the_port_is_no_traceback_either(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DatasetError, match="Not without internet"):
        run(known(f"http://127.0.0.1:{port}/songs.zip"), tmp_path / "songs")


def test_redirections_are_followed_with_the_range(tmp_path):
    how = Behaviour(ZIP, answers=[302, 301], headers={"Location": "/elsewhere.zip"})
    with serving(how) as address:
        _, found = run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert found.n_files == 2
    assert how.asked[-1][0] == "/elsewhere.zip"


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/a.zip"])
def test_a_redirection_away_from_the_web_is_refused(tmp_path, to):
    how = Behaviour(ZIP, answers=[302], headers={"Location": to})
    with serving(how) as address, pytest.raises(DatasetError) as caught:
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert len(how.asked) == 1
    assert caught.value.code in ("address", "not-on-server")


def test_only_encrypted_addresses_are_asked():
    for start, end in (
        ("https://a.org/x", "http://a.org/x"),
        ("https://a.org/x", "http://127.0.0.1/x"),
        ("http://a.org/x", "http://localhost/x"),
        ("https://a.org/x", "file:///x"),
    ):
        with pytest.raises(DatasetError, match="not followed"):
            check_hop(start, end)
    check_hop("https://a.org/x", "https://b.org/x")
    check_hop("http://a.org/x", "https://a.org/x")
    check_hop("http://a.org/x", "http://b.org/x")
    with pytest.raises(DatasetError, match="only https"):
        check_address("http://a.org/x", has_sum=False)
    check_address("http://a.org/x", has_sum=True)


def test_a_wrong_checksum_is_set_aside_and_fetched_again(tmp_path):
    other = zip_of({"songs/a.mid": NOISE[::-1]})
    right = zip_of({"songs/a.mid": NOISE})
    how = Behaviour(other)
    with serving(how) as address:
        dataset = corpus(
            f"{address}/songs.zip", sha256=hashlib.sha256(right).hexdigest(), size_bytes=None
        )
        with pytest.raises(DatasetError, match="set aside") as caught:
            run(dataset, tmp_path / "songs")
        assert caught.value.code == "wrong-checksum"
        assert (tmp_path / "songs.zip.wrong").read_bytes() == other
        assert not (tmp_path / "songs").exists()
        how.data = right
        _, found = run(dataset, tmp_path / "songs")
    assert found.n_files == 1


def test_another_size_is_refused_before_it_is_fetched(tmp_path):
    how = Behaviour(ZIP + b"more")
    with serving(how) as address, pytest.raises(DatasetError, match="instead of") as caught:
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "changed"
    assert not (tmp_path / "songs.zip.part").exists()


@pytest.mark.parametrize("says_length", [True, False])
def test_more_than_the_limit_is_not_taken(tmp_path, says_length):
    how = Behaviour(ZIP, says_length=says_length)
    with serving(how) as address, pytest.raises(DatasetError, match="more than") as caught:
        run(corpus(f"{address}/songs.zip", most_bytes=500_000), tmp_path / "songs")
    assert caught.value.code == "too-large"


def test_a_log_in_page_is_told_from_an_archive(tmp_path):
    """Guards a hotel's page saved as a corpus."""
    with serving(Behaviour(b"<html>Log in")) as address, pytest.raises(DatasetError) as caught:
        run(corpus(f"{address}/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "no-archive"
    assert "log in" in caught.value.hint


def test_an_archive_without_a_known_sum_is_held_against_the_first(tmp_path):
    how = Behaviour(ZIP)
    with serving(how) as address:
        dataset = corpus(f"{address}/songs.zip")
        first, _ = run(dataset, tmp_path / "songs")
        noted = (tmp_path / "songs.zip.sha256").read_text()
        assert noted == f"{hashlib.sha256(ZIP).hexdigest()}  songs.zip\n"
        assert "gives no checksum" in remarks(first)
        for how.data, said in ((ZIP, ""), (zip_of({"songs/a.mid": NOISE}), "has changed")):
            for path in sorted((tmp_path / "songs").iterdir()):
                path.unlink()
            (tmp_path / "songs").rmdir()
            again, _ = run(dataset, tmp_path / "songs")
            assert said in remarks(again)
            assert bool(said) == bool(remarks(again))


def test_a_full_disk_keeps_what_came(tmp_path, monkeypatch):
    real = download_module._opened
    written = []

    class Full:
        def __init__(self, file):
            self._file = file

        def __enter__(self):
            return self

        def __exit__(self, *args):
            self._file.close()

        def write(self, data):
            if len(written) == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            written.append(len(data))
            return self._file.write(data)

    with serving(Behaviour(ZIP)) as address:
        dataset = known(f"{address}/songs.zip")
        monkeypatch.setattr(download_module, "_opened", lambda *args: Full(real(*args)))
        with pytest.raises(DatasetError, match="No space left") as caught:
            run(dataset, tmp_path / "songs")
        assert "Free some space" in caught.value.hint
        assert (tmp_path / "songs.zip.part").stat().st_size == sum(written)
        monkeypatch.undo()
        _, found = run(dataset, tmp_path / "songs")
    assert found.n_files == 2


def test_too_little_room_is_said_before_the_first_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(
        download_module.shutil, "disk_usage", lambda path: type("Disk", (), {"free": 10})()
    )
    with (
        serving(Behaviour(ZIP)) as address,
        pytest.raises(DatasetError, match="are free") as caught,
    ):
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert caught.value.code == "disk-full"


def test_a_read_only_place_is_a_sentence(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(DatasetError, match="Permission denied"):
        run(known("https://example.org/songs.zip"), tmp_path / "new" / "songs")


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "songs").mkdir()
    (tmp_path / "songs" / "mine.mid").write_bytes(b"mine")
    with pytest.raises(DatasetError, match="something else"):
        run(known("https://example.org/songs.zip"), tmp_path / "songs")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DatasetError, match="is a file"):
        run(known("https://example.org/songs.zip"), tmp_path / "file")


def test_two_at_once_are_refused(tmp_path):
    with serving(Behaviour(ZIP)) as address:
        first = fetch(known(f"{address}/songs.zip"), tmp_path / "songs", patience=QUICK)
        next(first)
        with pytest.raises(DatasetError, match="Another process"):
            run(known(f"{address}/songs.zip"), tmp_path / "songs")
        first.close()


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    left = tmp_path / ".songs.partial-abc"
    left.mkdir()
    (left / "half.mid").write_bytes(b"MTh")
    other = tmp_path / ".songs.mine"
    other.mkdir()
    with serving(Behaviour(ZIP)) as address:
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".songs.mine", "songs"]


def test_an_archive_at_hand_needs_no_network_and_stays(tmp_path):
    mine = tmp_path / "mine.tar.gz"
    mine.write_bytes(tar_of({"songs/a.mid": b"MThd"}))
    _, found = run(corpus(None), tmp_path / "songs", archive=mine)
    assert found.n_files == 1
    assert mine.exists()
    wrong = tmp_path / "wrong.zip"
    wrong.write_bytes(ZIP)
    with pytest.raises(DatasetError, match="is another"):
        run(known("https://example.org/x.zip", b"other"), tmp_path / "b", archive=wrong)
    assert wrong.exists()
    with pytest.raises(DatasetError, match="cannot be read"):
        run(corpus(None), tmp_path / "c", archive=tmp_path / "missing.zip")
    with pytest.raises(DatasetError, match="by a program") as caught:
        run(find_dataset("giantmidi"), tmp_path / "d")
    assert caught.value.code == "by-hand"


def test_the_archive_can_be_kept_and_is_used_again(tmp_path):
    how = Behaviour(ZIP)
    with serving(how) as address:
        run(known(f"{address}/songs.zip"), tmp_path / "songs", keep_archive=True)
        assert (tmp_path / "songs.zip").read_bytes() == ZIP
        (tmp_path / "songs").rename(tmp_path / "moved")
        run(known(f"{address}/songs.zip"), tmp_path / "songs")
    assert len(how.asked) == 1
