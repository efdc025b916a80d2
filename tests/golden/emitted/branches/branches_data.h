/* branches: weights and tables. Generated file, private to branches.c. */
#ifndef BRANCHES_DATA_H
#define BRANCHES_DATA_H

#include <stdint.h>

extern const int8_t branches_bent_table[256];

#endif
