"""What of the queue outlives the service."""

from pathlib import Path

from studio.app import download_book
from studio.app.download_book import Book, Kept
from studio.domain.downloads import DownloadState, GetRequest
from studio.host.paths import Paths


def test_what_is_kept_is_read_again_in_its_order(tmp_path: Path) -> None:
    """The order is what a person chose."""
    paths = Paths(tmp_path / "höme", tmp_path)
    paths.home.mkdir()
    jobs = tuple(
        Kept(id=name, request=GetRequest(repository="a/b"), state=DownloadState.QUEUED)
        for name in ("2", "1")
    )
    book = Book(jobs=jobs, limit_bytes_per_s=5)

    download_book.write(paths, book)

    assert download_book.read(paths) == book


def test_a_damaged_file_costs_the_queue_and_not_the_service(tmp_path: Path) -> None:
    """It is put aside, so that what stood in it can be looked up."""
    (tmp_path / "downloads.json").write_bytes(b"{half")

    assert download_book.read(Paths(tmp_path, tmp_path)) == Book()
    assert (tmp_path / "downloads.json.damaged").read_bytes() == b"{half"
    assert not (tmp_path / "downloads.json").exists()
