<#
.SYNOPSIS
  Looks at what docs/windows-checklist.md asks for, and compares this PC before and after.
.DESCRIPTION
  powershell -ExecutionPolicy Bypass -File checklist.ps1 before   notes what is there
  powershell -ExecutionPolicy Bypass -File checklist.ps1 now      looks at what is installed
  powershell -ExecutionPolicy Bypass -File checklist.ps1 after    says what differs from before
  Notes lie in %USERPROFILE%\weir-checklist. Nothing else is written, and nothing is changed.
  For the PowerShell 5.1 that comes with Windows. Words of Windows are never read.
#>
param(
    [Parameter(Mandatory = $true)]
    [ValidateSet('before', 'now', 'after')]
    [string]$Step
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$env:WSL_UTF8 = '1'
[Console]::OutputEncoding = [System.Text.Encoding]::UTF8
$Notes = Join-Path $env:USERPROFILE 'weir-checklist'
$Key = 'HKCU:\Software\WeirStudio'
$Port = 18020
New-Item -ItemType Directory -Force -Path $Notes | Out-Null

function Get-Value([string]$Path, [string]$Name) {
    $found = Get-ItemProperty -Path $Path -ErrorAction SilentlyContinue
    if ($null -eq $found -or $null -eq $found.PSObject.Properties[$Name]) { return $null }
    return $found.$Name
}

# Everything that an installation may change, a line each.
function Get-State {
    $folders = @(
        (Join-Path $env:LOCALAPPDATA 'Programs'),
        (Join-Path $env:APPDATA 'Microsoft\Windows\Start Menu\Programs')
    )
    foreach ($folder in $folders) {
        Get-ChildItem -Path $folder -Recurse -Force -ErrorAction SilentlyContinue |
            ForEach-Object { "file $($_.FullName)" }
    }
    foreach ($path in @($Key, 'HKCU:\Software\Microsoft\Windows\CurrentVersion\Uninstall\WeirStudio')) {
        if (Test-Path $path) { "key $path" }
    }
    "run once $(Get-Value 'HKCU:\Software\Microsoft\Windows\CurrentVersion\RunOnce' 'WeirStudio')"
    foreach ($rule in @(Get-NetFirewallRule -DisplayName 'Weir Studio' -ErrorAction SilentlyContinue)) {
        "firewall $($rule.DisplayName) $($rule.Enabled)"
    }
    foreach ($line in @(netsh interface portproxy show v4tov4)) {
        if ($line -match "\s$Port\s") { "proxy $($line.Trim())" }
    }
    foreach ($name in @(Get-Distributions)) { "distribution $name" }
    $config = Join-Path $env:USERPROFILE '.wslconfig'
    if (Test-Path $config) { ".wslconfig $((Get-FileHash $config).Hash)" }
}

function Get-Distributions {
    $lxss = 'HKCU:\Software\Microsoft\Windows\CurrentVersion\Lxss'
    Get-ChildItem -Path $lxss -ErrorAction SilentlyContinue |
        ForEach-Object { Get-Value $_.PSPath 'DistributionName' } |
        Where-Object { $_ } | Sort-Object
}

function Write-Row([string]$What, [bool]$IsGood, [string]$Seen) {
    $mark = if ($IsGood) { 'ok  ' } else { 'LOOK' }
    Write-Output "$mark  $($What): $Seen"
}

# Whether something answers, and with which status; 401 is an answer, too.
function Get-Answer([string]$Address) {
    try {
        return [int](Invoke-WebRequest -Uri $Address -UseBasicParsing -TimeoutSec 5).StatusCode
    } catch {
        $response = $_.Exception.PSObject.Properties['Response']
        if ($null -ne $response -and $null -ne $response.Value) {
            return [int]$response.Value.StatusCode
        }
        return 0
    }
}

function Show-Now {
    $os = Get-CimInstance Win32_OperatingSystem
    $cpu = @(Get-CimInstance Win32_Processor)[0]
    Write-Row 'Windows' ([int]$os.BuildNumber -ge 19045) "$($os.Version), $((Get-Culture).Name)"
    Write-Row 'Virtualization' ([bool]($cpu.VirtualizationFirmwareEnabled -or
            (Get-CimInstance Win32_ComputerSystem).HypervisorPresent)) $cpu.Name
    $folder = Get-Value $Key 'InstallDir'
    if (-not $folder) {
        Write-Row 'Program' $false 'not installed for this person'
        return
    }
    $name = (Get-Content (Join-Path $folder 'current.txt') -Raw).Trim()
    $version = Join-Path $folder $name
    Write-Row 'Version' (Test-Path (Join-Path $version 'complete')) "$name in $folder"
    $others = @(Get-ChildItem $folder -Directory -Filter 'app-*' | Where-Object { $_.Name -ne $name })
    Write-Row 'Versions before' ($others.Count -le 1) "$($others.Count) kept"
    foreach ($file in @(Get-ChildItem (Join-Path $version '_internal') -Filter 'python3*.dll')) {
        $sign = Get-AuthenticodeSignature $file.FullName
        Write-Row "Signature of $($file.Name)" ($sign.Status -eq 'Valid') "$($sign.Status)"
    }
    $weir = Join-Path $folder 'weir.exe'
    foreach ($round in 'first', 'second') {
        $took = Measure-Command { & $weir --version | Out-Null }
        Write-Row "weir --version, $round time" ($LASTEXITCODE -eq 0) ('{0:n1} s' -f $took.TotalSeconds)
    }
    $said = & $weir wsl --json
    Set-Content -Path (Join-Path $Notes 'wsl.json') -Value $said -Encoding UTF8
    $found = ($said -join "`n") | ConvertFrom-Json
    Write-Row 'Linux' (@('start', 'ready') -contains $found.step) $found.step
    Write-Row 'Distributions' $true ((@(Get-Distributions) -join ', '))
    if ($found.PSObject.Properties['disk_bytes'] -and $found.disk_bytes) {
        $size = (Get-Item $found.disk).Length
        Write-Row 'Disk image' ($size -eq $found.disk_bytes) "$size bytes in $($found.disk)"
    }
    $answer = Get-Answer "http://localhost:$Port/v1/models"
    Write-Row 'Gateway on localhost' ($answer -in 200, 401) "status $answer (0: nothing answers)"
    $once = Get-Value 'HKCU:\Software\Microsoft\Windows\CurrentVersion\RunOnce' 'WeirStudio'
    $isWaiting = $found.step -eq 'restart'
    Write-Row 'RunOnce' ([bool]$once -eq $isWaiting) $(if ($once) { $once } else { 'nothing of ours' })
}

switch ($Step) {
    'before' {
        Get-State | Set-Content -Path (Join-Path $Notes 'before.txt') -Encoding UTF8
        Write-Output "Noted in $Notes."
    }
    'now' { Show-Now | Tee-Object -FilePath (Join-Path $Notes "now-$(Get-Date -Format HHmmss).txt") }
    'after' {
        $before = @(Get-Content (Join-Path $Notes 'before.txt') -Encoding UTF8)
        $differs = @(Compare-Object $before @(Get-State))
        foreach ($line in $differs) { Write-Row 'Differs' $false "$($line.SideIndicator) $($line.InputObject)" }
        Write-Row 'After the removal' ($differs.Count -eq 0) "$($differs.Count) lines differ"
    }
}
