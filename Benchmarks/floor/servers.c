/* The process that holds keys, and the one that holds records. */
#define _GNU_SOURCE
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "floor.h"

/* MARK: Cryptography */

static void seal(const uint8_t *key, const void *bound, int boundCount, const void *clear, int count, uint8_t *sealed) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int done;
    if (RAND_bytes(sealed, NONCE) != 1 || !EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, sealed) ||
        !EVP_EncryptUpdate(context, NULL, &done, bound, boundCount) || !EVP_EncryptUpdate(context, sealed + NONCE, &done, clear, count) ||
        !EVP_EncryptFinal_ex(context, sealed + NONCE + done, &done) ||
        !EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, sealed + NONCE + count)) fail("seal");
    EVP_CIPHER_CTX_free(context);
}

static int open_sealed(const uint8_t *key, const void *bound, int boundCount, const uint8_t *sealed, int count, uint8_t *clear) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int done, isRight = EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, sealed) &&
        EVP_DecryptUpdate(context, NULL, &done, bound, boundCount) &&
        EVP_DecryptUpdate(context, clear, &done, sealed + NONCE, count - NONCE - TAG) &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, (void *)(sealed + count - TAG)) &&
        EVP_DecryptFinal_ex(context, clear + done, &done) > 0;
    EVP_CIPHER_CTX_free(context);
    return isRight;
}

static void blind(const void *text, size_t count, uint8_t *out) {
    uint8_t digest[32];
    if (!HMAC(EVP_sha256(), index_key, sizeof index_key, text, count, digest, NULL)) fail("HMAC");
    memcpy(out, digest, 16);
}

/* MARK: The process that holds keys */

void *hold_keys(void *argument) {
    struct peer *peer = argument;
    struct key_request wanted;
    while (receive(peer, &wanted, sizeof wanted)) {
        struct answer answer = {0};
        if (wanted.signs) {
            size_t count = sizeof answer.bytes;
            EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(signing_key, NULL);
            if (EVP_PKEY_sign_init(context) > 0 && EVP_PKEY_sign(context, answer.bytes, &count, wanted.digest, 32) > 0) answer.count = count;
            EVP_PKEY_CTX_free(context);
        } else if (open_sealed(class_key, wanted.binding, sizeof wanted.binding, wanted.wrapped, SEALED_KEY, answer.bytes)) answer.count = 32;
        overwrite_stack();
        transmit(peer->socket, &answer, sizeof answer);
    }
    close(peer->socket);
    close(peer->process);
    free(peer);
    return NULL;
}

/* MARK: The process that holds records */

static sqlite3 *open_database(void) {
    sqlite3 *database;
    if (sqlite3_open(database_path, &database) || sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL)) fail("sqlite");
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL)) fail(sql);
    return statement;
}

void name_item(int index, struct request *request) {
    memset(request, 0, sizeof *request);
    strcpy(request->service, "org.example.benchmark");
    snprintf(request->account, sizeof request->account, "account-%d@mail.example", index);
}

