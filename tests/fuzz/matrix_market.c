/* Matrices in the Matrix Market format: what is taken is a matrix whose rows and columns are in order and
 * exist. */
#include "examples/cg/csr.c"
#include "examples/cg/matrix_market.c"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], sentence[256];
    FILE *file = file_of(data, size, path, sizeof path);
    csr a;
    if (!matrix_market_read(&a, path, sentence, sizeof sentence)) {
        must(sentence[0] && !a.start, "refused without a sentence, or with memory");
    } else {
        must(a.start[0] == 0, "the first row begins at %zu", a.start[0]);
        for (size_t i = 0; i < a.rows; i++) {
            must(a.start[i] < a.start[i + 1], "row %zu is empty", i);
            for (size_t k = a.start[i]; k < a.start[i + 1]; k++) {
                must(a.column[k] < a.rows, "column %u of %zu", a.column[k], (size_t)a.rows);
                must(k == a.start[i] || a.column[k - 1] < a.column[k], "columns in disorder");
                must(a.value[k] - a.value[k] == 0, "a value that is no number");
            }
            must(csr_at(&a, (uint32_t)i, (uint32_t)i) > 0, "row %zu has no diagonal", i);
        }
        csr_free(&a);
    }
    fclose(file);
    return 0;
}
