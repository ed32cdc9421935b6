/* A stand-in for NVIDIA's management library at the C ABI, so that the real pynvml runs in tests.
 *
 *   gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 stub.c
 *
 * It answers from the text file named by FAKE_NVML, which is read again when it has changed: lines of
 * a key, a space and a value (tests/fakes/nvml_stub.py writes them from JSON).
 *
 *   driver 580.95.05            count 2            cuda 13000
 *   error.FUNCTION 15           this function fails with that code, for every card
 *   hang.FUNCTION 1             this function does not return while the line stands
 *   0.name NVIDIA H200          0.error.FUNCTION 3  fails for card 0 only
 *   0.process.0 4242 1048576 0  pid, bytes (-1: not told), 1 when it draws
 *   0.nvlink.0 00000000:0B:00.0 an active link and what is at its far end
 *   link.0.1.ancestor 10        link.0.1.peer.0 0
 *   0.used 100;200;300          the first question gets 100, the next 200, all later ones 300
 *   0.error.* 15                every function fails for card 0; error.* for every card
 *   0.unplugged 1               lost until the library is opened anew, then no longer listed
 *   pcie_ms 20                  how long a look at a link takes
 *
 * A value that is left out is answered with NOT_SUPPORTED.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef struct handle *device; /* the card's number plus one; slices of MIG from 1000 on */

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
       INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9 };
#ifdef _WIN32 /* as nvml.dll in a wine prefix; such a file does not change within a second */
#define SAME_TIME(one, other) ((one).st_mtime == (other).st_mtime)
#else
#define SAME_TIME(one, other) \
    ((one).st_mtim.tv_sec == (other).st_mtim.tv_sec \
     && (one).st_mtim.tv_nsec == (other).st_mtim.tv_nsec)
#endif
enum { TEXT = 1024, CARDS = 64, LOST = 15 };

static int users;

/* The scenario: a table by hash of the key, read anew when the file is another one. */

enum { SLOTS = 8192 };
struct entry { char *key, *value; u32 asked; };
static struct entry table[SLOTS];
static struct stat read_as;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry *slot_of(const char *key)
{
    u32 hash = 2166136261u;
    for (const char *at = key; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (u32 place = hash % SLOTS;; place = (place + 1) % SLOTS)
        if (!table[place].key || !strcmp(table[place].key, key))
            return &table[place];
}

static void forget(void)
{
    for (int place = 0; place < SLOTS; place++) {
        free(table[place].key);
        free(table[place].value);
        table[place] = (struct entry){NULL, NULL, 0};
    }
}

static void refresh(void)
{
    const char *path = getenv("FAKE_NVML");
    struct stat now;
    FILE *file;
    char line[TEXT];
    if (!path || stat(path, &now)) {
        forget();
        memset(&read_as, 0, sizeof read_as);
        return;
    }
    if (now.st_ino == read_as.st_ino && now.st_size == read_as.st_size && SAME_TIME(now, read_as))
        return;
    forget();
    read_as = now;
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *space = strchr(line, ' ');
        struct entry *slot;
        if (!space)
            continue;
        *space = 0;
        space[1 + strcspn(space + 1, "\n")] = 0;
        slot = slot_of(line);
        if (!slot->key) {
            slot->key = strdup(line);
            slot->value = strdup(space + 1);
        }
    }
    if (file)
        fclose(file);
}

/* Of values that are parted by semicolons each is told once, and the last one for ever. */
static int lookup(const char *wanted, char *value)
{
    struct entry *slot;
    int is_there;
    pthread_mutex_lock(&lock);
    slot = slot_of(wanted);
    is_there = slot->key != NULL;
    if (is_there) {
        const char *at = slot->value;
        for (u32 skip = slot->asked++; skip && strchr(at, ';'); skip--)
            at = strchr(at, ';') + 1;
        snprintf(value, TEXT, "%.*s", (int)strcspn(at, ";"), at);
    }
    pthread_mutex_unlock(&lock);
    return is_there;
}

static int number(const char *wanted, long long *value)
{
    char text[TEXT];
    if (!lookup(wanted, text))
        return 0;
    *value = strtoll(text, NULL, 0);
    return 1;
}

static int place(device card) { return (int)(size_t)card - 1; }

/* Which cards the library saw when it was opened, by their number in the scenario. */
static int listed[CARDS], cards_listed;

static void list_cards(void)
{
    long long count = 0, gone;
    number("count", &count);
    cards_listed = 0;
    for (int card = 0; card < count && card < CARDS; card++) {
        char key[TEXT];
        snprintf(key, sizeof key, "%d.unplugged", card);
        if (!number(key, &gone) || !gone)
            listed[cards_listed++] = card;
    }
}

