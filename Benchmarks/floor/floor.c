/* The work of a get as a C program: a process that holds records, one that holds keys, and clients of the first. Each message's sender is
 * verified by its credentials and its pidfd. A get computes two HMACs, looks up a row in SQLite, and decrypts metadata, item key and value
 * with AES-256-GCM; each server overwrites 64 KiB of its stack. For a P-256 signature the client connects to the process with the keys.
 *
 * floor FOLDER ITEMS reads commands from its input, and answers each with one line:
 *   get N             median and 99th percentile of N gets, in microseconds
 *   sign N            the same for N signatures
 *   gets CLIENTS S    gets per second by CLIENTS client processes in S seconds; `signs` likewise */
#define _GNU_SOURCE
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "floor.h"

char folder[64], database_path[96];
uint8_t index_key[32], metadata_key[32], class_key[32];
EVP_PKEY *signing_key;

void fail(const char *what) { perror(what); exit(1); }

/* MARK: The client */

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void ask(struct peer *server, int signs, int index) {
    struct answer answer;
    if (signs) {
        struct key_request digest = {.signs = 1};
        memset(digest.digest, index & 255, sizeof digest.digest);
        transmit(server->socket, &digest, sizeof digest);
        if (!receive(server, &answer, sizeof answer) || answer.count < 64) fail("no signature");
        return;
    }
    struct request name;
    name_item(index, &name);
    transmit(server->socket, &name, sizeof name);
    if (!receive(server, &answer, sizeof answer) || answer.count != VALUE || answer.bytes[0] != (index & 255)) fail("no value");
}

static int compare(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static void measure(struct peer *server, int signs, int items, long count) {
    uint64_t *times = calloc(count, sizeof *times);
    for (long turn = -count / 10; turn < count; turn++) {
        uint64_t start = now();
        ask(server, signs, (int)(labs(turn) * 7919 % items));
        if (turn >= 0) times[turn] = now() - start;
    }
    qsort(times, count, sizeof *times, compare);
    printf("%.1f %.1f\n", times[count / 2] / 1e3, times[count * 99 / 100] / 1e3);
    free(times);
}

/* The clients begin when the pipe closes, and report how much they did at the end of the time. */
static void measure_rate(int signs, int items, int clients, double seconds) {
    int reports[2], start[2];
    if (pipe(reports) || pipe(start)) fail("pipe");
    for (int client = 0; client < clients; client++) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child) continue;
        struct peer server = {.socket = connect_to(signs ? "keys" : "records")};
        long count = 0;
        char byte;
        close(start[1]);
        if (begin(&server)) fail("begin");
        ask(&server, signs, 0);
        if (write(reports[1], &count, sizeof count) != sizeof count || read(start[0], &byte, 1) != 0) fail("start");
        for (uint64_t end = now() + (uint64_t)(seconds * 1e9); now() < end; count++) ask(&server, signs, (int)((client * 131 + count * 7919) % items));
        if (write(reports[1], &count, sizeof count) != sizeof count) fail("report");
        _exit(0);
    }
    long count, all = 0;
    for (int report = 0; report < 2 * clients; report++) {
        if (report == clients) close(start[1]);
        if (read(reports[0], &count, sizeof count) != sizeof count) fail("a client");
        all += count;
    }
    for (int client = 0; client < clients; client++) wait(NULL);
    close(start[0]);
    close(reports[0]);
    close(reports[1]);
    printf("%.0f\n", all / seconds);
}

int main(int argc, char **argv) {
    int items = argc == 3 ? atoi(argv[2]) : 0, count;
    if (items < 1) { fprintf(stderr, "usage: floor FOLDER ITEMS\n"); return 64; }
    snprintf(folder, sizeof folder, "/tmp/vauban-floor.XXXXXX");
    if (!mkdtemp(folder)) fail("mkdtemp");
    snprintf(database_path, sizeof database_path, "%s/floor.db", argv[1]);
    RAND_bytes(index_key, sizeof index_key);
    RAND_bytes(metadata_key, sizeof metadata_key);
    RAND_bytes(class_key, sizeof class_key);
    if (!(signing_key = EVP_EC_gen("P-256"))) fail("P-256");
    fill(items);
    serve("keys", hold_keys);
    serve("records", hold_records);
    struct peer records = {.socket = connect_to("records")}, keys = {.socket = connect_to("keys")};
    if (begin(&records) || begin(&keys)) fail("begin");
    char line[64], work[8];
    double seconds;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%7s %d %lf", work, &count, &seconds) == 3) measure_rate(!strcmp(work, "signs"), items, count, seconds);
        else if (sscanf(line, "%7s %d", work, &count) == 2 && count > 0) measure(strcmp(work, "sign") ? &records : &keys, !strcmp(work, "sign"), items, count);
        fflush(stdout);
    }
    char path[96];
    const char *names[] = {"records", "keys", ""};
    for (int name = 0; name < 3; name++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[name]);
        remove(path);
    }
    return 0;
}
