/* Starts the Studio on Windows: finds the version to run, loads its Python and runs `weir_start`.
 * Built twice: as `weir.exe` for a terminal, and with -DWINDOW as `weir-studio.exe` for the Start
 * menu. What is missing is said by code, for there is no Python yet.
 *
 * A version lies whole in a folder of its own, `app-...`, and `current.txt` beside us names the one
 * to run: a set-up writes the new folder first and then exchanges that file, in one step, and so
 * does the way back to the version before (`studio/host/own_windows.py`). Where the
 * file is lost, the newest folder that a set-up has finished runs (it has a file `complete`). In a
 * version's own folder, where `_internal` lies beside us, that one runs. So a starter of any version
 * starts any other: they have to agree on these names and on `weir_start` only. */
#include <stdio.h>
#include <windows.h>

#define LONGEST 32768
#define NAME_LONGEST 64
#define POINTER L"current.txt"
#define VERSIONS L"app-"
#define FINISHED L"complete"
#ifdef WINDOW
#define FIRST_WORDS 7
#else
#define FIRST_WORDS 6
#endif

typedef int (*run_python)(int, wchar_t **);

static int refuse(const wchar_t *file) {
    static wchar_t text[LONGEST + 200];
    _snwprintf(text, LONGEST + 200,
               L"Weir Studio cannot start: %ls cannot be loaded (Windows error %lu).\n"
               L"Install Weir Studio again; models and engines stay.",
               file, GetLastError());
#ifdef WINDOW
    MessageBoxW(NULL, text, L"Weir Studio", MB_ICONERROR | MB_OK);
#else
    fwprintf(stderr, L"error: %ls\n", text);
#endif
    return 4;
}

static HMODULE load(const wchar_t *inside, const wchar_t *name) {
    static wchar_t path[LONGEST + 64];
    _snwprintf(path, LONGEST + 64, L"%ls%ls", inside, name);
    HMODULE found = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (found == NULL) exit(refuse(path));
    return found;
}

/* Puts the name of the Python in `<base>_internal\` there: `python3` and its minor version. */
static int find_python(const wchar_t *base, wchar_t *name) {
    static wchar_t pattern[LONGEST + 64];
    WIN32_FIND_DATAW found;
    _snwprintf(pattern, LONGEST + 64, L"%ls_internal\\python3*.dll", base);
    HANDLE all = FindFirstFileW(pattern, &found);
    if (all == INVALID_HANDLE_VALUE) return 0;
    int is_found = 0;
    do {
        const wchar_t *minor = found.cFileName + wcslen(L"python3");
        size_t digits = wcsspn(minor, L"0123456789");
        is_found = digits > 0 && digits < 4 && _wcsicmp(minor + digits, L".dll") == 0;
    } while (!is_found && FindNextFileW(all, &found));
    FindClose(all);
    if (is_found) wcscpy(name, found.cFileName);
    return is_found;
}

/* Puts the path of a version's folder into `base`, with the last backslash; 0: it has no Python. */
static int take(const wchar_t *folder, const wchar_t *version, wchar_t *base, wchar_t *python) {
    _snwprintf(base, LONGEST + 64, version[0] ? L"%ls%ls\\" : L"%ls%ls", folder, version);
    return find_python(base, python);
}

/* Reads the name in `current.txt`. Only letters, digits, dots and hyphens: it is one folder's. */
static int read_pointer(const wchar_t *folder, wchar_t *version) {
    static wchar_t path[LONGEST + 64];
    _snwprintf(path, LONGEST + 64, L"%ls" POINTER, folder);
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return 0;
    char raw[NAME_LONGEST] = "";
    DWORD length = 0;
    BOOL is_read = ReadFile(file, raw, NAME_LONGEST - 1, &length, NULL);
    CloseHandle(file);
    if (!is_read) return 0;
    size_t n = 0;
    for (; n < length; n++) {
        char one = raw[n];
        int is_name = (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') || one == '.' ||
                      one == '-';
        if (!is_name) break;
        version[n] = (wchar_t)one;
    }
    version[n] = 0;
    return wcsncmp(version, VERSIONS, wcslen(VERSIONS)) == 0;
}

/* Looks for the finished version that was written last. */
static int search(const wchar_t *folder, wchar_t *base, wchar_t *python) {
    static wchar_t pattern[LONGEST + 64], path[LONGEST + 2 * MAX_PATH];
    wchar_t best[MAX_PATH] = L"";
    FILETIME newest = {0, 0};
    WIN32_FIND_DATAW found;
    WIN32_FILE_ATTRIBUTE_DATA about;
    _snwprintf(pattern, LONGEST + 64, L"%ls" VERSIONS L"*", folder);
    HANDLE all = FindFirstFileW(pattern, &found);
    if (all == INVALID_HANDLE_VALUE) return 0;
    do {
        _snwprintf(path, LONGEST + 2 * MAX_PATH, L"%ls%ls\\" FINISHED, folder, found.cFileName);
        if (!GetFileAttributesExW(path, GetFileExInfoStandard, &about)) continue;
        if (best[0] && CompareFileTime(&about.ftLastWriteTime, &newest) <= 0) continue;
        newest = about.ftLastWriteTime;
        wcscpy(best, found.cFileName);
    } while (FindNextFileW(all, &found));
    FindClose(all);
    return best[0] && take(folder, best, base, python);
}

static int find_version(const wchar_t *folder, wchar_t *base, wchar_t *python) {
    wchar_t version[NAME_LONGEST];
    return (read_pointer(folder, version) && take(folder, version, base, python)) ||
           take(folder, L"", base, python) || search(folder, base, python);
}

static int start(int count, wchar_t **words) {
    static wchar_t program[LONGEST], folder[LONGEST], base[LONGEST + 64], inside[LONGEST + 80];
    wchar_t python[MAX_PATH];
    DWORD length = GetModuleFileNameW(NULL, program, LONGEST);
    if (length == 0 || length >= LONGEST) return refuse(L"the program's own path");
    wcscpy(folder, program);
    wcsrchr(folder, L'\\')[1] = 0;
    if (!find_version(folder, base, python)) return refuse(L"a version of it");
    _snwprintf(inside, LONGEST + 80, L"%ls_internal\\", base);
    /* Of no folder that somebody can put a library into, other than ours and Windows' own. */
    SetDllDirectoryW(L"");
    load(inside, L"vcruntime140.dll");
    load(inside, L"vcruntime140_1.dll");
    HMODULE library = load(inside, python);
    load(inside, L"python3.dll");
    run_python run = (run_python)(void *)GetProcAddress(library, "Py_Main");
    if (run == NULL) return refuse(L"Py_Main");
    wchar_t **all = calloc((size_t)count + FIRST_WORDS, sizeof *all);
    if (all == NULL) return refuse(L"memory");
    int n = 0;
    all[n++] = program;
    all[n++] = L"-B";
    all[n++] = L"-X";
    all[n++] = L"utf8";
    all[n++] = L"-m";
    all[n++] = L"weir_start";
#ifdef WINDOW
    all[n++] = L"ui";
#endif
    for (int i = 1; i < count; i++) all[n++] = words[i];
    return run(n, all);
}

#ifdef WINDOW
int WINAPI wWinMain(HINSTANCE self, HINSTANCE before, LPWSTR line, int show) {
    (void)self, (void)before, (void)line, (void)show;
    int count;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    return words == NULL ? refuse(L"the command line") : start(count, words);
}
#else
int wmain(int count, wchar_t **words) { return start(count, words); }
#endif
