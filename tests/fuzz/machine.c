/* Files of machines: what is read is read again from what is written, and written the same; else there is a
 * sentence. */
#include "coll/lab/model.h"
#include "fuzz.h"

enum { MOST = 1 << 18 };

static void text_out(coll_machine_file *m, char *text)
{
    FILE *file = tmpfile();
    size_t n;
    must(file, "no file");
    coll_machine_file_write(m, file);
    rewind(file);
    n = fread(text, 1, MOST - 1, file);
    must(n < MOST - 1, "too long");
    text[n] = '\0';
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static coll_machine_file machine, again;
    static char first[MOST], second[MOST];
    char *text = text_of(data, size, 1 << 13);
    coll_sentence why = {""};
    if (!coll_machine_file_read(&machine, text, "its", &why)) {
        must(why.text[0], "refused without a sentence");
    } else {
        text_out(&machine, first);
        must(coll_machine_file_read(&again, first, "again", &why), "%s", why.text);
        text_out(&again, second);
        must(strcmp(first, second) == 0, "%s becomes %s", first, second);
        for (double bytes = 0; machine.plogp.n > 0 && bytes < 1e9; bytes = 7 * bytes + 1)
            for (int column = 0; column < COLL_PLOGP_COLUMNS; column++)
                must(coll_plogp_us(&machine.plogp, (coll_plogp_column)column, bytes) >= 0,
                     "less than no time");
    }
    free(text);
    return 0;
}
