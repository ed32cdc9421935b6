; The setup program for Windows: for one person, without the administrator. `installer/windows/setup.py`
; runs makensis on it with VERSION, PAYLOAD, LISTED, ICON, SIDE and OUT.
;
; A version lies whole in a folder of its own below $INSTDIR, `app-VERSION`. The two starters beside
; read from `current.txt` which one runs (see launcher.c). In this order, so that after a kill at any
; moment the old version starts or the new one:
;   1. the new folder is written, tried, and marked by a file `complete`;
;   2. the starters are exchanged, each by one rename: those of any version start any other;
;   3. `previous.txt` names the version that runs: it is the one that is kept for the way back;
;   4. `current.txt` is exchanged by one rename: from here on the new version runs;
;   5. all but these two are removed, by the list that each brought along; what a person put there
;      stays.
; Where the variable WEIR_STAGE_INTO names a folder, an older Studio runs this (`studio/app/staging.py`):
; then only 1. is done there, nothing is asked, and that Studio chooses when the new version takes over.
; What a kill leaves behind, the next set-up or the removal takes away by the same lists.
Unicode true
Target amd64-unicode
!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include WinVer.nsh
!include x64.nsh
!define APP "Weir Studio"
!define EXE "weir-studio.exe"
!define COMMAND "weir.exe"
!define VERSIONS "app-"
!define POINTER "current.txt"
!define BEFORE "previous.txt"
!define FINISHED "complete"
!define STEM "${VERSIONS}${VERSION}"
!define KEY "Software\WeirStudio"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\WeirStudio"
Name "${APP}"
OutFile "${OUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\${APP}"
InstallDirRegKey HKCU "${KEY}" "InstallDir"
SetCompressor /SOLID lzma
SetCompressorDictSize 64
SetDateSave off
ManifestDPIAware true
ManifestSupportedOS Win10
BrandingText "${APP} ${VERSION}"
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${APP}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${APP} setup"
VIAddVersionKey "LegalCopyright" "Weir Studio contributors, Apache-2.0"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_WELCOMEFINISHPAGE_BITMAP "${SIDE}"
!define MUI_WELCOMEPAGE_TITLE "${APP} ${VERSION}"
!define MUI_WELCOMEPAGE_TEXT "$(WELCOME)"
!define MUI_FINISHPAGE_RUN "$INSTDIR\${EXE}"
!define MUI_FINISHPAGE_RUN_TEXT "Open ${APP}"
!define MUI_ABORTWARNING
!insertmacro MUI_PAGE_WELCOME
!define MUI_PAGE_CUSTOMFUNCTION_LEAVE CheckFolder
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"
LangString WELCOME ${LANG_ENGLISH} "Serves large models on your own graphics card.$\r$\n$\r$\nIt is installed for you alone; no administrator is asked.$\r$\n$\r$\nEngines run on a small Linux that comes along. ${APP} sets it up after this and says beforehand what that takes.$\r$\n$\r$\nOver an older version, this is an update: models, engines and settings stay, and what serves goes on."
LangString WELCOME ${LANG_SIMPCHINESE} "在您自己的显卡上运行大模型。$\r$\n$\r$\n仅为您安装，无需管理员权限。$\r$\n$\r$\n引擎运行在随附的小型 Linux 中。安装后 ${APP} 会设置它，并事先说明所需的步骤。$\r$\n$\r$\n若已安装旧版本，则进行更新：模型、引擎和设置都会保留，正在运行的服务不会中断。"
LangString SYNCED ${LANG_ENGLISH} "This folder is copied to OneDrive, which breaks programs in use. Choose another one."
LangString SYNCED ${LANG_SIMPCHINESE} "此文件夹会同步到 OneDrive，正在使用的程序会因此损坏。请选择其他文件夹。"
LangString KEPT ${LANG_ENGLISH} "This removes the program. What stays, unless you have removed it: the Studio's Linux, `weir-studio` in WSL, with its models, engines, keys and history, and the window's settings in $LOCALAPPDATA\weir-studio.$\r$\n$\r$\nIf you want them gone, too, say No. `weir wsl remove` and then `weir uninstall`, in the Weir Studio terminal, say what there is and ask before they remove it.$\r$\n$\r$\nRemove the program now?"
LangString KEPT ${LANG_SIMPCHINESE} "这只删除程序。以下内容会保留（除非您已删除）：Weir Studio 的 Linux（WSL 中的 `weir-studio`），包括其中的模型、引擎、密钥和历史记录；以及 $LOCALAPPDATA\weir-studio 中的窗口设置。$\r$\n$\r$\n如需一并删除，请选“否”，然后在 Weir Studio 终端中依次运行 `weir wsl remove` 和 `weir uninstall`：它们会列出内容，并在删除前询问。$\r$\n$\r$\n现在删除程序吗？"