void fill(int items) {
    sqlite3 *database = open_database();
    sqlite3_exec(database, "CREATE TABLE item(id INTEGER PRIMARY KEY, list BLOB, binding BLOB, metadata BLOB, wrapped BLOB, secret BLOB) STRICT;"
        "CREATE TABLE lookup(blind BLOB, item INTEGER, PRIMARY KEY(blind, item)) STRICT, WITHOUT ROWID; BEGIN", NULL, NULL, NULL);
    sqlite3_stmt *item = prepare(database, "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?)");
    sqlite3_stmt *lookup = prepare(database, "INSERT INTO lookup VALUES (?, ?)");
    for (int index = 0; index < items; index++) {
        struct request name;
        uint8_t binding[70], key[32], value[VALUE], clear[METADATA] = {0}, name_blind[16], list[16];
        uint8_t metadata[NONCE + METADATA + TAG], wrapped[SEALED_KEY], secret[SEALED_VALUE];
        name_item(index, &name);
        RAND_bytes(binding, sizeof binding);
        RAND_bytes(key, sizeof key);
        memset(value, index & 255, sizeof value);
        memcpy(clear, &name, sizeof name);
        blind(&name, sizeof name, name_blind);
        blind("sync", 4, list);
        seal(metadata_key, binding, sizeof binding, clear, sizeof clear, metadata);
        seal(class_key, binding, sizeof binding, key, sizeof key, wrapped);
        seal(key, binding, sizeof binding, value, sizeof value, secret);
        sqlite3_bind_int(item, 1, index + 1);
        const struct { const void *bytes; int count; } columns[] = {
            {list, sizeof list}, {binding, sizeof binding}, {metadata, sizeof metadata}, {wrapped, sizeof wrapped}, {secret, sizeof secret}};
        for (int column = 0; column < 5; column++) sqlite3_bind_blob(item, column + 2, columns[column].bytes, columns[column].count, SQLITE_STATIC);
        sqlite3_bind_blob(lookup, 1, name_blind, sizeof name_blind, SQLITE_STATIC);
        sqlite3_bind_int(lookup, 2, index + 1);
        if (sqlite3_step(item) != SQLITE_DONE || sqlite3_step(lookup) != SQLITE_DONE) fail("fill");
        sqlite3_reset(item);
        sqlite3_reset(lookup);
    }
    sqlite3_finalize(item);
    sqlite3_finalize(lookup);
    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(database);
}

/* Finds and opens one item. */
static void get(const struct request *wanted, sqlite3_stmt *row, struct peer *keys, struct answer *answer) {
    uint8_t name_blind[16], list[16], metadata[METADATA];
    struct key_request wrapped = {0};
    struct answer key;
    blind(wanted, sizeof *wanted, name_blind);
    blind("sync", 4, list);
    sqlite3_bind_blob(row, 1, name_blind, sizeof name_blind, SQLITE_STATIC);
    if (sqlite3_step(row) == SQLITE_ROW && memcmp(sqlite3_column_blob(row, 0), list, sizeof list) == 0) {
        const void *binding = sqlite3_column_blob(row, 1);
        int count = sqlite3_column_bytes(row, 1);
        if (open_sealed(metadata_key, binding, count, sqlite3_column_blob(row, 2), sqlite3_column_bytes(row, 2), metadata) &&
            memcmp(metadata, wanted, sizeof *wanted) == 0) {
            memcpy(wrapped.binding, binding, sizeof wrapped.binding);
            memcpy(wrapped.wrapped, sqlite3_column_blob(row, 3), sizeof wrapped.wrapped);
            transmit(keys->socket, &wrapped, sizeof wrapped);
            if (receive(keys, &key, sizeof key) && key.count == 32 &&
                open_sealed(key.bytes, binding, count, sqlite3_column_blob(row, 4), SEALED_VALUE, answer->bytes)) answer->count = VALUE;
            explicit_bzero(&key, sizeof key);
        }
    }
    sqlite3_reset(row);
}

void *hold_records(void *argument) {
    struct peer *peer = argument, keys = {.socket = connect_to("keys")};
    if (begin(&keys)) fail("keys");
    sqlite3 *database = open_database();
    sqlite3_stmt *row = prepare(database, "SELECT list, binding, metadata, wrapped, secret FROM lookup JOIN item ON item.id = lookup.item WHERE lookup.blind = ?");
    struct request wanted;
    while (receive(peer, &wanted, sizeof wanted)) {
        struct answer answer = {0};
        get(&wanted, row, &keys, &answer);
        overwrite_stack();
        transmit(peer->socket, &answer, sizeof answer);
        explicit_bzero(&answer, sizeof answer);
        overwrite_stack();
    }
    sqlite3_finalize(row);
    sqlite3_close(database);
    close(keys.socket);
    close(keys.process);
    close(peer->socket);
    close(peer->process);
    free(peer);
    return NULL;
}

