/* Plays the Python of a version that a trial of the setup program installs: it says which one it is,
 * and that its window has painted. Built with -DVERSION="..."; with -DBLIND it paints none. */
#include <stdio.h>
#include <wchar.h>

__declspec(dllexport) int Py_Main(int count, wchar_t **words) {
    for (int i = 0; i < count; i++)
        if (!wcscmp(words[i], L"--smoke")) {
#ifdef BLIND
            return 1;
#else
            printf("{\"pages\": [\"serve\"]}\n");
            return 0;
#endif
        }
    printf("weir %s\n", VERSION);
    return 0;
}
