/* Bad: two threads write one variable without an order. ThreadSanitizer must say so. */
#include <pthread.h>

static int shared;

static void *add(void *unused)
{
    for (int i = 0; i < 10000; i++)
        shared++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    return shared < 0;
}
