"""The log's tree: paths, what counts as unknown, what is refused."""

import pytest

from studio.host.smi_xml import NotUnderstood, read_xml

LOG = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log><gpu id="1"><name>A</name><empty>N/A</empty>
<old>Requested functionality has been deprecated</old><deep><er>x</er></deep></gpu>
<gpu id="2"/></nvidia_smi_log>"""


def test_paths_lead_to_texts() -> None:
    """Names with slashes, as the log nests them."""
    log = read_xml(LOG)

    assert len(log.all("gpu")) == 2
    assert log.text("gpu/name") == "A"
    assert log.text("gpu/deep/er") == "x"
    assert log.all("gpu")[1].attributes["id"] == "2"


def test_what_means_not_known_is_none() -> None:
    """`N/A`, a missing element and a deprecated answer are all the same."""
    log = read_xml(LOG)

    assert log.text("gpu/empty") is None
    assert log.text("gpu/old") is None
    assert log.text("gpu/missing/deeper") is None


def test_words_before_the_log_are_left_out() -> None:
    """Some drivers print a warning first."""
    assert read_xml("WARNING: infoROM is corrupted\n" + LOG).text("gpu/name") == "A"


@pytest.mark.parametrize("text", ["", "no log", LOG[:-40], LOG.replace("nvidia_smi_log", "other")])
def test_anything_else_is_refused(text: str) -> None:
    """Half a log would look like a machine with fewer cards."""
    with pytest.raises(NotUnderstood):
        read_xml(text)


def test_a_log_of_millions_of_elements_is_refused() -> None:
    """Memory is for models."""
    text = "<?xml version='1.0'?><nvidia_smi_log>" + "<a/>" * 100_001 + "</nvidia_smi_log>"

    with pytest.raises(NotUnderstood, match="does not end"):
        read_xml(text)
