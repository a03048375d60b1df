// A hostile program that pretends to be something that the user trusts: a prompt agent, a keychain, a terminal. It prints the outcome.
// Each attempt ends by itself.
#include "attacker.h"
#include <sys/ioctl.h>

#ifndef AUTHENTICATION
#define AUTHENTICATION "/run/vauban/authentication"
#endif

// The user may take any time to answer; the alarm only ends a test that hangs.
static void wait_for_user(int connection) {
    struct timeval none = {0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
}

// agent SCOPE ANSWER [PLACE]: a false prompt agent; it prints the prompts that it gets, and answers `cancel`, `guess`, `replace` (a guess, with a
// new secret of its own), `seen` or `yes`; with `hold` it answers none. PLACE is the place that it reports.
static void agent(int scope, const char *answer, const char *place) {
    static struct message m;
    struct der d;
    int connection = introduce(AUTHENTICATION, 1);
    der_begin(&d);
    der_field(&d, 0x0C, place, strlen(place));
    der_number(&d, scope);
    der_wrap(&d, 0xA0, 0);
    der_number(&d, 1);
    der_wrap(&d, 0x30, 0);
    if (send_message(connection, &d, -1, 0)) { say("closed"); return; }
    wait_for_user(connection);
    while (!receive_message(connection, &m)) {
        const uint8_t *at = m.header + 2 + (m.header[1] & 0x80 ? m.header[1] & 0x7F : 0) + 3;
        if (*at == 0xA0) say("registered");
        if (*at == 0xA1) {
            for (const uint8_t *byte = at + 1; byte < m.header + m.header_size - 2; byte++) {
                if (byte[0] != 0x02 || byte[1] != 1) continue;
                printf("refused %d", byte[2]);
                if (byte[2] == 1) print_detail(&m, byte + 2);
                say("");
                break;
            }
        }
        if (*at == 0xA3) printf("settled %d\n", m.header[m.header_size - 1]), fflush(stdout);
        if (*at != 0xA2) continue;
        printf("asked: ");
        for (size_t index = 0; index < m.header_size; index++) putchar(m.header[index] >= 32 && m.header[index] < 127 ? m.header[index] : '.');
        putchar('\n');
        fflush(stdout);
        uint8_t *prompt = memmem(m.header, m.header_size, "\x04\x10", 2), *challenge = memmem(m.header, m.header_size, "\x04\x20", 2);
        uint8_t key[32] = {9}, text[40] = {0};
        if (!prompt || !challenge || !strcmp(answer, "hold")) continue;
        der_begin(&d);
        if (!strcmp(answer, "guess")) {
            der_field(&d, 0x04, text, sizeof text);
            der_field(&d, 0x04, key, sizeof key);
            der_wrap(&d, 0x30, 0);
            der_wrap(&d, 0xA0, 0);
        } else if (!strcmp(answer, "replace")) {
            for (int seal = 0; seal < 2; seal++) {
                size_t before = der_size(&d);
                der_field(&d, 0x04, text, sizeof text);
                der_field(&d, 0x04, key, sizeof key);
                der_wrap(&d, 0x30, before);
            }
            der_wrap(&d, 0xA5, 0);
        } else {
            der_field(&d, !strcmp(answer, "yes") ? 0xA7 : !strcmp(answer, "seen") ? 0xA6 : 0xA1, NULL, 0);
        }
        der_raw(&d, challenge, 34);
        der_raw(&d, prompt, 18);
        der_wrap(&d, 0xA1, 0);
        der_number(&d, 1);
        der_wrap(&d, 0x30, 0);
        send_message(connection, &d, -1, 0);
    }
    say("closed");
}

// change settings|fingers|recovery|passcode|recovery-key: requests a change of credentials or of automatic locking, as vauban-desktop does: keys
// that stay for an hour from sleep, no fingers, no recovery key, another passcode, another recovery key. It prints `asked` once the user is
// prompted, and the outcome.
static void change(const char *what) {
    static const uint8_t settings[] = {0xA0, 23, 0x30, 9, 2, 1, 0, 2, 1, 0, 1, 1, 0, 0x30, 10, 2, 2, 0x0E, 0x10, 2, 1, 0, 1, 1, 0};
    static struct message m;
    struct der d;
    int connection = introduce(AUTHENTICATION, 0);
    der_begin(&d);
    if (!strcmp(what, "settings")) der_raw(&d, settings, sizeof settings);
    else der_field(&d, !strcmp(what, "fingers") ? 0xA2 : !strcmp(what, "recovery") ? 0xA3 : !strcmp(what, "passcode") ? 0xA4 : 0xA5, NULL, 0);
    der_wrap(&d, 0x30, 0);
    der_wrap(&d, 0xAB, 0);
    der_number(&d, 2);
    der_wrap(&d, 0x30, 0);
    if (send_message(connection, &d, -1, 0)) { say("closed"); return; }
    wait_for_user(connection);
    while (!receive_message(connection, &m)) {
        const uint8_t *at = m.header + 2 + (m.header[1] & 0x80 ? m.header[1] & 0x7F : 0) + 3;
        if (*at == 0xA4) say("asked");
        if (*at == 0xA1) { say("done"); return; }
        if (*at != 0xA0) continue;
        for (const uint8_t *byte = at + 1; byte + 2 < m.header + m.header_size; byte++) {
            if (byte[0] != 0x02 || byte[1] != 1) continue;
            printf("refused %d\n", byte[2]);
            return;
        }
    }
    say("closed");
}

// flood COUNT: asks for so many prompts at once, each over a connection of its own. It prints `asked` or the refusal for each of them, then
// `waiting`, and keeps them open.
static void flood(int count) {
    static const uint8_t evaluation[] = {0xA0, 3, 2, 1, 2, 0x0C, 5, 'f', 'l', 'o', 'o', 'd', 1, 1, 0xFF, 2, 1, 0};
    static struct message m;
    for (int index = 0; index < count; index++) {
        struct der d;
        int connection = introduce(AUTHENTICATION, 0);
        der_begin(&d);
        der_raw(&d, evaluation, sizeof evaluation);
        der_wrap(&d, 0x30, 0);
        der_wrap(&d, 0xA6, 0);
        der_number(&d, 2);
        der_wrap(&d, 0x30, 0);
        if (send_message(connection, &d, -1, 0) || receive_message(connection, &m)) { say("closed"); continue; }
        const uint8_t *at = m.header + 2 + (m.header[1] & 0x80 ? m.header[1] & 0x7F : 0) + 3;
        if (*at == 0xA4) say("asked");
        if (*at != 0xA0) continue;
        for (const uint8_t *byte = at + 1; byte + 2 < m.header + m.header_size; byte++) {
            if (byte[0] != 0x02 || byte[1] != 1) continue;
            printf("refused %d\n", byte[2]);
            break;
        }
    }
    say("waiting");
    pause();
}

// serve SOCKET: a false keychain, which prints what the first program sends to it.
static void serve(const char *path) {
    static struct message m;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    int removal = unlink(path) ? errno : 0;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 8)) { printf("not removed %d, not bound %d\n", removal, errno); return; }
    chmod(path, 0777);
    say("serving");
    int connection = accept(listener, NULL, NULL);
    setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    struct der d;
    uint8_t nonce[16] = {7};
    der_begin(&d);
    der_field(&d, 0x04, nonce, sizeof nonce);
    der_number(&d, 1);
    der_wrap(&d, 0x30, 0);
    send_message(connection, &d, -1, 0);
    if (receive_message(connection, &m)) { say("it went without a word"); return; }
    if (receive_message(connection, &m)) { say("it went after the greeting"); return; }
    printf("got %.*s\n", (int)m.secret_size, m.secret);
    fflush(stdout);
    der_begin(&d);
    der_field(&d, 0xA1, NULL, 0);
    der_number(&d, 1);
    der_wrap(&d, 0x30, 0);
    send_message(connection, &d, -1, 0);
    receive_message(connection, &m);
}

