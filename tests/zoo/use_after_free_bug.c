// SPDX-License-Identifier: GPL-2.0-only
// zoo: bug=use-after-free-at-exit depth=2 threads=2 outcome=signal points=pthread
//
// The bug of pbzip2 (Fig. 2 of the paper): main is told that the work is done by a consumer that
// still holds the lock of the queue, frees the queue and exits; the consumer then unlocks a mutex
// that is gone. The queue has a page of its own, so that touching it after the release faults.
//
// Constraints: release by main -> unlock by the consumer, unlock -> exit of the process.
// Depth 2. The second constraint is what the final wait of section 4.2 gives away for nothing:
// with it a main that outranks the consumer is enough, without it the bug cannot be seen unless
// main is also demoted before its exit.
// n = 2: main, consumer.
// Shows as: SIGSEGV in the consumer.
#include "zoo.h"
#include <semaphore.h>

struct queue {
    pthread_mutex_t lock;
    int blocks;
};

static sem_t finished;

static void* consume(void* argument) {
    struct queue* queue = argument;
    pthread_mutex_lock(&queue->lock);
    queue->blocks = 0;
    sem_post(&finished);
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

int main(void) {
    struct queue* queue =
        mmap(NULL, sizeof *queue, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    zoo_need(queue != MAP_FAILED, "mmap");
    pthread_mutex_init(&queue->lock, NULL);
    queue->blocks = 1;
    zoo_need(sem_init(&finished, 0, 0) == 0, "sem_init");

    pthread_t consumer = zoo_start(consume, queue);
    sem_wait(&finished);
#ifdef FIXED
    zoo_join(consumer);
#else
    pthread_detach(consumer);
#endif
    munmap(queue, sizeof *queue);
    return 0;
}
