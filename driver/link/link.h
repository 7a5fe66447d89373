/* link.h - the link of a program: the host's (link.c), and before its end that of device code which
 * files need of each other (device_link.c). */
#ifndef OMPGPU_DRIVER_LINK_H
#define OMPGPU_DRIVER_LINK_H
#include "driver/options.h"

/* ------------------------------------------------------------------ device link (device_link.c) */
/* After a host link: *object is one more object to link with, when files of the program need device
 * code of each other, else NULL. */
int drv_device_link(const struct options *, const char *linked, const char **object);
int drv_device_link_finish(const char *linked); /* after the second host link */
/* ------------------------------------------------------------------ link (link.c) */
/* objects[i]: the object of the i-th input of the command line, or its own path. */
int drv_link(const struct options *, const char *const *objects);
#endif
