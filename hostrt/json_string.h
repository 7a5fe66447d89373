/* json_string.h - a string in a JSON file, for the libraries that write profiles. */
#ifndef OMPGPU_JSON_STRING_H
#define OMPGPU_JSON_STRING_H
#include <stdio.h>

static inline void json_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(f, "\\u%04x", (unsigned)*s);
        else
            fputc(*s, f);
    fputc('"', f);
}
#endif
