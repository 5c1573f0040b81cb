// SPDX-License-Identifier: GPL-2.0-only
// in_turn DIR TIMES: executes several programs under one pctctl. DIR/commands has one command a
// line, words separated by single blanks. DIR/next is a number that starts as 0. The first TIMES
// runs execute the first command, the next TIMES runs the second, and so on. All further runs
// execute the last command.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_TEXT = 65536, MAX_WORDS = 16 };

static char text[MAX_TEXT];

int main(int argc, char** argv) {
    int directory = argc == 3 ? open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        return 70;
    int next = openat(directory, "next", O_RDWR | O_CLOEXEC);
    int commands = openat(directory, "commands", O_RDONLY | O_CLOEXEC);
    // Two runs at a time take different numbers.
    _Atomic unsigned* number =
        mmap(NULL, sizeof *number, PROT_READ | PROT_WRITE, MAP_SHARED, next, 0);
    if (number == MAP_FAILED || read(commands, text, sizeof text - 1) <= 0)
        return 71;
    unsigned turn = atomic_fetch_add(number, 1) / (unsigned)atoi(argv[2]);
    char* line = text;
    for (char* end; turn > 0 && (end = strchr(line, '\n')) && end[1]; --turn)
        line = end + 1;
    line[strcspn(line, "\n")] = '\0';
    char* words[MAX_WORDS + 1] = {NULL};
    int n = 0;
    for (char* word = strtok(line, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    execv(words[0], words);
    return 72;
}
