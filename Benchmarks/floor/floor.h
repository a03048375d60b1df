/* Declarations shared by the files of the C program. */
#ifndef VAUBAN_FLOOR_H
#define VAUBAN_FLOOR_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <openssl/evp.h>
#include <stdint.h>
#include <sys/socket.h>

enum { NONCE = 12, TAG = 16, VALUE = 32, SEALED_KEY = NONCE + 32 + TAG, SEALED_VALUE = NONCE + VALUE + TAG, METADATA = 256 };
struct request { char service[32], account[64]; };
struct key_request { uint8_t signs, binding[70], wrapped[SEALED_KEY], digest[32]; };
struct answer { uint32_t count; uint8_t bytes[80]; };
struct peer { int socket, process; struct ucred user; };


extern char folder[64], database_path[96];
extern uint8_t index_key[32], metadata_key[32], class_key[32];
extern EVP_PKEY *signing_key;

void fail(const char *what) __attribute__((noreturn));

/* messages.c */
void overwrite_stack(void);
int begin(struct peer *peer);
int receive(struct peer *peer, void *message, size_t count);
void transmit(int socket, const void *message, size_t count);
int connect_to(const char *name);
void serve(const char *name, void *(*connection)(void *));

/* servers.c */
void name_item(int index, struct request *request);
void fill(int items);
void *hold_keys(void *argument);
void *hold_records(void *argument);
#endif
