/* A stand-in for the file that mounts an AppImage of type 2, so that ours is tried as people start it.
 *
 *   cc -O2 -o runtime appimage_runtime.c ...    (installer/trial_appimage.py has the whole line)
 *
 * It is for trials and never published: the real one comes from whoever builds. As that one does, it
 * finds the image behind the end of its own ELF, mounts it by FUSE and becomes AppRun inside; the mount
 * ends when that program has ended. Known are --appimage-offset, --appimage-extract [FOLDER] and
 * --appimage-extract-and-run (or APPIMAGE_EXTRACT_AND_RUN=1). AppRun is told APPIMAGE, APPDIR, ARGV0
 * and OWD.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#undef _POSIX_C_SOURCE /* squashfuse defines its own */
#include <config.h>
#include <ll.h>
#include <squashfuse.h>

static char image[PATH_MAX];
static size_t offset;

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(127);
}

/* The image begins where the table of sections ends: nothing of the ELF lies behind it. */
static size_t end_of_elf(void) {
    Elf64_Ehdr head;
    FILE *file = fopen(image, "rb");
    if (!file || fread(&head, sizeof head, 1, file) != 1) die(image);
    fclose(file);
    return head.e_shoff + (size_t)head.e_shentsize * head.e_shnum;
}

static void write_file(sqfs *fs, sqfs_inode *inode, const char *path, mode_t mode) {
    static char piece[1 << 17];
    sqfs_off_t at = 0;
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (to < 0) die(path);
    while ((uint64_t)at < inode->xtra.reg.file_size) {
        sqfs_off_t size = sizeof piece;
        if (sqfs_read_range(fs, inode, at, &size, piece) != SQFS_OK || size <= 0) {
            errno = EIO;
            die(path);
        }
        if (write(to, piece, size) != size) die(path);
        at += size;
    }
    close(to);
}

static void write_one(sqfs *fs, sqfs_traverse *walk, const char *path) {
    sqfs_inode inode;
    char target[PATH_MAX];
    size_t size = sizeof target;
    if (sqfs_inode_get(fs, &inode, sqfs_dentry_inode(&walk->entry)) != SQFS_OK) {
        errno = EIO;
        die(path);
    }
    mode_t mode = inode.base.mode & 0777;
    if (S_ISDIR(inode.base.mode)) {
        if (mkdir(path, mode | 0700)) die(path);
    } else if (S_ISLNK(inode.base.mode)) {
        if (sqfs_readlink(fs, &inode, target, &size) != SQFS_OK || symlink(target, path)) die(path);
    } else {
        write_file(fs, &inode, path, mode);
    }
}

static void extract(const char *folder) {
    sqfs fs;
    sqfs_traverse walk;
    sqfs_err err = SQFS_OK;
    char path[PATH_MAX];
    if (sqfs_open_image(&fs, image, offset) != SQFS_OK) exit(127);
    if (sqfs_traverse_open(&walk, &fs, sqfs_inode_root(&fs)) != SQFS_OK) exit(127);
    while (sqfs_traverse_next(&walk, &err)) {
        if (walk.dir_end) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, walk.path) >= (int)sizeof path) exit(127);
        write_one(&fs, &walk, path);
    }
    if (err != SQFS_OK) exit(127);
    sqfs_traverse_close(&walk);
    sqfs_destroy(&fs);
    sqfs_fd_close(fs.fd);
}