// type TEXT [TERMINAL]: types into the terminal that it was started from, or into another. `\n` is Enter.
static void type(const char *text, const char *terminal) {
    int file = open(terminal, O_RDWR);
    if (file < 0) { printf("not opened %d\n", errno); return; }
    for (; *text; text++) {
        char key = text[0] == '\\' && text[1] == 'n' ? (text++, '\r') : *text;
        if (ioctl(file, TIOCSTI, &key)) { printf("not typed %d\n", errno); return; }
    }
    say("typed");
}

// overhear TERMINAL: reads a line that is typed on another program's terminal.
static void overhear(const char *terminal) {
    int file = open(terminal, O_RDONLY | O_NOCTTY);
    if (file < 0) { printf("not opened %d\n", errno); return; }
    char line[256];
    size_t count = 0;
    say("listening");
    while (count < sizeof line) {
        ssize_t got = read(file, line + count, sizeof line - count);
        if (got <= 0) { printf("not heard %d\n", errno); return; }
        count += got;
        if (line[count - 1] == '\n' || line[count - 1] == '\r') break;
    }
    printf("heard %.*s\n", (int)count - 1, line);
}

int main(int count, char **words) {
    setlinebuf(stdout);
    const char *seconds = getenv("hang_seconds");
    alarm(seconds ? atoi(seconds) : 600);
    const char *word = count > 1 ? words[1] : "";
#define IS(name, least) (!strcmp(word, name) && count >= 2 + least)
    if (IS("agent", 2)) agent(atoi(words[2]), words[3], count > 4 ? words[4] : "a hostile program");
    else if (IS("change", 1)) change(words[2]);
    else if (IS("flood", 1)) flood(atoi(words[2]));
    else if (IS("serve", 1)) serve(words[2]);
    else if (IS("type", 2)) type(words[2], words[3]);
    else if (IS("overhear", 1)) overhear(words[2]);
    else { fprintf(stderr, "impostor: what is %s?\n", word); return 64; }
    return 0;
}
