/* P-256 ECDSA signatures over 32 bytes.
 *   sign_bench BACKEND [--clients K] [--seconds S] [--keygen]
 * openssl   : in this process (EVP, one key)
 * sshagent  : SSH_AUTH_SOCK, first key of the agent, agent protocol over the socket
 * pkcs11    : BENCH_P11_MODULE, BENCH_P11_PIN, first slot with a token, private key labeled "bench"
 * esys      : BENCH_TCTI, tpm2-tss ESYS, primary ECDSA P-256 key in the owner hierarchy
 * Each client is its own process with its own connection; the same signature is made again and again. */
#include "common.h"
#include <dlfcn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <p11-kit/pkcs11.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

static unsigned char digest[32];
static int ux(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (!path) return -1;
    snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return s >= 0 && connect(s, (struct sockaddr *)&a, sizeof a) == 0 ? s : -1;
}
static int xfer(int fd, void *b, size_t n, int wr) {
    unsigned char *p = b;
    while (n) {
        ssize_t k = wr ? write(fd, p, n) : read(fd, p, n);
        if (k <= 0) return -1;
        p += k;
        n -= (size_t)k;
    }
    return 0;
}
/* ---- openssl ---- */
static EVP_PKEY_CTX *pc;
static int ossl_open(void) {
    EVP_PKEY *k = EVP_EC_gen("P-256");
    pc = EVP_PKEY_CTX_new(k, NULL);
    return EVP_PKEY_sign_init(pc) == 1 ? 0 : -1;
}
static int ossl_sign(void) {
    unsigned char sig[128];
    size_t n = sizeof sig;
    return EVP_PKEY_sign(pc, sig, &n, digest, 32) == 1 ? 0 : -1;
}
/* ---- ssh-agent ---- */
static int afd;
static unsigned char areq[512];
static size_t areq_n;
static void be32(unsigned char *p, uint32_t v) { p[0] = v >> 24; p[1] = v >> 16; p[2] = v >> 8; p[3] = v; }
static uint32_t rd32(const unsigned char *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }
static int agent_msg(unsigned char *req, size_t n, unsigned char *rep, size_t cap, size_t *rn) {
    unsigned char h[4];
    if (xfer(afd, req, n, 1) || xfer(afd, h, 4, 0)) return -1;
    *rn = rd32(h);
    return *rn > cap || xfer(afd, rep, *rn, 0) ? -1 : 0;
}
static int ssh_open(void) {
    unsigned char rep[65536], ask[5] = {0, 0, 0, 1, 11};
    size_t n;
    if ((afd = ux(getenv("SSH_AUTH_SOCK"))) < 0 || agent_msg(ask, 5, rep, sizeof rep, &n) || rep[0] != 12 || rd32(rep + 1) < 1) return -1;
    uint32_t bl = rd32(rep + 5);
    size_t body = 1 + 4 + bl + 4 + 32 + 4;
    unsigned char *p = areq;
    be32(p, (uint32_t)body); p += 4;
    *p++ = 13;
    be32(p, bl); p += 4;
    memcpy(p, rep + 9, bl); p += bl;
    be32(p, 32); p += 4;
    memcpy(p, digest, 32); p += 32;
    be32(p, 0); p += 4;
    areq_n = (size_t)(p - areq);
    return 0;
}
static int ssh_sign(void) {
    unsigned char rep[1024];
    size_t n;
    return agent_msg(areq, areq_n, rep, sizeof rep, &n) || rep[0] != 14 ? -1 : 0;
}
/* ---- PKCS#11 ---- */
static CK_FUNCTION_LIST *f;
static CK_SESSION_HANDLE ses;
static CK_OBJECT_HANDLE priv;
static int p11_find(void) {
    CK_OBJECT_CLASS c = CKO_PRIVATE_KEY;
    CK_ATTRIBUTE t[] = {{CKA_CLASS, &c, sizeof c}, {CKA_LABEL, (void *)"bench", 5}};
    CK_ULONG n = 0;
    f->C_FindObjectsInit(ses, t, 2);
    f->C_FindObjects(ses, &priv, 1, &n);
    f->C_FindObjectsFinal(ses);
    if (n != 1) fprintf(stderr, "no private key labeled bench (%lu)\n", n);
    return n == 1 ? 0 : -1;
}
static int p11_open(void) {
    const char *mod = getenv("BENCH_P11_MODULE"), *pin = getenv("BENCH_P11_PIN");
    void *h = mod ? dlopen(mod, RTLD_NOW) : NULL;
    if (!h) { fprintf(stderr, "dlopen %s\n", dlerror()); return -1; }
    CK_C_GetFunctionList gl;
    *(void **)&gl = dlsym(h, "C_GetFunctionList");
    if (!gl || gl(&f) != CKR_OK) return -1;
    CK_RV rv = f->C_Initialize(NULL);
    if (rv != CKR_OK) { fprintf(stderr, "C_Initialize %lx\n", rv); return -1; }
    CK_SLOT_ID s[16];
    CK_ULONG n = 16, i;
    if ((rv = f->C_GetSlotList(CK_TRUE, s, &n)) != CKR_OK || n < 1) { fprintf(stderr, "slots %lx\n", rv); return -1; }
    for (i = 0; i < n; i++) {
        CK_TOKEN_INFO ti;
        if (f->C_GetTokenInfo(s[i], &ti) == CKR_OK && (ti.flags & CKF_USER_PIN_INITIALIZED)) break;
    }
    if (i == n) { fprintf(stderr, "no initialized token in %lu slots\n", n); return -1; }
    if ((rv = f->C_OpenSession(s[i], CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, &ses)) != CKR_OK) { fprintf(stderr, "C_OpenSession %lx\n", rv); return -1; }
    rv = f->C_Login(ses, CKU_USER, (CK_BYTE *)pin, strlen(pin));
    if (rv != CKR_OK && rv != CKR_USER_ALREADY_LOGGED_IN) { fprintf(stderr, "login %lx\n", rv); return -1; }
    return 0;
}
static int p11_keygen(void) {
    if (p11_open()) return -1;
    CK_BYTE oid[] = {0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07}, id[] = {1};
    CK_BBOOL T = CK_TRUE, F = CK_FALSE;
    CK_ATTRIBUTE pu[] = {{CKA_EC_PARAMS, oid, sizeof oid}, {CKA_TOKEN, &T, 1}, {CKA_VERIFY, &T, 1}, {CKA_LABEL, (void *)"bench", 5}, {CKA_ID, id, 1}};
    CK_ATTRIBUTE pr[] = {{CKA_TOKEN, &T, 1}, {CKA_PRIVATE, &T, 1}, {CKA_SENSITIVE, &T, 1}, {CKA_EXTRACTABLE, &F, 1}, {CKA_SIGN, &T, 1}, {CKA_LABEL, (void *)"bench", 5}, {CKA_ID, id, 1}};
    CK_MECHANISM m = {CKM_EC_KEY_PAIR_GEN, NULL, 0};
    CK_OBJECT_HANDLE a, b;
    CK_RV rv = f->C_GenerateKeyPair(ses, &m, pu, 5, pr, 7, &a, &b);
    if (rv != CKR_OK) fprintf(stderr, "keygen %lx\n", rv);
    return rv == CKR_OK ? 0 : -1;
}
static int p11_ready(void) { return p11_open() || p11_find() ? -1 : 0; }
static int p11_sign(void) {
    CK_MECHANISM m = {CKM_ECDSA, NULL, 0};
    CK_BYTE sig[128];
    CK_ULONG n = sizeof sig;
    return f->C_SignInit(ses, &m, priv) == CKR_OK && f->C_Sign(ses, digest, 32, sig, &n) == CKR_OK && n == 64 ? 0 : -1;
}
/* ---- TPM ---- */
static ESYS_CONTEXT *ec;
static ESYS_TR ek;
static int tpm_open(void) {
    TSS2_TCTI_CONTEXT *tc = NULL;
    TSS2_RC rc;
    if ((rc = Tss2_TctiLdr_Initialize(getenv("BENCH_TCTI"), &tc)) || (rc = Esys_Initialize(&ec, tc, NULL))) { fprintf(stderr, "%s\n", Tss2_RC_Decode(rc)); return -1; }
    if (getenv("BENCH_TPM_STARTUP")) Esys_Startup(ec, TPM2_SU_CLEAR);
    TPM2B_SENSITIVE_CREATE s = {0};
    TPM2B_PUBLIC p = {0};
    TPM2B_DATA oi = {0};
    TPML_PCR_SELECTION pcr = {0};
    p.publicArea.type = TPM2_ALG_ECC;
    p.publicArea.nameAlg = TPM2_ALG_SHA256;
    p.publicArea.objectAttributes = TPMA_OBJECT_SIGN_ENCRYPT | TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
    p.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_NULL;
    p.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_ECDSA;
    p.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = TPM2_ALG_SHA256;
    p.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256;
    p.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL;
    rc = Esys_CreatePrimary(ec, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &s, &p, &oi, &pcr, &ek, NULL, NULL, NULL, NULL);
    if (rc) fprintf(stderr, "CreatePrimary %s\n", Tss2_RC_Decode(rc));
    return rc ? -1 : 0;
}
static int tpm_sign(void) {
    TPM2B_DIGEST d = {.size = 32};
    memcpy(d.buffer, digest, 32);
    TPMT_SIG_SCHEME sc = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    TPMT_TK_HASHCHECK v = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    TPMT_SIGNATURE *sig = NULL;
    TSS2_RC rc = Esys_Sign(ec, ek, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &d, &sc, &v, &sig);
    if (!rc) Esys_Free(sig);
    return rc ? -1 : 0;
}
static const struct { const char *name; int (*open)(void); int (*sign)(void); } B[] = {
    {"openssl", ossl_open, ossl_sign}, {"sshagent", ssh_open, ssh_sign}, {"pkcs11", p11_ready, p11_sign},
    {"esys", tpm_open, tpm_sign}};

