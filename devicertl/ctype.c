/* ctype.c - classes of characters, of the locale "C".
 *
 * The headers of the GNU C library read them from tables with these bits.  On the emulated device,
 * too, they are the image's own: those of the process are memory of the host. */
#include "devicertl/arch.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define IN(c, first, last) ((c) >= (first) && (c) <= (last))
#define UPPER(c) IN(c, 'A', 'Z')
#define LOWER(c) IN(c, 'a', 'z')
#define DIGIT(c) IN(c, '0', '9')
#define ALPHA(c) (UPPER(c) || LOWER(c))
#define GRAPH(c) IN(c, '!', '~')
#define BLANK(c) ((c) == ' ' || (c) == '\t')

enum {
    ALNUM_BIT = 0x8,
    PUNCT_BIT = 0x4,
    CNTRL_BIT = 0x2,
    BLANK_BIT = 0x1,
    GRAPH_BIT = 0x8000,
    PRINT_BIT = 0x4000,
    SPACE_BIT = 0x2000,
    XDIGIT_BIT = 0x1000,
    DIGIT_BIT = 0x800,
    ALPHA_BIT = 0x400,
    LOWER_BIT = 0x200,
    UPPER_BIT = 0x100
};
#define CLASS(c)                                                                                   \
    ((UPPER(c) ? UPPER_BIT : 0) | (LOWER(c) ? LOWER_BIT : 0) | (ALPHA(c) ? ALPHA_BIT : 0) |        \
     (DIGIT(c) ? DIGIT_BIT : 0) | (BLANK(c) ? BLANK_BIT : 0) | (GRAPH(c) ? GRAPH_BIT : 0) |        \
     (DIGIT(c) || IN(c, 'A', 'F') || IN(c, 'a', 'f') ? XDIGIT_BIT : 0) |                           \
     ((c) == ' ' || IN(c, '\t', '\r') ? SPACE_BIT : 0) | (IN(c, ' ', '~') ? PRINT_BIT : 0) |       \
     ((c) < ' ' || (c) == 127 ? CNTRL_BIT : 0) |                                                   \
     (GRAPH(c) && !ALPHA(c) && !DIGIT(c) ? PUNCT_BIT : 0) |                                        \
     (ALPHA(c) || DIGIT(c) ? ALNUM_BIT : 0))
#define CLASSES_4(c) CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define CLASSES_16(c) CLASSES_4(c), CLASSES_4((c) + 4), CLASSES_4((c) + 8), CLASSES_4((c) + 12)

/* Of a character, or EOF, which is in none as the bytes beyond ASCII are. */
static const u16 classes[384] = { [128] = CLASSES_16(0), CLASSES_16(16), CLASSES_16(32),
                                  CLASSES_16(48),        CLASSES_16(64), CLASSES_16(80),
                                  CLASSES_16(96),        CLASSES_16(112) };
static const u16 *const classes_at = classes + 128;

HIDDEN const u16 **__ctype_b_loc(void);
HIDDEN const u16 **__ctype_b_loc(void) { return (const u16 **)&classes_at; }

HIDDEN int tolower(int);
HIDDEN int toupper(int);
HIDDEN int tolower(int c) { return UPPER(c) ? c + ('a' - 'A') : c; }
HIDDEN int toupper(int c) { return LOWER(c) ? c - ('a' - 'A') : c; }

/* Both as functions and as what a macro reads. */
#define ROW_4(to, c) to(c), to((c) + 1), to((c) + 2), to((c) + 3)
#define ROW_16(to, c) ROW_4(to, c), ROW_4(to, (c) + 4), ROW_4(to, (c) + 8), ROW_4(to, (c) + 12)
#define ROW_128(to, c)                                                                             \
    ROW_16(to, c), ROW_16(to, (c) + 16), ROW_16(to, (c) + 32), ROW_16(to, (c) + 48),               \
        ROW_16(to, (c) + 64), ROW_16(to, (c) + 80), ROW_16(to, (c) + 96), ROW_16(to, (c) + 112)
#define TO_LOWER(c) (UPPER(c) ? (c) + ('a' - 'A') : (c))
#define TO_UPPER(c) (LOWER(c) ? (c) - ('a' - 'A') : (c))
static const int lower[384] = { ROW_128(TO_LOWER, -128), ROW_128(TO_LOWER, 0),
                                ROW_128(TO_LOWER, 128) };
static const int upper[384] = { ROW_128(TO_UPPER, -128), ROW_128(TO_UPPER, 0),
                                ROW_128(TO_UPPER, 128) };
static const int *const lower_at = lower + 128, *const upper_at = upper + 128;

HIDDEN const int **__ctype_tolower_loc(void);
HIDDEN const int **__ctype_toupper_loc(void);
HIDDEN const int **__ctype_tolower_loc(void) { return (const int **)&lower_at; }
HIDDEN const int **__ctype_toupper_loc(void) { return (const int **)&upper_at; }

#define IS(name, bit)                                                                              \
    HIDDEN int name(int);                                                                          \
    HIDDEN int name(int c) { return classes_at[c] & (bit); }
IS(isalnum, ALNUM_BIT)
IS(isalpha, ALPHA_BIT)
IS(isblank, BLANK_BIT)
IS(iscntrl, CNTRL_BIT)
IS(isdigit, DIGIT_BIT)
IS(isgraph, GRAPH_BIT)
IS(islower, LOWER_BIT)
IS(isprint, PRINT_BIT)
IS(ispunct, PUNCT_BIT)
IS(isspace, SPACE_BIT)
IS(isupper, UPPER_BIT)
IS(isxdigit, XDIGIT_BIT)
