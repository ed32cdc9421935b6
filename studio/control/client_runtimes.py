"""The control API's calls about runtimes and who signs them."""

from studio.control.transport import Calls, part
from studio.domain.bundles import (
    Exported,
    ExportRequest,
    Imported,
    ImportRequest,
    SignerList,
    TrustRequest,
)
from studio.domain.control import (
    RuntimeVersions,
)
from studio.domain.integrity import Collected, Repaired, Verdict
from studio.domain.runtimes import (
    CollectRequest,
    FetchedSeries,
    InstallRequest,
    InstallStopped,
    PinRequest,
    RollbackRequest,
    RuntimeDetail,
    RuntimeList,
    RuntimeUpdated,
    RuntimeUpdates,
    VerifyRequest,
)


class RuntimeCalls(Calls):
    """Runtimes and who signs them."""

    async def runtimes(self) -> RuntimeList:
        """Return every runtime with its state and its verdict for this host."""
        return await self.call("GET", "/runtimes", RuntimeList)

    async def runtime(self, name: str) -> RuntimeDetail:
        """Return everything about one runtime."""
        return await self.call("GET", f"/runtimes/{part(name)}", RuntimeDetail)

    async def pin_runtime(self, name: str, request: PinRequest) -> RuntimeDetail:
        """Supply what a runtime's recipe leaves open."""
        path = f"/runtimes/{part(name)}/pin"
        return await self.call("POST", path, RuntimeDetail, body=request)

    async def fetch_series(self, name: str) -> FetchedSeries:
        """Fetch and check the patch series that a runtime takes from other projects."""
        path = f"/runtimes/{part(name)}/series"
        return await self.call("POST", path, FetchedSeries, patient=True)

    async def install_runtime(self, name: str, request: InstallRequest) -> RuntimeDetail:
        """Install a runtime; returns when it is usable."""
        path = f"/runtimes/{part(name)}/install"
        return await self.call("POST", path, RuntimeDetail, body=request, patient=True)

    async def stop_install(self, name: str) -> InstallStopped:
        """Stop what is being done to a runtime; returns when it has ended."""
        path = f"/runtimes/{part(name)}/stop"
        return await self.call("POST", path, InstallStopped, patient=True)

    async def runtime_updates(self) -> RuntimeUpdates:
        """Return what could take the place of installed runtimes."""
        return await self.call("GET", "/runtimes/updates", RuntimeUpdates)

    async def update_runtime(self, name: str, request: InstallRequest) -> RuntimeUpdated:
        """Install what the recipe says now, try it and use it; returns when that is done."""
        path = f"/runtimes/{part(name)}/update"
        return await self.call("POST", path, RuntimeUpdated, body=request, patient=True)

    async def verify_runtime(self, name: str, request: VerifyRequest) -> Verdict:
        """Compare a runtime with the list of its files."""
        path = f"/runtimes/{part(name)}/verify"
        return await self.call("POST", path, Verdict, body=request, patient=True)

    async def repair_runtime(self, name: str) -> Repaired:
        """Restore what differs from what was installed."""
        return await self.call("POST", f"/runtimes/{part(name)}/repair", Repaired, patient=True)

    async def runtime_versions(self, name: str) -> RuntimeVersions:
        """Return the installations of a runtime that are kept."""
        return await self.call("GET", f"/runtimes/{part(name)}/versions", RuntimeVersions)

    async def roll_back(self, name: str, request: RollbackRequest) -> RuntimeVersions:
        """Use the installation before the present one, or the one after it."""
        path = f"/runtimes/{part(name)}/rollback"
        return await self.call("POST", path, RuntimeVersions, body=request)

    async def collect_runtimes(self, request: CollectRequest) -> Collected:
        """Remove what nothing uses."""
        return await self.call("POST", "/runtimes/gc", Collected, body=request, patient=True)

    async def export_runtime(self, name: str, request: ExportRequest) -> Exported:
        """Write an installed runtime into one signed file, on the service's machine."""
        path = f"/runtimes/{part(name)}/export"
        return await self.call("POST", path, Exported, body=request, patient=True)

    async def import_runtime(self, request: ImportRequest) -> Imported:
        """Install a runtime out of one signed file, on the service's machine."""
        return await self.call("POST", "/runtimes/import", Imported, body=request, patient=True)

    async def signers(self) -> SignerList:
        """Return everybody whose runtimes may be imported."""
        return await self.call("GET", "/signers", SignerList)

    async def trust_signer(self, request: TrustRequest) -> SignerList:
        """Trust a signer; return who is trusted then."""
        return await self.call("POST", "/signers", SignerList, body=request)

    async def forget_signer(self, reference: str) -> SignerList:
        """Trust a signer no more, by fingerprint or name; return who is trusted then."""
        return await self.call("POST", f"/signers/{part(reference)}/forget", SignerList)
