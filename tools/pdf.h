/* tools/pdf.h — a picture that is written as SVG and becomes PDF, by rsvg-convert, which is asked for only then
 *
 *   struct pdf pdf;
 *   pdf_open(&pdf, "picture.pdf");
 *   … write SVG to pdf.svg …
 *   good = pdf_close(&pdf);          // false: it was said on stderr that the file could not be written
 */
#ifndef COLL_TOOLS_PDF_H
#define COLL_TOOLS_PDF_H

#include "output.h"

struct pdf {
    FILE *svg; /* temporary */
    struct output out;
};

/* Opens, or refuses the request: "-", and files that cannot be written. One file at a time. */
void pdf_open(struct pdf *pdf, const char *path);

/* Converts, and puts the file in its place; refuses if rsvg-convert is missing or fails. */
bool pdf_close(struct pdf *pdf);

#endif /* COLL_TOOLS_PDF_H */