static int is_failing(const char *prefix, const char *function, long long *code)
{
    char key[TEXT];
    snprintf(key, sizeof key, "%serror.%s", prefix, function);
    if (number(key, code))
        return 1;
    snprintf(key, sizeof key, "%serror.*", prefix);
    return number(key, code);
}

/* Whether `function` is asked to fail or to hang, for everybody or for this card. */
static int trouble(const char *function, device card)
{
    char key[TEXT], prefix[TEXT];
    long long code;
    for (;; usleep(20000)) {
        pthread_mutex_lock(&lock);
        refresh();
        pthread_mutex_unlock(&lock);
        snprintf(key, sizeof key, "hang.%s", function);
        if (!number(key, &code))
            break;
    }
    if (is_failing("", function, &code))
        return (int)code;
    if (!card)
        return OK;
    snprintf(key, sizeof key, "%d.unplugged", place(card));
    if (number(key, &code) && code)
        return LOST;
    snprintf(prefix, sizeof prefix, "%d.", place(card));
    return is_failing(prefix, function, &code) ? (int)code : OK;
}

static int allowed(const char *function, device card)
{
    if (users == 0)
        return UNINITIALIZED;
    return trouble(function, card);
}

#define ASK(card)                              \
    do {                                       \
        int code_ = allowed(__func__, card);   \
        if (code_)                             \
            return code_;                      \
    } while (0)

static int number_of(device card, const char *name, long long *value)
{
    char key[TEXT];
    snprintf(key, sizeof key, "%d.%s", place(card), name);
    return number(key, value) ? OK : NOT_SUPPORTED;
}

static int text_of(device card, const char *name, char *out, u32 size)
{
    char key[TEXT], value[TEXT];
    snprintf(key, sizeof key, "%d.%s", place(card), name);
    if (!lookup(key, value))
        return NOT_SUPPORTED;
    if (strlen(value) >= size)
        return INSUFFICIENT_SIZE;
    memcpy(out, value, strlen(value) + 1);
    return OK;
}

static int global_text(const char *name, char *out, u32 size)
{
    char value[TEXT];
    if (!lookup(name, value))
        return NOT_SUPPORTED;
    snprintf(out, size, "%s", value);
    return OK;
}

#define U32(function, name)                        \
    int function(device card, u32 *out)            \
    {                                              \
        long long value;                           \
        ASK(card);                                 \
        if (number_of(card, name, &value))         \
            return NOT_SUPPORTED;                  \
        *out = (u32)value;                         \
        return OK;                                 \
    }

/* Life */

int nvmlInitWithFlags(u32 flags)
{
    int code;
    (void)flags;
    if (!getenv("FAKE_NVML"))
        return DRIVER_NOT_LOADED;
    code = trouble(__func__, NULL);
    if (code)
        return code;
    if (__atomic_fetch_add(&users, 1, __ATOMIC_SEQ_CST) == 0)
        list_cards();
    return OK;
}

int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

int nvmlShutdown(void)
{
    if (users == 0)
        return UNINITIALIZED;
    __atomic_fetch_sub(&users, 1, __ATOMIC_SEQ_CST);
    return OK;
}

const char *nvmlErrorString(int code)
{
    switch (code) {
    case OK: return "Success";
    case NOT_SUPPORTED: return "Not Supported";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
    }
}

/* The machine */

