/* tools/page.h — an HTML page in one file: its head and style, sections, tables, text
 *
 *   page_begin(file, "allreduce ring");
 *   page_section(file, "plan", "Plan");
 *   page_table(file);
 *   page_row(file, "rounds", "%u", 14);          // text, in which < and & may stand
 *   page_table_end(file);
 *   page_section_end(file);
 *   page_end(file);
 *
 * The page needs no script, no font and no other file, is legible on light and dark screens and on paper, and is
 * well-formed XML. Whether all of it was written the file's error flag says.
 */
#ifndef COLL_TOOLS_PAGE_H
#define COLL_TOOLS_PAGE_H

#include <stdio.h>

void page_begin(FILE *to, const char *title);
void page_end(FILE *to);

/* A section, to which #id leads. */
void page_section(FILE *to, const char *id, const char *heading);
void page_section_end(FILE *to);

/* Writes text as HTML has it. */
void page_text(FILE *to, const char *text);
void page_printf(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A paragraph of text. */
void page_paragraph(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table of names and what they are. */
void page_table(FILE *to);
void page_row(FILE *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_table_end(FILE *to);

/* A picture that is written between both: SVG. `words` say what it shows to who cannot see it. */
void page_figure(FILE *to, const char *words);
void page_figure_end(FILE *to);

#endif /* COLL_TOOLS_PAGE_H */
