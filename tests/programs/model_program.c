// SPDX-License-Identifier: GPL-2.0-only
// model_program DIR: executes an abstract program of tests/model with real threads, or processes.
// DIR/programs has one program a line (tests/model/executable.h). Each run takes the next line.
// Afterwards DIR/marks tells what happened, however the run has ended. It has two characters for
// each event: the thread's small letter before it, the capital letter after it. They are written
// without a lock: under a correct scheduler one thread executes at a time, and that is what is
// tested.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// RECORD and TRIES: as in tests/vm/model_test.cc and tests/model/executable.h.
enum { MAX_THREADS = 16, MAX_OBJECTS = 64, RECORD = 1024, TRIES = 40, BROKEN = 70 };

// An access is a signal to a condition variable that nobody waits for. Reading is taking a read
// lock that nobody takes for writing. Each is one step and never waits. Both may act on the same
// object, since they use different words in it.
union object {
    pthread_cond_t cond;
    pthread_rwlock_t rwlock;
    pthread_mutex_t mutex;
    sem_t semaphore;
};

static union object* objects;
static const char* programs[MAX_THREADS];
static pthread_t threads[MAX_THREADS];
static volatile char* marks; // in the record of this run
static volatile unsigned* nr_marks;

static void need(int worked, const char* what) {
    if (worked)
        return;
    perror(what);
    _exit(BROKEN);
}

static void mark(char character) {
    unsigned at = *nr_marks;
    if (at < RECORD - sizeof(unsigned))
        marks[at] = character;
    *nr_marks = at + 1;
}

static void* thread(void* number);

// What a thread does at one place in its text.
struct event {
    char operation;
    long operand, mutex; // the latter for 'w'
};

// The end of the event's text, or NULL if there is none.
static const char* next_event(const char* text, struct event* event) {
    char* end;
    if (*text < 'a' || *text > 'z')
        return NULL;
    event->operation = *text;
    event->operand = strtol(text + 1, &end, 10);
    if (*end == ',')
        event->mutex = strtol(end + 1, &end, 10);
    return end;
}

// Whether it is done: trying may fail.
static int execute(const struct event* event) {
    long operand = event->operand;
    union object* object = &objects[operand];
    switch (event->operation) {
    case 'a':
        pthread_cond_signal(&object->cond);
        break;
    case 'r':
        pthread_rwlock_rdlock(&object->rwlock);
        break;
    case 'l':
        pthread_mutex_lock(&object->mutex);
        break;
    case 'u':
        pthread_mutex_unlock(&object->mutex);
        break;
    case 'p':
        sem_wait(&object->semaphore);
        break;
    case 'v':
        sem_post(&object->semaphore);
        break;
    case 't':
        return sem_trywait(&object->semaphore) == 0;
    case 'w':
        pthread_cond_wait(&object->cond, &objects[event->mutex].mutex);
        break;
    case 's':
        pthread_cond_signal(&object->cond);
        break;
    case 'b':
        pthread_cond_broadcast(&object->cond);
        break;
    case 'f':
        need(pthread_create(&threads[operand], NULL, thread, (void*)operand) == 0,
             "pthread_create");
        break;
    case 'j':
        pthread_join(threads[operand], NULL);
        break;
    default:
        _exit(BROKEN);
    }
    return 1;
}

static void* thread(void* number) {
    long self = (long)number;
    struct event event;
    for (const char* next = programs[self]; (next = next_event(next, &event));) {
        int done = 0;
        for (int try = 0; try < TRIES && !done; try++) {
            mark((char)('a' + self));
            done = execute(&event);
            mark((char)('A' + self));
        }
    }
    return NULL;
}

static void* map(size_t size, int flags, int file) {
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
    need(memory != MAP_FAILED, "mmap");
    return memory;
}

static char* read_all(int file, size_t size) {
    char* text = calloc(1, size + 1);
    need(text != NULL, "calloc");
    need(read(file, text, size) == (ssize_t)size, "read");
    return text;
}

// Where the text of each thread begins, and whether they are processes.
static int parse(char* line, long* nr_threads) {
    int processes = line[0] == 'P';
    char* rest = line + 2;
    for (*nr_threads = 0; rest && *nr_threads < MAX_THREADS; (*nr_threads)++) {
        programs[*nr_threads] = rest + (*rest == ' ');
        rest = strchr(rest, '/');
        if (rest)
            rest++;
    }
    return processes;
}

// The line of this run, and its record: the first four bytes of the file tell the runs so far, the
// first four of a record the number of its marks.
static char* next_program(const char* directory) {
    struct stat status;
    need(chdir(directory) == 0, directory);
    int file = open("programs", O_RDONLY);
    need(file >= 0 && fstat(file, &status) == 0, "programs");
    char* line = read_all(file, (size_t)status.st_size);
    file = open("marks", O_RDWR);
    need(file >= 0 && fstat(file, &status) == 0, "marks");
    char* records = map((size_t)status.st_size, 0, file);
    unsigned run = ++*(unsigned*)records;
    need((off_t)(run + 1) * RECORD <= status.st_size, "too many runs");
    nr_marks = (unsigned*)(records + run * (size_t)RECORD);
    marks = (char*)(nr_marks + 1);
    *nr_marks = 0;
    while (--run > 0) {
        line = strchr(line, '\n');
        need(line != NULL, "too few programs");
        line++;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

// Zeroed memory is a lock for reading, or a condition variable nobody waits for, that is of use
// here in any case.
static void initialize(int processes, long nr_threads) {
    pthread_mutexattr_t attributes;
    pthread_condattr_t condition_attributes;
    struct event event;
    objects = map(MAX_OBJECTS * sizeof(*objects), MAP_ANONYMOUS, -1);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes,
                                 processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_condattr_init(&condition_attributes);
    pthread_condattr_setpshared(&condition_attributes,
                                processes ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    for (long t = 0; t < nr_threads; t++) {
        for (const char* next = programs[t]; (next = next_event(next, &event));) {
            need(event.operand >= 0 && event.operand < MAX_OBJECTS, "object");
            union object* object = &objects[event.operand];
            if (event.operation == 'l')
                pthread_mutex_init(&object->mutex, &attributes);
            else if (event.operation == 'p' || event.operation == 'v' || event.operation == 't')
                sem_init(&object->semaphore, processes, 0);
            else if (event.operation == 'w')
                pthread_cond_init(&object->cond, &condition_attributes);
        }
    }
}

int main(int argc, char** argv) {
    long nr_threads;
    if (argc != 2)
        return BROKEN;
    int processes = parse(next_program(argv[1]), &nr_threads);
    initialize(processes, nr_threads);
    atomic_int* left = map(sizeof(*left), MAP_ANONYMOUS, -1); // children that have not ended
    *left = processes ? (int)nr_threads - 1 : 0;
    for (long child = 1; processes && child < nr_threads; child++) {
        // fork() takes locks in some C libraries (glibc 2.41), which are steps.
        pid_t pid = (pid_t)syscall(SYS_fork);
        need(pid >= 0, "fork");
        if (pid == 0) {
            thread((void*)child);
            if (atomic_fetch_sub(left, 1) == 1)
                syscall(SYS_futex, left, FUTEX_WAKE, 1, NULL, NULL, 0);
            _exit(0);
        }
    }
    thread((void*)0);
    // Waiting for the children themselves would wake this process at the end of each, to compete
    // with those that are left.
    for (int count; (count = atomic_load(left)) > 0;)
        syscall(SYS_futex, left, FUTEX_WAIT, count, NULL, NULL, 0);
    return 0;
}