LangString RUNS ${LANG_ENGLISH} "Weir Studio is open. Close it, then try again. What serves goes on in its Linux."
LangString RUNS ${LANG_SIMPCHINESE} "Weir Studio 正在运行。请先关闭，然后重试。Linux 中的服务会继续运行。"
LangString TERMINAL ${LANG_ENGLISH} "Weir Studio terminal"
LangString TERMINAL ${LANG_SIMPCHINESE} "Weir Studio 终端"
LangString DAMAGED ${LANG_ENGLISH} "The files could not be written. Is the disk full, or does a virus scanner hold them back? The version before, if there was one, is still there."
LangString DAMAGED ${LANG_SIMPCHINESE} "无法写入文件。磁盘是否已满，或者被杀毒软件拦截？如有之前的版本，它仍然保留。"
LangString UNTRIED ${LANG_ENGLISH} "The new version does not start on this PC; a virus scanner may hold back one of its files. The version before, if there was one, is still there."
LangString UNTRIED ${LANG_SIMPCHINESE} "新版本无法在这台电脑上启动；杀毒软件可能拦截了它的某个文件。如有之前的版本，它仍然保留。"
LangString TWICE ${LANG_ENGLISH} "Weir Studio is being installed or removed already. Let that end first."
LangString TWICE ${LANG_SIMPCHINESE} "Weir Studio 正在安装或卸载中。请等待其完成。"
LangString TOOOLD ${LANG_ENGLISH} "Weir Studio needs Windows 10 22H2 or Windows 11."
LangString TOOOLD ${LANG_SIMPCHINESE} "Weir Studio 需要 Windows 10 22H2 或 Windows 11。"
LangString ARM ${LANG_ENGLISH} "This PC has an ARM processor. The Linux that Weir Studio brings along is for 64-bit processors of Intel and AMD."
LangString ARM ${LANG_SIMPCHINESE} "这台电脑使用 ARM 处理器。Weir Studio 自带的 Linux 适用于 Intel 和 AMD 的 64 位处理器。"

Var Old ; the folder that `current.txt` names, empty: none
Var New ; the one that is written now
Var Kept ; the one that stays for the way back, empty: none
Var Refusal ; why nothing was installed
Var Staged ; 1: the version is only laid beside the others

; --- Before anything is touched --------------------------------------------------------------
; Exit statuses of a silent run: 2 not written or not startable, 3 the program is open or a second
; set-up runs (while staging: only the latter), 4 this folder or this PC is refused.

!macro Alone un
Function ${un}Alone
  System::Call 'kernel32::CreateMutexW(p 0, i 0, w "Local\WeirStudioSetup") p .r1 ?e'
  Pop $0
  ${If} $0 = 183 ; ERROR_ALREADY_EXISTS
    MessageBox MB_ICONEXCLAMATION "$(TWICE)" /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
FunctionEnd
!macroend
!insertmacro Alone ""
!insertmacro Alone "un."

