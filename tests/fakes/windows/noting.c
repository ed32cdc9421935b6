/* A program of Windows that only notes how it was called: a line in C:\elevated.txt, in UTF-8. Ends
 * with STATUS, which is compiled in. */
#include <stdio.h>
#include <windows.h>

#ifndef STATUS
#define STATUS 0
#endif

int wmain(void) {
    char line[8192];
    FILE *file = fopen("C:\\elevated.txt", "a");
    WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, line, sizeof line, NULL, NULL);
    if (file) {
        fprintf(file, "%s\n", line);
        fclose(file);
    }
    return STATUS;
}
