"""Memory of graphics adapters as Windows counts it: how much of it lies in the machine's memory.

Windows moves what does not fit a card into the machine's memory without a word to anybody; only
its counter `\\GPU Adapter Memory(*)\\Shared Usage` tells (HyperQwen, WSL2). One PowerShell writes a
line for each adapter once a second; this module holds what it runs and reads what it writes. Lines
are digits and marks of our own, for Windows speaks any language.
"""

import re
import time
from collections.abc import Callable

from studio.domain.readings import AdapterReading, AdapterReadings

MOST_ADAPTERS = 64
_NVIDIA = 0x10DE
_CARD = re.compile(
    r"weir-card\|([0-9a-fA-F]{8})_([0-9a-fA-F]{8})\|(\d{1,10})\|(\d{1,19})\|(.{0,200})$"
)
_USE = re.compile(
    r"weir-use\|luid_0x([0-9a-fA-F]{8})_0x([0-9a-fA-F]{8})_phys_\d+\|(\d{1,19})\|(\d{0,19})$"
)
_PROCESS = re.compile(
    r"weir-proc\|pid_(\d{1,10})_luid_0x[0-9a-fA-F]{8}_0x\w{8}_phys_\d+\|(\d{1,19})$"
)
_NONE = re.compile(r"weir-none\|(.{0,200})$")
END = "weir-end"
"""What a round of lines ends with."""
FRESH_S = 5.0
"""A reading that is older says nothing of now."""
_HEAVIEST = 5

# Windows' counters by their English names, whatever language it speaks. `Add-Type` compiles the few
# calls; where that is forbidden, WMI's classes hold the same counters and are slower.
# An adapter's name stands in the registry beside its LUID. A closed pipe ends the script.
SCRIPT = r"""
$ErrorActionPreference = 'Stop'
[Console]::OutputEncoding = New-Object Text.UTF8Encoding $false
function Say($text) { [Console]::Out.WriteLine($text); [Console]::Out.Flush() }
function Say-Cards {
  foreach ($key in Get-ChildItem 'HKLM:\SOFTWARE\Microsoft\DirectX' -ErrorAction SilentlyContinue) {
    $p = Get-ItemProperty $key.PSPath -ErrorAction SilentlyContinue
    if ($p -and $p.AdapterLuid) {
      $luid = [uint64]$p.AdapterLuid
      Say ('weir-card|{0:x8}_{1:x8}|{2}|{3}|{4}' -f [uint32][math]::Floor($luid / 4294967296),
        [uint32]($luid % 4294967296), $p.VendorId, $p.DedicatedVideoMemory, $p.Description)
    }
  }
}
$source = @'
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
public class WeirCounter {
  [DllImport("pdh.dll", CharSet = CharSet.Unicode)]
  static extern uint PdhOpenQueryW(string source, IntPtr user, out IntPtr query);
  [DllImport("pdh.dll", CharSet = CharSet.Unicode)]
  static extern uint PdhAddEnglishCounterW(IntPtr q, string path, IntPtr user, out IntPtr c);
  [DllImport("pdh.dll")] static extern uint PdhCollectQueryData(IntPtr query);
  [DllImport("pdh.dll")] static extern uint PdhGetFormattedCounterArrayW(
    IntPtr counter, uint format, ref uint bytes, ref uint items, IntPtr buffer);
  IntPtr query, counter;
  public WeirCounter(string path) {
    Check(PdhOpenQueryW(null, IntPtr.Zero, out query));
    Check(PdhAddEnglishCounterW(query, path, IntPtr.Zero, out counter));
  }
  static void Check(uint status) {
    if (status != 0) throw new Exception("PDH 0x" + status.ToString("x8"));
  }
  public Dictionary<string, long> Read() {
    var found = new Dictionary<string, long>();
    if (PdhCollectQueryData(query) != 0) return found;
    uint bytes = 0, items = 0;
    PdhGetFormattedCounterArrayW(counter, 0x400, ref bytes, ref items, IntPtr.Zero);
    if (bytes == 0) return found;
    IntPtr buffer = Marshal.AllocHGlobal((int)bytes);
    try {
      if (PdhGetFormattedCounterArrayW(counter, 0x400, ref bytes, ref items, buffer) != 0)
        return found;
      for (uint i = 0; i < items; i++) {
        IntPtr item = new IntPtr(buffer.ToInt64() + 24 * i);
        if ((uint)Marshal.ReadInt32(item, 8) > 1) continue;
        string name = Marshal.PtrToStringUni(Marshal.ReadIntPtr(item));
        long value = Marshal.ReadInt64(item, 16), before;
        found[name] = found.TryGetValue(name, out before) ? before + value : value;
      }
    } finally { Marshal.FreeHGlobal(buffer); }
    return found;
  }
}
'@
$isCompiled = $true
try {
  Add-Type -TypeDefinition $source
  $shared = New-Object WeirCounter '\GPU Adapter Memory(*)\Shared Usage'
  $dedicated = New-Object WeirCounter '\GPU Adapter Memory(*)\Dedicated Usage'
  $processes = New-Object WeirCounter '\GPU Process Memory(*)\Shared Usage'
} catch { $isCompiled = $false }
function Say-Compiled($round) {
  $own = $dedicated.Read()
  foreach ($one in $shared.Read().GetEnumerator()) {
    Say ('weir-use|{0}|{1}|{2}' -f $one.Key, $one.Value, $own[$one.Key])
  }
  if ($round % 5 -eq 0) {
    foreach ($one in $processes.Read().GetEnumerator() | Sort-Object Value -Descending |
        Select-Object -First 5) { Say ('weir-proc|{0}|{1}' -f $one.Key, $one.Value) }
  }
}
function Say-Managed {
  $class = 'Win32_PerfRawData_GPUPerformanceCounters_GPUAdapterMemory'
  foreach ($one in Get-CimInstance -ClassName $class) {
    Say ('weir-use|{0}|{1}|{2}' -f $one.Name, $one.SharedUsage, $one.DedicatedUsage)
  }
}
for ($round = 0; ; $round++) {
  if ($round % 60 -eq 0) { Say-Cards }
  try { if ($isCompiled) { Say-Compiled $round } else { Say-Managed } }
  catch [IO.IOException] { exit 1 }
  catch { Say ('weir-none|' + $_.Exception.HResult); Start-Sleep -Seconds 30 }
  Say 'weir-end'
  Start-Sleep -Milliseconds 1000
}
"""