Function .onInit
  ReadEnvStr $0 "WEIR_STAGE_INTO"
  ${If} $0 != ""
    StrCpy $Staged 1
    StrCpy $INSTDIR $0
    SetSilent silent
  ${EndIf}
  ${IfNot} ${AtLeastWin10}
    StrCpy $0 "$(TOOOLD)"
    Call Refuse
  ${EndIf}
  ${If} ${IsNativeARM64}
    StrCpy $0 "$(ARM)"
    Call Refuse
  ${EndIf}
  Call Alone
FunctionEnd

Function Refuse
  MessageBox MB_ICONSTOP "$0" /SD IDOK
  SetErrorLevel 4
  Quit
FunctionEnd

; Tells in $0 whether $INSTDIR is the folder that a variable names, or lies in it.
!macro InFolder variable
  ReadEnvStr $1 "${variable}"
  StrCpy $2 $1 1 -1
  ${If} $2 == "\"
    StrCpy $1 $1 -1
  ${EndIf}
  StrLen $2 "$1"
  ${If} $2 > 3
    StrCpy $3 "$INSTDIR\" $2
    StrCpy $4 "$INSTDIR\" 1 $2
    ${If} $3 == $1
    ${AndIf} $4 == "\"
      StrCpy $0 1
    ${EndIf}
  ${EndIf}
!macroend

Function IsSynced
  StrCpy $0 0
  !insertmacro InFolder "OneDrive"
  !insertmacro InFolder "OneDriveConsumer"
  !insertmacro InFolder "OneDriveCommercial"
FunctionEnd

Function CheckFolder
  Call IsSynced
  ${If} $0 = 1
    MessageBox MB_ICONSTOP "$(SYNCED)"
    Abort ; the page stays
  ${EndIf}
FunctionEnd

; A program that runs keeps its file: it cannot be opened for writing.
!macro RefuseRunning un
Function ${un}RefuseRunning
  StrCpy $3 "$INSTDIR\${EXE}"
  Call ${un}RefuseOpen
  StrCpy $3 "$INSTDIR\${COMMAND}"
  Call ${un}RefuseOpen
FunctionEnd

Function ${un}RefuseOpen
  again:
  ${If} ${FileExists} "$3"
    ClearErrors
    FileOpen $4 "$3" a
    ${If} ${Errors}
      MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(RUNS)" /SD IDCANCEL IDRETRY again
      SetErrorLevel 3
      Quit
    ${EndIf}
    FileClose $4
  ${EndIf}
FunctionEnd
!macroend
!insertmacro RefuseRunning ""
!insertmacro RefuseRunning "un."

; --- What a version is made of ---------------------------------------------------------------

; Removes the version in $R0, a folder's name, by its own list: files, then folders in which nothing
; else is left. A list from which something could not be removed stays for the next time.
!macro RemoveVersion un
Function ${un}RemoveVersion
  ${IfNot} ${FileExists} "$INSTDIR\$R0\files.txt"
    RMDir "$INSTDIR\$R0"
    Return
  ${EndIf}
  Delete "$INSTDIR\$R0\${FINISHED}"
  Delete "$INSTDIR\$R0\${FINISHED}.new"
  StrCpy $R9 0
  FileOpen $R1 "$INSTDIR\$R0\files.txt" r
  ${Do}
    ClearErrors
    FileReadUTF16LE $R1 $R2
    ${If} ${Errors}
      ${ExitDo}
    ${EndIf}
    Call ${un}TrimLine
    ; Nothing outside of the folder, whatever somebody wrote into the list.
    System::Call 'shlwapi::StrStrW(w R2, w "..") p .R4'
    ${If} $R2 == ""
    ${OrIf} $R4 P<> 0
      ${Continue}
    ${EndIf}
    StrCpy $R3 $R2 1 -1
    ${If} $R3 == "\"
      RMDir "$INSTDIR\$R0\$R2"
    ${Else}
      Delete "$INSTDIR\$R0\$R2"
      ${If} ${FileExists} "$INSTDIR\$R0\$R2"
        StrCpy $R9 1
      ${EndIf}
    ${EndIf}
  ${Loop}
  FileClose $R1
  ${If} $R9 = 0
    Delete "$INSTDIR\$R0\files.txt"
    RMDir "$INSTDIR\$R0"
  ${EndIf}
