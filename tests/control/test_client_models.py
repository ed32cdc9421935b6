"""Where calls about the library go."""

from studio.domain.library import CheckRequest, ModelImport, RemoveRequest, RootChange
from tests.control.test_client import check


async def test_every_call_goes_where_the_document_says() -> None:
    """A model's name with its slash travels in the query."""
    await check(
        [
            (lambda c: c.models(), "GET", "/models", ""),
            (lambda c: c.model("o/n ü"), "GET", "/models/one", "name=o%2Fn%20%C3%BC"),
            (lambda c: c.model_roots(), "GET", "/models/roots", ""),
            (lambda c: c.change_model_roots(RootChange(add="/a")), "POST", "/models/roots", ""),
            (lambda c: c.import_model(ModelImport(path="/a")), "POST", "/models/import", ""),
            (lambda c: c.model_import(), "GET", "/models/import", ""),
            (lambda c: c.remove_model(RemoveRequest(name="a")), "POST", "/models/remove", ""),
            (lambda c: c.model_checks(), "GET", "/models/checks", ""),
            (lambda c: c.check_models(CheckRequest()), "POST", "/models/checks", ""),
            (lambda c: c.stop_model_check(CheckRequest(name="a")), "POST",
             "/models/checks/stop", ""),
        ]
    )  # fmt: skip
