/* Schedules of others: whatever a text holds, it is refused with a sentence, or refuted, or its plans are read and proven
 * within their memory. */
#include "coll/lab/import.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static coll_import it;
    const coll_import_options options = {.most = 1 << 16};
    coll_sentence why;
    char *text = bytes_of(data, size);
    const coll_import_result result = coll_import_read(&it, text, size, &options, &why);
    if (result == COLL_IMPORT_REFUSED) {
        must(strncmp(why.text, "line ", 5) == 0, "refused without a line: %s", why.text);
    } else if (result == COLL_IMPORT_WRONG) {
        must(!it.report.ok && it.report.sentence[0], "refuted without a sentence");
    } else {
        must(it.p > 0 && it.plans, "there are no plans");
        for (uint32_t rank = 0; rank < it.p; rank++) {
            coll_action acts[COLL_STEP_MAX];
            const size_t steps = coll_plan_steps(&it.plans[rank], rank);
            for (size_t s = 0; s < steps; s++)
                must(coll_plan_step(&it.plans[rank], rank, s, acts) <= COLL_STEP_MAX,
                     "too many actions");
        }
        must(coll_import_prove(&it) || it.report.sentence[0], "refuted without a sentence");
    }
    coll_import_release(&it);
    free(text);
    return 0;
}
