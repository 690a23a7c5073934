/* bench/reproduce.c — numbers and figures of the five papers again, as a report with pictures
 *
 *   reproduce FOLDER [PAPER]…     papers: moody, littlefield, dpml, kumar, atcom; all without any
 *
 * make reproduce runs it. Ends with 1 if a statement of the report does not hold, or a number is not within
 * its tolerance.
 */
#include <string.h>

#include "reproduce/papers.h"
#include "reproduce/report.h"

static const struct paper {
    const char *name;
    void (*reproduce)(void);
} papers[] = {{"moody", reproduce_moody},
              {"littlefield", reproduce_littlefield},
              {"dpml", reproduce_dpml},
              {"kumar", reproduce_kumar},
              {"atcom", reproduce_atcom}};
enum { PAPERS = sizeof papers / sizeof papers[0] };

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "reproduce: the folder of the report is missing: reproduce FOLDER\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        size_t k = 0;
        while (k < PAPERS && strcmp(papers[k].name, argv[i]) != 0)
            k++;
        if (k == PAPERS) {
            fprintf(stderr, "reproduce: there is no paper \"%s\"; there are", argv[i]);
            for (k = 0; k < PAPERS; k++)
                fprintf(stderr, "%s %s", k ? "," : "", papers[k].name);
            fprintf(stderr, "\n");
            return 2;
        }
    }
    report_begin(argv[1]);
    for (size_t k = 0; k < PAPERS; k++) {
        bool wanted = argc == 2;
        for (int i = 2; i < argc; i++)
            wanted = wanted || strcmp(papers[k].name, argv[i]) == 0;
        if (wanted)
            papers[k].reproduce();
    }
    return report_end() ? 0 : 1;
}