FunctionEnd

Function ${un}TrimLine
  ${Do}
    StrCpy $R3 $R2 1 -1
    ${If} $R3 != "$\n"
    ${AndIf} $R3 != "$\r"
      ${ExitDo}
    ${EndIf}
    StrCpy $R2 $R2 -1
  ${Loop}
FunctionEnd

; Removes every version but those named in $R8 and $R6.
Function ${un}RemoveVersions
  FindFirst $R7 $R0 "$INSTDIR\${VERSIONS}*"
  ${DoWhile} $R0 != ""
    ${If} $R0 != $R8
    ${AndIf} $R0 != $R6
      Call ${un}RemoveVersion
    ${EndIf}
    FindNext $R7 $R0
  ${Loop}
  FindClose $R7
FunctionEnd
!macroend
!insertmacro RemoveVersion ""
!insertmacro RemoveVersion "un."

; Reads into $R4 which version the file $R0 names, if that is there.
Function ReadPointer
  StrCpy $R4 ""
  ClearErrors
  FileOpen $0 "$INSTDIR\$R0" r
  ${IfNot} ${Errors}
    FileRead $0 $R4
    FileClose $0
  ${EndIf}
  ${IfNot} ${FileExists} "$INSTDIR\$R4\${FINISHED}"
    StrCpy $R4 "" ; damaged, as after a power cut
  ${EndIf}
FunctionEnd

; Chooses in $Kept the version that stays: the one that runs; when that is only repaired, the one
; that was kept for it.
Function ChooseKept
  StrCpy $Kept $Old
  ${If} $Old == "${STEM}"
  ${OrIf} $Old == "${STEM}-b"
  ${OrIf} $Old == ""
    StrCpy $R0 "${BEFORE}"
    Call ReadPointer
    StrCpy $Kept $R4
    ${If} $Kept == "${STEM}"
    ${OrIf} $Kept == "${STEM}-b"
      StrCpy $Kept ""
    ${EndIf}
  ${EndIf}
FunctionEnd

; Lets the disk have what Windows still holds in memory: a power cut may come right after.
; $R1: a file that is open for writing.
!macro Flush
  System::Call 'kernel32::FlushFileBuffers(p R1) i .R3'
  ${If} $R3 = 0
    StrCpy $Refusal "$(DAMAGED)"
  ${EndIf}
!macroend

Function FlushVersion
  FileOpen $R0 "$INSTDIR\$New\files.txt" r
  ${Do}
    ClearErrors
    FileReadUTF16LE $R0 $R2
    ${If} ${Errors}
      ${ExitDo}
    ${EndIf}
    Call TrimLine
    StrCpy $R3 $R2 1 -1
    ${If} $R3 != "\"
    ${AndIf} $R2 != ""
      FileOpen $R1 "$INSTDIR\$New\$R2" a
      ${If} ${Errors}
        StrCpy $Refusal "$(DAMAGED)"
      ${Else}
        !insertmacro Flush
        FileClose $R1
      ${EndIf}
    ${EndIf}
  ${Loop}
  FileClose $R0
FunctionEnd

; Puts the file $R0.new into the place of $R0, by one rename. A scanner may look at it for a moment.
Function Exchange
  ClearErrors
  FileOpen $R1 "$R0.new" a
  ${If} ${Errors}
    StrCpy $Refusal "$(DAMAGED)"
    Return
  ${EndIf}
  !insertmacro Flush
  FileClose $R1
  StrCpy $R2 0
  ${Do}
    ; MOVEFILE_REPLACE_EXISTING, MOVEFILE_WRITE_THROUGH
    System::Call 'kernel32::MoveFileExW(w "$R0.new", w "$R0", i 9) i .R1'
    ${If} $R1 <> 0
      Return
    ${EndIf}
    Sleep 100
    IntOp $R2 $R2 + 1
  ${LoopUntil} $R2 > 20
  StrCpy $Refusal "$(RUNS)"
