/* A stand-in for Windows' pdh.dll: counters and values from the text file that FAKE_PDH names, a line
 * each: path, instance, value, separated by `|`. A path without a line is not known to Windows.
 *
 *   gcc -shared -fPIC -o libpdh.so pdh.c          x86_64-w64-mingw32-gcc -shared -o pdh.dll pdh.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define NO_COUNTER 0xC0000BB9u
#define MORE_DATA 0x800007D2u
#define NO_DATA 0x800007D5u
enum { COUNTERS = 16, PATH = 128, LINE = 512 };

struct item {
    uint16_t *name;
    uint32_t status;
    uint32_t unused;
    int64_t value;
};

static char known[COUNTERS][PATH];
static int used, is_collected;

/* The n-th line of a counter: 1 when there is one. */
static int line_of(const char *path, int n, char *instance, long long *value) {
    const char *place = getenv("FAKE_PDH");
    FILE *file = place ? fopen(place, "r") : NULL;
    char line[LINE];
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *first = strchr(line, '|'), *second = first ? strchr(first + 1, '|') : NULL;
        if (!second)
            continue;
        *first = *second = 0;
        if (strcmp(line, path) || n--)
            continue;
        strcpy(instance, first + 1);
        *value = strtoll(second + 1, NULL, 10);
        found = 1;
    }
    if (file)
        fclose(file);
    return found;
}

EXPORT uint32_t PdhOpenQueryW(const void *source, uintptr_t user, void **query) {
    (void)source, (void)user;
    *query = &known;
    used = is_collected = 0;
    return 0;
}

EXPORT uint32_t PdhAddEnglishCounterW(void *query, const uint16_t *path, uintptr_t user, void **counter) {
    char name[PATH] = "", instance[LINE];
    long long value;
    (void)query, (void)user;
    for (int i = 0; i < PATH - 1 && path[i]; i++)
        name[i] = (char)path[i];
    if (!line_of(name, 0, instance, &value) || used == COUNTERS)
        return NO_COUNTER;
    *counter = strcpy(known[used++], name);
    return 0;
}

EXPORT uint32_t PdhCollectQueryData(void *query) {
    (void)query;
    is_collected = 1;
    return 0;
}

EXPORT uint32_t PdhGetFormattedCounterArrayW(void *counter, uint32_t format, uint32_t *bytes, uint32_t *items, void *room) {
    char instance[LINE];
    long long value;
    uint32_t count = 0, text = 0, needed;
    if (format != 0x400 || !is_collected)
        return NO_DATA;
    for (; line_of(counter, (int)count, instance, &value); count++)
        text += 2 * (uint32_t)(strlen(instance) + 1);
    needed = count * (uint32_t)sizeof(struct item) + text;
    if (!room || *bytes < needed) {
        *bytes = needed;
        return MORE_DATA;
    }
    struct item *item = room;
    uint16_t *names = (uint16_t *)(item + count);
    for (uint32_t n = 0; n < count; n++, item++) {
        line_of(counter, (int)n, instance, &value);
        item->name = names;
        item->status = value < 0 ? NO_DATA : 0; /* a negative value plays one that is not valid */
        item->value = value;
        for (char *c = instance;; c++) {
            *names++ = (uint16_t)*c;
            if (!*c)
                break;
        }
    }
    *items = count;
    return 0;
}

EXPORT uint32_t PdhCloseQuery(void *query) {
    (void)query;
    used = is_collected = 0;
    return 0;
}
