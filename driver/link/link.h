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
/* An input other than the i-th has OpenMP in it. */
bool drv_inputs_need_openmp(const struct options *, unsigned i);
/* A link without OpenMP and libraries of ours ended with this exit code and these messages, or made
 * this program: would it with them become another? */
bool drv_link_asks_for_more(int code, const char *errors, const char *program);
void drv_finish_link(const char *output, const char *linked); /* under its name */
/* ------------------------------------------------------------------ at_once.c */
struct job;
/* The only source, compiled and linked together: an exit code; -1: nothing has happened, it goes
 * the usual way. */
int drv_link_at_once(struct job *);
#endif