FunctionEnd

; Writes the file $R0 with the text $R4, whole or not at all.
Function WriteWhole
  ${If} $Refusal == ""
    ClearErrors
    FileOpen $R1 "$R0.new" w
    FileWrite $R1 "$R4"
    ${If} ${Errors}
      StrCpy $Refusal "$(DAMAGED)"
    ${EndIf}
    FileClose $R1
  ${EndIf}
  ${If} $Refusal == ""
    Call Exchange
  ${EndIf}
FunctionEnd

; Copies a starter out of the new version; its name is in $R5.
Function TakeStarter
  ${If} $Refusal == ""
    ClearErrors
    CopyFiles /SILENT "$INSTDIR\$New\$R5" "$INSTDIR\$R5.new"
    StrCpy $R0 "$INSTDIR\$R5"
    ${If} ${Errors}
      StrCpy $Refusal "$(DAMAGED)"
    ${Else}
      Call Exchange
    ${EndIf}
  ${EndIf}
FunctionEnd

; Ends a set-up that came to nothing: what it wrote goes, what was there before stays.
Function Undo
  SetOutPath "$TEMP" ; Windows removes no folder in which a program works
  Delete "$INSTDIR\*.exe.new"
  Delete "$INSTDIR\${POINTER}.new"
  Delete "$INSTDIR\${BEFORE}.new"
  StrCpy $R0 $New
  Call RemoveVersion
  ${IfNot} ${FileExists} "$INSTDIR\${VERSIONS}*" ; else they start what was there before
    Delete "$INSTDIR\${COMMAND}"
    Delete "$INSTDIR\${EXE}"
    Delete "$INSTDIR\${POINTER}"
    Delete "$INSTDIR\${BEFORE}"
  ${EndIf}
  RMDir "$INSTDIR"
FunctionEnd

Function .onInstFailed ; NSIS itself gave up, as it does on a full disk
  ${If} $New != ""
    Call Undo
  ${EndIf}
  SetErrorLevel 2
FunctionEnd

