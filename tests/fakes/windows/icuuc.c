/* For wine before 10, which has no icuuc.dll: every converter that Qt asks for is "not supported"
 * (ICU's error 16), so that Qt uses its own. Lies in a wine prefix, never in a package. */
#define EXPORT __declspec(dllexport)
typedef signed char bool8;
static void refuse(int *error) {
    if (error) *error = 16;
}
EXPORT void *ucnv_open(const char *name, int *error) { return (void)name, refuse(error), (void *)0; }
EXPORT void ucnv_close(void *one) { (void)one; }
EXPORT void ucnv_reset(void *one) { (void)one; }
EXPORT bool8 ucnv_getMaxCharSize(const void *one) { return (void)one, 1; }
EXPORT const char *ucnv_getName(const void *one, int *error) { return (void)one, refuse(error), (char *)0; }
EXPORT const char *ucnv_getStandardName(const char *a, const char *b, int *error) { return (void)a, (void)b, refuse(error), (char *)0; }
EXPORT const char *ucnv_getAvailableName(int n) { return (void)n, (char *)0; }
EXPORT int ucnv_countAvailable(void) { return 0; }
EXPORT int ucnv_fromUCountPending(const void *one, int *error) { return (void)one, refuse(error), 0; }
EXPORT int ucnv_toUCountPending(const void *one, int *error) { return (void)one, refuse(error), 0; }
EXPORT void ucnv_getToUCallBack(void) {}
EXPORT void ucnv_getFromUCallBack(void) {}
EXPORT void ucnv_setToUCallBack(void *a, void *b, void *c, void *d, void *e, int *error) { (void)a, (void)b, (void)c, (void)d, (void)e, refuse(error); }
EXPORT void ucnv_setFromUCallBack(void *a, void *b, void *c, void *d, void *e, int *error) { (void)a, (void)b, (void)c, (void)d, (void)e, refuse(error); }
EXPORT void ucnv_cbToUWriteUChars(void *a, void *b, int c, int d, int *error) { (void)a, (void)b, (void)c, (void)d, refuse(error); }
EXPORT void ucnv_cbFromUWriteUChars(void *a, void *b, void *c, int d, int *error) { (void)a, (void)b, (void)c, (void)d, refuse(error); }
EXPORT void ucnv_toUnicode(void *a, void *b, void *c, void *d, void *e, void *f, int g, int *error) { (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, refuse(error); }
EXPORT void ucnv_fromUnicode(void *a, void *b, void *c, void *d, void *e, void *f, int g, int *error) { (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, refuse(error); }
EXPORT void UCNV_FROM_U_CALLBACK_SUBSTITUTE(void) {}
EXPORT void UCNV_TO_U_CALLBACK_SUBSTITUTE(void) {}
