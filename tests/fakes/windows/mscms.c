/* For wine before 10, whose mscms.dll lacks what Qt asks of it: there are no colour profiles.
 * Lies in a wine prefix, never in a package. */
#include <windows.h>
#define EXPORT __declspec(dllexport)
EXPORT void *WINAPI WcsOpenColorProfileW(void *a, void *b, void *c, DWORD d, DWORD e, DWORD f, DWORD g) { return (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, NULL; }
EXPORT void *WINAPI WcsCreateIccProfile(void *a, DWORD b) { return (void)a, (void)b, NULL; }
EXPORT void *WINAPI OpenColorProfileW(void *a, DWORD b, DWORD c, DWORD d) { return (void)a, (void)b, (void)c, (void)d, NULL; }
EXPORT BOOL WINAPI CloseColorProfile(void *a) { return (void)a, FALSE; }
EXPORT BOOL WINAPI GetColorProfileFromHandle(void *a, void *b, void *c) { return (void)a, (void)b, (void)c, FALSE; }
EXPORT BOOL WINAPI GetStandardColorSpaceProfileW(void *a, DWORD b, void *c, void *d) { return (void)a, (void)b, (void)c, (void)d, FALSE; }
EXPORT BOOL WINAPI GetColorDirectoryW(void *a, void *b, void *c) { return (void)a, (void)b, (void)c, FALSE; }