def fresh(last: AdapterReadings) -> AdapterReadings:
    """Return what was read last, or that nothing is known when it has grown old."""
    if last.at_s is not None and time.monotonic() - last.at_s > FRESH_S:
        return AdapterReadings(note="Windows has not answered for some seconds.")
    return last


class Lines:
    """Reads the lines of one PowerShell, in order."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cards: dict[str, tuple[str, int, bool]] = {}
        self._use: dict[str, tuple[int, int | None]] = {}
        self._processes: dict[int, int] = {}
        self._heaviest: tuple[tuple[int, int], ...] = ()
        self._refusal: str | None = None

    def hear(self, line: str) -> AdapterReadings | None:
        """Take up a line; at the end of a round return what it told."""
        line = line.replace("\0", "").strip("\ufeff \r")
        if line == END:
            return self._round()
        if (card := _CARD.fullmatch(line)) is not None:
            if len(self._cards) < MOST_ADAPTERS:
                luid, vendor = _luid(card[1], card[2]), int(card[3])
                self._cards[luid] = (card[5].strip(), int(card[4]), vendor == _NVIDIA)
        elif (use := _USE.fullmatch(line)) is not None:
            self._add(_luid(use[1], use[2]), int(use[3]), int(use[4]) if use[4] else None)
        elif (held := _PROCESS.fullmatch(line)) is not None:
            if len(self._processes) < MOST_ADAPTERS:
                pid = int(held[1])
                self._processes[pid] = self._processes.get(pid, 0) + int(held[2])
        elif (none := _NONE.fullmatch(line)) is not None:
            self._refusal = none[1].strip()
        return None

    def _add(self, luid: str, shared: int, dedicated: int | None) -> None:
        """Count an adapter; one of several linked cards has a line for each."""
        before = self._use.get(luid)
        if before is not None:
            shared += before[0]
            dedicated = None if dedicated is None or before[1] is None else dedicated + before[1]
        elif len(self._use) >= MOST_ADAPTERS:
            return
        self._use[luid] = (shared, dedicated)

    def _round(self) -> AdapterReadings:
        if self._processes:
            ordered = sorted(self._processes.items(), key=lambda one: -one[1])
            self._heaviest = tuple(ordered[:_HEAVIEST])
        adapters = tuple(self._adapter(luid, *use) for luid, use in sorted(self._use.items()))
        refusal, self._refusal = self._refusal, None
        self._use, self._processes = {}, {}
        note = None
        if not adapters:
            code = f" (error {refusal})" if refusal else ""
            note = f"Windows has no counters of graphics memory here{code}."
        return AdapterReadings(
            at_s=self._clock(), adapters=adapters, heaviest=self._heaviest, note=note
        )

    def _adapter(self, luid: str, shared: int, dedicated: int | None) -> AdapterReading:
        name, total, is_nvidia = self._cards.get(luid, (None, None, None))
        return AdapterReading(
            luid=luid,
            name=name or None,
            shared_bytes=shared,
            dedicated_bytes=dedicated,
            total_bytes=total,
            is_nvidia=is_nvidia,
        )


def _luid(high: str, low: str) -> str:
    return f"0x{high.lower()}_0x{low.lower()}"