Section
  Call IsSynced
  ${If} $0 = 1
    StrCpy $0 "$(SYNCED)"
    Call Refuse
  ${EndIf}
  ${If} $Staged != 1
    Call RefuseRunning
  ${EndIf}
  StrCpy $R0 "${POINTER}"
  Call ReadPointer
  StrCpy $Old $R4
  ${If} $Staged = 1
  ${AndIf} $Old == ""
    SetErrorLevel 4 ; without `current.txt` the starters would run what is written here
    Quit
  ${EndIf}
  StrCpy $New "${STEM}"
  ; The same version again is written beside itself; so it is where `current.txt` is lost, for then
  ; the starters run what is finished, and where it is the one that is kept.
  ${If} $Old == ""
  ${AndIf} ${FileExists} "$INSTDIR\${STEM}\${FINISHED}"
    StrCpy $Old "${STEM}"
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\${STEM}\${FINISHED}"
  ${AndIf} $Old != "${STEM}-b"
    StrCpy $New "${STEM}-b"
  ${EndIf}
  Call ChooseKept
  StrCpy $R0 $New
  Call RemoveVersion ; what a set-up that was cut off left

  SetOutPath "$INSTDIR\$New"
  ClearErrors
  SetOverwrite try
  File "/oname=files.txt" "${LISTED}" ; first: by it the next set-up removes half a version
  File /r "${PAYLOAD}\*"
  ${If} ${Errors}
    StrCpy $Refusal "$(DAMAGED)"
  ${Else}
    Call FlushVersion
  ${EndIf}
  ${If} $Refusal == ""
    SetOutPath "$INSTDIR"
    nsExec::Exec /TIMEOUT=300000 '"$INSTDIR\$New\${COMMAND}" --version'
    Pop $0
    ${If} $0 != "0"
      StrCpy $Refusal "$(UNTRIED)"
    ${EndIf}
  ${EndIf}
  StrCpy $R4 "$New"
  StrCpy $R0 "$INSTDIR\$New\${FINISHED}"
  Call WriteWhole
  ${If} $Staged = 1
    ; Where `current.txt` is lost, what was finished last runs: that stays the one in use.
    StrCpy $R4 "$Old"
    StrCpy $R0 "$INSTDIR\$Old\${FINISHED}"
    Call WriteWhole
  ${Else}
    StrCpy $R5 "${COMMAND}"
    Call TakeStarter
    StrCpy $R5 "${EXE}"
    Call TakeStarter
    ${If} $Kept != ""
      StrCpy $R4 "$Kept"
      StrCpy $R0 "$INSTDIR\${BEFORE}"
      Call WriteWhole
    ${EndIf}
    StrCpy $R4 "$New"
    StrCpy $R0 "$INSTDIR\${POINTER}"
    Call WriteWhole
  ${EndIf}
  ${If} $Refusal != ""
    Call Undo
    MessageBox MB_ICONSTOP "$Refusal" /SD IDOK
    SetErrorLevel 2
    ${If} $Refusal == "$(RUNS)"
    ${AndIf} $Staged != 1 ; beside the one in use, an open window is in nobody's way
      SetErrorLevel 3
    ${EndIf}
    Quit
  ${EndIf}

  ${If} $Staged = 1
    Return
  ${EndIf}

  ; The new version runs. The rest is done anew by whoever runs the set-up again.
  WriteUninstaller "$INSTDIR\Uninstall.exe.new"
  StrCpy $R0 "$INSTDIR\Uninstall.exe"
  Call Exchange
  CreateShortCut "$SMPROGRAMS\${APP}.lnk" "$INSTDIR\${EXE}"
  SetOutPath "$PROFILE"
  CreateShortCut "$SMPROGRAMS\$(TERMINAL).lnk" "$SYSDIR\cmd.exe" \
    '/k set "PATH=$INSTDIR;%PATH%"' "$INSTDIR\${COMMAND}"
  SetOutPath "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "InstallDir" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "${APP}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\${EXE}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "Weir Studio contributors"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  StrCpy $R8 $New
  StrCpy $R6 $Kept
  Call RemoveVersions
  ${If} $Kept == ""
    Delete "$INSTDIR\${BEFORE}"
  ${EndIf}
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
SectionEnd

; --- Removal ---------------------------------------------------------------------------------

Function un.onInit
  Call un.Alone
  MessageBox MB_YESNO|MB_ICONQUESTION "$(KEPT)" /SD IDYES IDYES +2
    Abort
FunctionEnd

Section "Uninstall"
  Call un.RefuseRunning
  ; What the administrator let us open for other machines is closed again; Windows asks once more.
  ReadRegDWORD $0 HKCU "${KEY}" "Lan"
  ${If} $0 = 1
    nsExec::Exec '"$INSTDIR\${COMMAND}" wsl close --yes'
    Pop $0
  ${EndIf}
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\RunOnce" "WeirStudio"
  Delete "$SMPROGRAMS\${APP}.lnk"
  Delete "$SMPROGRAMS\$(TERMINAL).lnk"
  StrCpy $R8 ""
  StrCpy $R6 ""
  Call un.RemoveVersions
  Delete "$INSTDIR\${EXE}"
  Delete "$INSTDIR\${COMMAND}"
  Delete "$INSTDIR\${POINTER}"
  Delete "$INSTDIR\${BEFORE}"
  Delete "$INSTDIR\*.exe.new"
  Delete "$INSTDIR\${POINTER}.new"
  Delete "$INSTDIR\${BEFORE}.new"
  Delete "$INSTDIR\Uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "${KEY}"
SectionEnd
