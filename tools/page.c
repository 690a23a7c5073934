/* tools/page.c — see page.h */
#include "page.h"

#include <stdarg.h>
#include <stdlib.h>

#include "memory.h"

static const char style[] =
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:76rem;margin:1.5rem auto;"
    "padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem;"
    "border-bottom:1px solid #8888}\n"
    "nav a{margin-right:1rem}\n"
    "table{border-collapse:collapse;margin:.5rem 0}\n"
    "th,td{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}\n"
    "th{font-weight:600;white-space:nowrap}thead th{border-bottom:1px solid #8888}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".own{font-weight:700}.own .bar rect{fill:#d55e00}\n"
    ".bar{width:16rem;height:.8rem;display:block;margin-top:.3rem}.bar rect{fill:#56b4e9}\n"
    "code,pre{font-family:ui-monospace,monospace;font-size:.9em;white-space:pre-wrap}\n"
    "figure{margin:.8rem 0;overflow-x:auto}\n"
    "figure svg{max-width:100%;height:auto;border:1px solid #8888;background:#fff}\n"
    ".good{color:#00805c;font-weight:700}.bad{color:#d55e00;font-weight:700}\n"
    "@media (prefers-color-scheme:dark){.good{color:#2fcfa3}.bad{color:#ff8a3d}}\n"
    "@media print{nav{display:none}section{break-inside:avoid-page}}\n";

static void escape(FILE *to, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", to);
        else if (c == '>')
            fputs("&gt;", to);
        else if (c == '&')
            fputs("&amp;", to);
        else if (c == '"')
            fputs("&quot;", to);
        else if (c < ' ' && c != '\n' && c != '\t') /* XML has no such letters */
            fputs("\xef\xbf\xbd", to);
        else
            fputc(c, to);
    }
}

/* Text that is made first, and escaped then. */
static void escape_list(FILE *to, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static void escape_list(FILE *to, const char *format, va_list arguments)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *made = memory_must(open_memstream(&text, &bytes));
    vfprintf(made, format, arguments);
    if (fclose(made) != 0)
        memory_must(NULL);
    escape(to, text);
    free(text);
}

void page_begin(FILE *to, const char *title)
{
    fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
          to);
    escape(to, title);
    fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    escape(to, title);
    fputs("</h1>\n", to);
}

void page_end(FILE *to)
{
    fputs("</body>\n</html>\n", to);
}

void page_section(FILE *to, const char *id, const char *heading)
{
    fprintf(to, "<section id=\"%s\">\n<h2>", id);
    escape(to, heading);
    fputs("</h2>\n", to);
}

void page_section_end(FILE *to)
{
    fputs("</section>\n", to);
}

void page_text(FILE *to, const char *text)
{
    escape(to, text);
}

void page_printf(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    escape_list(to, format, arguments);
    va_end(arguments);
}

void page_paragraph(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("<p>", to);
    escape_list(to, format, arguments);
    fputs("</p>\n", to);
    va_end(arguments);
}

void page_table(FILE *to)
{
    fputs("<table>\n<tbody>\n", to);
}

void page_row(FILE *to, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("<tr><th scope=\"row\">", to);
    escape(to, name);
    fputs("</th><td>", to);
    escape_list(to, format, arguments);
    fputs("</td></tr>\n", to);
    va_end(arguments);
}

void page_table_end(FILE *to)
{
    fputs("</tbody>\n</table>\n", to);
}

void page_figure(FILE *to, const char *words)
{
    fputs("<figure role=\"img\" aria-label=\"", to);
    escape(to, words);
    fputs("\">\n", to);
}

void page_figure_end(FILE *to)
{
    fputs("</figure>\n", to);
}
