/* Plays the Python of a version that a trial of the setup program installs: it says which one it is.
 * Built with -DVERSION="...". */
#include <stdio.h>
#include <wchar.h>

__declspec(dllexport) int Py_Main(int count, wchar_t **words) {
    (void)count, (void)words;
    printf("weir %s\n", VERSION);
    return 0;
}
