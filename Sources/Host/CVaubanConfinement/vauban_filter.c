#define _GNU_SOURCE
#include "CVaubanConfinement.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

bool vauban_can_filter_calls(void) { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

static uint32_t action(enum vauban_verdict verdict) {
    switch (verdict) {
    case VAUBAN_ALLOW: return SCMP_ACT_ALLOW;
    case VAUBAN_KILL: return SCMP_ACT_KILL_PROCESS;
    case VAUBAN_REFUSE: break;
    }
    return SCMP_ACT_ERRNO(EPERM);
}

static int add(scmp_filter_ctx filter, const struct vauban_call_rule *rule) {
    int number = seccomp_syscall_resolve_name(rule->call);
    if (number == __NR_SCMP_ERROR) return 0;
    struct scmp_arg_cmp condition = {.arg = rule->argument, .datum_a = rule->value};
    switch (rule->comparison) {
    case VAUBAN_ANY: return seccomp_rule_add_array(filter, action(rule->verdict), number, 0, NULL);
    case VAUBAN_EQUAL: condition.op = SCMP_CMP_EQ; break;
    case VAUBAN_NOT_EQUAL: condition.op = SCMP_CMP_NE; break;
    case VAUBAN_MASKED:
        condition.op = SCMP_CMP_MASKED_EQ;
        condition.datum_a = rule->mask;
        condition.datum_b = rule->value;
        break;
    }
    return seccomp_rule_add_array(filter, action(rule->verdict), number, 1, &condition);
}

int vauban_filter_calls(const struct vauban_call_rule *rules, int count) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter) return -ENOMEM;
    int problem = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!problem) problem = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    /* Each Vauban program sets no_new_privs earlier. */
    if (!problem) problem = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
    /* A binary tree is faster than a list; older libraries lack it. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (int index = 0; index < count && !problem; index++) {
        problem = add(filter, &rules[index]);
        /* A call that this architecture does not have needs no rule. */
        if (problem == -EDOM) problem = 0;
    }
    if (!problem) problem = seccomp_load(filter);
    seccomp_release(filter);
    return problem;
}
