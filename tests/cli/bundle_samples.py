"""What the fake service says about runtimes that travel as files."""

from studio.domain.bundles import Exported, Imported, Signer, SignerList

FINGERPRINT = "3f9a-0c51-b7d2-e864-4a1b-0000-1111-2222"

EXPORTED = Exported(
    runtime="cpu-vllm-0.32.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    path="/media/stick/cpu-vllm-0.32.0-3f9a0c51b7d2.weir.tar.gz",
    files=59_339,
    bytes=2 << 30,
    file_bytes=700 << 20,
    sha256="ab" * 32,
    fingerprint=FINGERPRINT,
    public_key="cd" * 32,
    is_new_key=True,
    seconds=42.0,
)
IMPORTED = Imported(
    runtime="cpu-vllm-0.32.0",
    runtime_id="3f9a0c51b7d2e8644a1b",
    files=59_339,
    bytes=2 << 30,
    fingerprint=FINGERPRINT,
    signer="The lab",
    is_catalogued=True,
    seconds=31.0,
)
SIGNERS = SignerList(
    signers=(
        Signer(fingerprint="0" * 32, is_own=True),
        Signer(fingerprint=FINGERPRINT, name="The lab", trusted_at="2026-11-29T12:00:00+00:00"),
    )
)