static int forget(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void become(const char *folder, const char *called, char **words) {
    char program[PATH_MAX], here[PATH_MAX];
    snprintf(program, sizeof program, "%s/AppRun", folder);
    setenv("APPIMAGE", image, 1);
    setenv("APPDIR", folder, 1);
    setenv("ARGV0", called, 1);
    if (getcwd(here, sizeof here)) setenv("OWD", here, 1);
    words[0] = program;
    execv(program, words);
    die(program);
}

static int extract_and_run(const char *called, char **words) {
    const char *top = getenv("TMPDIR");
    char folder[PATH_MAX];
    int status = 0;
    snprintf(folder, sizeof folder, "%s/appimage_extracted_XXXXXX", top ? top : "/tmp");
    if (!mkdtemp(folder)) die(folder);
    extract(folder);
    pid_t child = fork();
    if (child == 0) become(folder, called, words);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    nftw(folder, forget, 16, FTW_DEPTH | FTW_PHYS);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Ends the mount when nobody holds the other end of the pipe any more: AppRun has ended. */
static void *watch(void *end) {
    char byte;
    while (read(*(int *)end, &byte, 1) < 0 && errno == EINTR) {}
    kill(getpid(), SIGTERM);
    return NULL;
}

static void serve(const char *folder, int ready, int alive) {
    struct fuse_lowlevel_ops ops = {
        .getattr = sqfs_ll_op_getattr, .opendir = sqfs_ll_op_opendir,
        .releasedir = sqfs_ll_op_releasedir, .readdir = sqfs_ll_op_readdir,
        .lookup = sqfs_ll_op_lookup, .open = sqfs_ll_op_open, .create = sqfs_ll_op_create,
        .release = sqfs_ll_op_release, .read = sqfs_ll_op_read, .readlink = sqfs_ll_op_readlink,
        .listxattr = sqfs_ll_op_listxattr, .getxattr = sqfs_ll_op_getxattr,
        .forget = sqfs_ll_op_forget, .statfs = stfs_ll_op_statfs,
    };
    char *words[] = {image, "-o", "ro", NULL};
    struct fuse_args args = FUSE_ARGS_INIT(3, words);
    sqfs_ll_chan channel;
    pthread_t watcher;
    sigset_t ours;
    sqfs_ll *ll = sqfs_ll_open(image, offset);
    if (!ll || sqfs_ll_mount(&channel, folder, &args, &ops, sizeof ops, ll) != SQFS_OK) _exit(1);
    if (fuse_set_signal_handlers(channel.session) || write(ready, "", 1) != 1) _exit(1);
    close(ready);
    sigemptyset(&ours), sigaddset(&ours, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    pthread_create(&watcher, NULL, watch, &alive);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    fuse_session_loop(channel.session);
    fuse_remove_signal_handlers(channel.session);
    sqfs_ll_destroy(ll);
    sqfs_ll_unmount(&channel, folder);
    rmdir(folder);
    _exit(0);
}

static void mount_and_run(const char *called, char **words) {
    char folder[] = "/tmp/.mount_weir_XXXXXX", byte;
    int ready[2], alive[2];
    if (!mkdtemp(folder) || pipe(ready) || pipe(alive)) die(folder);
    if (fork() == 0) {
        close(ready[0]), close(alive[1]);
        setsid();
        serve(folder, ready[1], alive[0]);
    }
    close(ready[1]), close(alive[0]);
    if (read(ready[0], &byte, 1) != 1) {
        rmdir(folder);
        fputs("Cannot mount this AppImage: FUSE does not work here. Start it with "
              "--appimage-extract-and-run.\n", stderr);
        exit(127);
    }
    close(ready[0]);
    become(folder, called, words);
}

int main(int count, char **words) {
    const char *asked = count > 1 ? words[1] : "", *called = words[0];
    if (!realpath("/proc/self/exe", image)) die("/proc/self/exe");
    offset = end_of_elf();
    if (!strcmp(asked, "--appimage-offset")) return printf("%zu\n", offset) < 0;
    if (!strcmp(asked, "--appimage-extract")) {
        const char *folder = count > 2 ? words[2] : "squashfs-root";
        if (mkdir(folder, 0755)) die(folder);
        extract(folder);
        return 0;
    }
    if (!strcmp(asked, "--appimage-extract-and-run")) return extract_and_run(called, words + 1);
    if (getenv("APPIMAGE_EXTRACT_AND_RUN")) return extract_and_run(called, words);
    mount_and_run(called, words);
}