struct shared { volatile int ready, go, turn; struct { size_t n; long rss; uint64_t open_ns, span_ns; } c[64]; };
#define CAP 2000000u
int main(int argc, char **argv) {
    int clients = 1, keygen = 0, bi = -1;
    double secs = 3;
    for (size_t i = 0; argc > 1 && i < sizeof B / sizeof *B; i++) if (!strcmp(argv[1], B[i].name)) bi = (int)i;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--clients")) clients = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seconds")) secs = atof(argv[++i]);
        else if (!strcmp(argv[i], "--keygen")) keygen = 1;
    }
    if (bi < 0 || clients > 64) { fprintf(stderr, "usage: sign_bench openssl|sshagent|pkcs11|esys ...\n"); return 2; }
    for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(i * 7 + 1);
    if (keygen) return p11_keygen() ? 1 : 0;
    struct shared *sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t *lat = mmap(NULL, (size_t)clients * CAP * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sh == MAP_FAILED || lat == MAP_FAILED) return 1;
    pid_t kids[64];
    for (int k = 0; k < clients; k++) {
        if ((kids[k] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            /* clients open one after another: with SoftHSM 2.6.1 simultaneous logins see an empty token for a moment */
            while (!getenv("BENCH_OPEN_TOGETHER") && sh->turn < k) usleep(200);
            uint64_t t = now_ns();
            if (B[bi].open()) { fprintf(stderr, "%s: open failed\n", B[bi].name); _exit(1); }
            sh->c[k].open_ns = now_ns() - t;
            sh->turn = k + 1;
            for (int i = 0; i < 5; i++) if (B[bi].sign()) { fprintf(stderr, "sign failed\n"); _exit(1); }
            __sync_fetch_and_add(&sh->ready, 1);
            while (!sh->go) usleep(200);
            uint64_t a = now_ns(), end = a + (uint64_t)(secs * 1e9), x = a;
            size_t n = 0;
            while (x < end && n < CAP) {
                if (B[bi].sign()) _exit(1);
                uint64_t y = now_ns();
                lat[(size_t)k * CAP + n++] = y - x;
                x = y;
            }
            sh->c[k].span_ns = x - a;
            sh->c[k].n = n;
            FILE *s = fopen("/proc/self/statm", "r");
            long sz, rss = 0;
            if (s && fscanf(s, "%ld %ld", &sz, &rss) == 2) sh->c[k].rss = rss * 4;
            _exit(0);
        }
    }
    uint64_t lim = now_ns() + 30000000000ull;
    while (sh->ready < clients && now_ns() < lim && waitpid(-1, NULL, WNOHANG) == 0) usleep(500);
    int bad = sh->ready < clients;
    sh->go = 1;
    for (int k = 0; k < clients; k++) { int st = 0; if (bad) kill(kids[k], SIGKILL); waitpid(kids[k], &st, 0); if (!sh->c[k].n) bad = 1; }
    if (bad) return 1;
    struct lat l = {0};
    double rate = 0;
    long rss = 0;
    for (int k = 0; k < clients; k++) {
        for (size_t i = 0; i < sh->c[k].n; i++) lat_add(&l, lat[(size_t)k * CAP + i]);
        rate += (double)sh->c[k].n * 1e9 / (double)sh->c[k].span_ns;
        if (sh->c[k].rss > rss) rss = sh->c[k].rss;
    }
    printf("{\"backend\":\"%s\",\"clients\":%d,\"per_s\":%.1f,\"open_ms\":%.3f,\"client_rss_kib\":%ld,", B[bi].name, clients, rate, (double)sh->c[0].open_ns / 1e6, rss);
    lat_json(stdout, "sign", &l);
    printf("}\n");
    return 0;
}
