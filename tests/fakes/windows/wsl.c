/* A stand-in for Windows' wsl.exe in a wine prefix: UTF-16 without a mark unless WSL_UTF8=1, German
 * words, exit status -1 for errors. What it knows lies in C:\wsl.txt: a line
 * `imported` when the Studio's Linux is registered, `error CODE` when `--status` fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static void say(const wchar_t *text) {
    DWORD done;
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    const char *utf8 = getenv("WSL_UTF8");
    if (utf8 && *utf8 == '1') {
        char raw[4096];
        int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, raw, sizeof raw, NULL, NULL);
        WriteFile(out, raw, (DWORD)size - 1, &done, NULL);
    } else
        WriteFile(out, text, (DWORD)(wcslen(text) * sizeof *text), &done, NULL);
}

static int knows(const char *word, char *rest, size_t room) {
    FILE *file = fopen("C:\\wsl.txt", "r"); /* helpers get no variable of a test's */
    char line[256];
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        if (!strncmp(line, word, strlen(word))) {
            found = 1;
            snprintf(rest, room, "%s", line + strlen(word));
        }
    }
    if (file) fclose(file);
    return found;
}

static int refuse(const char *code) {
    wchar_t text[512];
    swprintf(text, 512, L"Das hat nicht geklappt.\r\nFehlercode: Wsl/Service/%hs\r\n", code);
    say(text);
    return -1;
}

int wmain(int count, wchar_t **words) {
    char rest[256] = "";
    if (count > 1 && !wcscmp(words[1], L"--status")) {
        if (knows("error ", rest, sizeof rest)) return refuse(rest);
        say(L"Standardversion: 2\r\n");
        return 0;
    }
    if (count > 1 && !wcscmp(words[1], L"--version")) {
        say(L"WSL-Version: 2.6.1.0\r\nKernelversion: 6.6.87.2-1\r\n");
        return 0;
    }
    if (count > 2 && !wcscmp(words[1], L"--list")) {
        say(knows("imported", rest, sizeof rest) ? L"Ubuntu\r\nweir-studio\r\n" : L"Ubuntu\r\n");
        return 0;
    }
    if (count > 4 && knows("imported", rest, sizeof rest) && !wcscmp(words[4], L"wslinfo")) {
        DWORD done;
        WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), "mirrored\n", 9, &done, NULL);
        return 0;
    }
    return refuse("WSL_E_DISTRO_NOT_FOUND");
}