int nvmlSystemGetDriverVersion(char *out, u32 size)
{
    ASK(NULL);
    return global_text("driver", out, size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
    long long value;
    ASK(NULL);
    if (!number("cuda", &value))
        return NOT_SUPPORTED;
    *out = (int)value;
    return OK;
}

int nvmlDeviceGetCount_v2(u32 *out)
{
    ASK(NULL);
    *out = (u32)cards_listed;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(u32 index, device *out)
{
    if (index >= (u32)cards_listed)
        return INVALID_ARGUMENT;
    ASK((device)(size_t)(listed[index] + 1));
    *out = (device)(size_t)(listed[index] + 1);
    return OK;
}

/* One card */

int nvmlDeviceGetName(device card, char *out, u32 size)
{
    ASK(card);
    return text_of(card, "name", out, size);
}

int nvmlDeviceGetUUID(device card, char *out, u32 size)
{
    ASK(card);
    return text_of(card, "uuid", out, size);
}

int nvmlDeviceGetCudaComputeCapability(device card, int *major, int *minor)
{
    char text[TEXT];
    ASK(card);
    if (text_of(card, "capability", text, sizeof text))
        return NOT_SUPPORTED;
    return sscanf(text, "%d.%d", major, minor) == 2 ? OK : NOT_SUPPORTED;
}

struct memory { u64 total, free, used; };
struct memory_v2 { u32 version; u64 total, reserved, free, used; };

int nvmlDeviceGetMemoryInfo(device card, struct memory *out)
{
    long long total, used = 0, reserved = 0;
    ASK(card);
    if (number_of(card, "total", &total))
        return NOT_SUPPORTED;
    number_of(card, "used", &used);
    number_of(card, "reserved", &reserved);
    out->total = (u64)total;
    out->used = (u64)(used + reserved); /* the first version counts it as used */
    out->free = (u64)(total - used - reserved);
    return OK;
}

int nvmlDeviceGetMemoryInfo_v2(device card, struct memory_v2 *out)
{
    long long total, used = 0, reserved = 0;
    ASK(card);
    if (number_of(card, "total", &total))
        return NOT_SUPPORTED;
    number_of(card, "used", &used);
    number_of(card, "reserved", &reserved);
    out->total = (u64)total;
    out->reserved = (u64)reserved;
    out->used = (u64)used;
    out->free = (u64)(total - used - reserved);
    return OK;
}

struct process { u32 pid; u64 bytes; u32 instance, compute; };

static int processes(const char *function, device card, u32 draws, u32 *count, struct process *out)
{
    u32 room = *count, found = 0;
    int code = allowed(function, card);
    if (code)
        return code;
    for (int entry = 0;; entry++) {
        char key[TEXT], text[TEXT];
        u32 pid, kind;
        long long bytes;
        snprintf(key, sizeof key, "%d.process.%d", place(card), entry);
        if (!lookup(key, text) || sscanf(text, "%u %lld %u", &pid, &bytes, &kind) != 3)
            break;
        if (kind != draws)
            continue;
        if (out && found < room)
            out[found] = (struct process){pid, (u64)bytes, ~0u, ~0u};
        found++;
    }
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(device card, u32 *count, struct process *out)
{
    return processes(__func__, card, 0, count, out);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(device card, u32 *count, struct process *out)
{
    return processes(__func__, card, 1, count, out);
}

struct pci { char legacy[16]; u32 domain, bus, device_number, id, sub_id; char address[32]; };

int nvmlDeviceGetPciInfo_v3(device card, struct pci *out)
{
    ASK(card);
    memset(out, 0, sizeof *out);
    return text_of(card, "bus", out->address, sizeof out->address);
}

U32(nvmlDeviceGetCurrPcieLinkGeneration, "generation")
U32(nvmlDeviceGetMaxPcieLinkGeneration, "generation_max")
U32(nvmlDeviceGetCurrPcieLinkWidth, "width")
U32(nvmlDeviceGetMaxPcieLinkWidth, "width_max")
U32(nvmlDeviceGetEnforcedPowerLimit, "power_mw")
U32(nvmlDeviceGetPowerUsage, "drawn_mw")
U32(nvmlDeviceGetPowerManagementLimit, "power_mw")
U32(nvmlDeviceGetFanSpeed, "fan")
U32(nvmlDeviceGetPersistenceMode, "persistence")
U32(nvmlDeviceGetPerformanceState, "state")
U32(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_mw")
U32(nvmlDeviceGetMemoryBusWidth, "memory_bits")
U32(nvmlDeviceGetDisplayMode, "display_attached")
U32(nvmlDeviceGetDisplayActive, "display_active")
U32(nvmlDeviceGetComputeMode, "compute_mode")
U32(nvmlDeviceGetMaxMigDeviceCount, "mig_most")

int nvmlDeviceGetPowerManagementLimitConstraints(device card, u32 *least, u32 *most)
{
    long long value;
    ASK(card);
    if (number_of(card, "power_max_mw", &value))
        return NOT_SUPPORTED;
    *least = 0;
    *most = (u32)value;
    return OK;
}

int nvmlDeviceGetTemperature(device card, int sensor, u32 *out)
{
    long long value;
    (void)sensor;
    ASK(card);
    if (number_of(card, "temperature", &value))
        return NOT_SUPPORTED;
    *out = (u32)value;
    return OK;
}

int nvmlDeviceGetTemperatureThreshold(device card, int kind, u32 *out)
{
    long long value;
    (void)kind;
    ASK(card);
    if (number_of(card, "slowdown", &value))
        return NOT_SUPPORTED;
    *out = (u32)value;
    return OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(device card, u64 *out)
{
    long long value;
    ASK(card);
    if (number_of(card, "reasons", &value))
        return NOT_SUPPORTED;
    *out = (u64)value;
    return OK;
}

static int clock_of(device card, int kind, const char *more, u32 *out)
{
    char name[TEXT];
    long long value;
    snprintf(name, sizeof name, "%s_clock%s", kind == 2 ? "memory" : "sm", more);
    if ((kind != 1 && kind != 2) || number_of(card, name, &value))
        return NOT_SUPPORTED;
    *out = (u32)value;
    return OK;
}

int nvmlDeviceGetClockInfo(device card, int kind, u32 *out)
{
    ASK(card);
    return clock_of(card, kind, "", out);
}

int nvmlDeviceGetMaxClockInfo(device card, int kind, u32 *out)
{
    ASK(card);
    return clock_of(card, kind, "_max", out);
}

static int coder(const char *function, device card, const char *name, u32 *out, u32 *period)
{
    long long value;
    int code = allowed(function, card);
    if (code)
        return code;
    if (number_of(card, name, &value))
        return NOT_SUPPORTED;
    *out = (u32)value;
    *period = 100000;
    return OK;
}

int nvmlDeviceGetEncoderUtilization(device card, u32 *out, u32 *period)
{
    return coder(__func__, card, "encoder_util", out, period);
}

int nvmlDeviceGetDecoderUtilization(device card, u32 *out, u32 *period)
{
    return coder(__func__, card, "decoder_util", out, period);
}

int nvmlDeviceGetProcessUtilization(device card, void *out, u32 *count, u64 since)
{
    (void)out;
    (void)since;
    ASK(card);
    *count = 0;
    return NOT_FOUND; /* nobody was seen computing since then */
}

struct rates { u32 gpu, memory; };

int nvmlDeviceGetUtilizationRates(device card, struct rates *out)
{
    long long gpu, memory;
    ASK(card);
    if (number_of(card, "gpu_util", &gpu) || number_of(card, "memory_util", &memory))
        return NOT_SUPPORTED;
    *out = (struct rates){(u32)gpu, (u32)memory};
    return OK;
}

int nvmlDeviceGetPcieThroughput(device card, int direction, u32 *out)
{
    long long value, pause_ms;
    ASK(card);
    if (number_of(card, direction ? "pcie_rx" : "pcie_tx", &value))
        return NOT_SUPPORTED;
    if (number("pcie_ms", &pause_ms))
        usleep((u32)pause_ms * 1000);
    *out = (u32)value;
    return OK;
}

int nvmlDeviceGetTotalEccErrors(device card, int kind, int counter, u64 *out)
{
    long long value;
    ASK(card);
    if (kind != 1 || counter != 0 || number_of(card, "ecc_uncorrected", &value))
        return NOT_SUPPORTED;
    *out = (u64)value;
    return OK;
}

static int pair(device card, const char *name, u32 *now, u32 *later)
{
    long long value;
    if (number_of(card, name, &value))
        return NOT_SUPPORTED;
    *now = *later = (u32)value;
    return OK;
}

int nvmlDeviceGetEccMode(device card, u32 *now, u32 *later)
{
    ASK(card);
    return pair(card, "ecc", now, later);
}

int nvmlDeviceGetMigMode(device card, u32 *now, u32 *later)
{
    ASK(card);
    return pair(card, "mig", now, later);
}

int nvmlDeviceGetDriverModel_v2(device card, u32 *now, u32 *later)
{
    ASK(card);
    return pair(card, "model", now, later);
}

int nvmlDeviceGetMigDeviceHandleByIndex(device card, u32 index, device *out)
{
    long long slices = 0;
    ASK(card);
    number_of(card, "mig_slices", &slices);
    if (index >= slices)
        return NOT_FOUND;
    *out = (device)(size_t)(1000 + index + 1);
    return OK;
}

/* Between cards */

static int between(device first, device second, const char *name, int *out)
{
    char key[TEXT];
    long long value;
    snprintf(key, sizeof key, "link.%d.%d.%s", place(first), place(second), name);
    if (!number(key, &value))
        return NOT_SUPPORTED;
    *out = (int)value;
    return OK;
}

int nvmlDeviceGetTopologyCommonAncestor(device first, device second, int *out)
{
    ASK(first);
    return between(first, second, "ancestor", out);
}

int nvmlDeviceGetP2PStatus(device first, device second, int kind, int *out)
{
    char name[TEXT];
    ASK(first);
    snprintf(name, sizeof name, "peer.%d", kind);
    return between(first, second, name, out);
}

int nvmlDeviceGetNvLinkState(device card, u32 link, u32 *out)
{
    char name[TEXT], text[TEXT];
    ASK(card);
    snprintf(name, sizeof name, "nvlink.%u", link);
    if (text_of(card, name, text, sizeof text))
        return NOT_SUPPORTED;
    *out = strcmp(text, "off") != 0;
    return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(device card, u32 link, struct pci *out)
{
    char name[TEXT];
    ASK(card);
    memset(out, 0, sizeof *out);
    snprintf(name, sizeof name, "nvlink.%u", link);
    return text_of(card, name, out->address, sizeof out->address);
}
