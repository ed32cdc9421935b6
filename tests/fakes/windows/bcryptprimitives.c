/* For wine before 9, which has no bcryptprimitives.dll: the random bytes that Rust's library asks
 * for, and with it the one that checks signatures. Lies in a wine prefix, never in a package. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size) {
    while (size > 0) {
        ULONG part = size > 65536 ? 65536 : (ULONG)size;
        if (!RtlGenRandom(data, part)) return FALSE;
        data += part;
        size -= part;
    }
    return TRUE;
}
