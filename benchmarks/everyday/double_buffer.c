/* Double buffering: a writer draws the next frame into the back buffer while readers look at the
 * front buffer. It swaps the two when the readers have seen the front one; every reader sees every
 * frame.
 *
 * The mistake: a reader says that it has seen the frame when it has only fetched the pointer. The
 * writer may swap, and draw where the reader still reads.
 * Violates: no-data-race; and assertions, since frames get mixed (both with ITEMS of 3 or more).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* frames */
#endif
#ifndef READERS
#define READERS 2
#endif
#define PIXELS 4

struct frame {
  int pixels[PIXELS];
};

struct screen {
  pthread_mutex_t lock;
  pthread_cond_t is_published; /* `published` has changed */
  pthread_cond_t is_seen;      /* `unseen` has become 0 */
  struct frame *front, *back;  /* the back one belongs to the writer */
  int published;               /* the number of the front frame */
  int unseen;                  /* readers that have not seen it */
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void publish(struct screen *screen, int number) {
  pthread_mutex_lock(&screen->lock);
  while (screen->unseen > 0)
    pthread_cond_wait(&screen->is_seen, &screen->lock);
  struct frame *drawn = screen->back;
  screen->back = screen->front;
  screen->front = drawn;
  screen->published = number;
  screen->unseen = READERS;
  pthread_cond_broadcast(&screen->is_published);
  pthread_mutex_unlock(&screen->lock);
}

static void *write_frames(void *argument) {
  struct screen *screen = argument;
  for (int number = 1; number <= ITEMS; number++) {
    struct frame *back = screen->back; /* only the writer changes it */
    for (int i = 0; i < PIXELS; i++)
      back->pixels[i] = number;
    publish(screen, number);
  }
  return NULL;
}

static void say_seen(struct screen *screen) {
  assert(screen->unseen > 0);
  if (--screen->unseen == 0)
    pthread_cond_signal(&screen->is_seen);
}

static void *read_frames(void *argument) {
  struct screen *screen = argument;
  for (int number = 1; number <= ITEMS; number++) {
    pthread_mutex_lock(&screen->lock);
    while (screen->published < number)
      pthread_cond_wait(&screen->is_published, &screen->lock);
    assert(screen->published == number);
    const struct frame *front = screen->front;
#ifdef BROKEN
    say_seen(screen);
#endif
    pthread_mutex_unlock(&screen->lock);
    for (int i = 0; i < PIXELS; i++)
      assert(front->pixels[i] == number);
#ifndef BROKEN
    pthread_mutex_lock(&screen->lock);
    say_seen(screen);
    pthread_mutex_unlock(&screen->lock);
#endif
  }
  return NULL;
}

int main(void) {
  pthread_t writer, readers[READERS];
  struct frame *frames = calloc(2, sizeof *frames);
  if (frames == NULL) {
    perror("calloc");
    exit(EXIT_FAILURE);
  }
  struct screen screen = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .is_published = PTHREAD_COND_INITIALIZER,
                          .is_seen = PTHREAD_COND_INITIALIZER,
                          .front = &frames[0],
                          .back = &frames[1]};
  check(pthread_create(&writer, NULL, write_frames, &screen), "pthread_create");
  for (int i = 0; i < READERS; i++)
    check(pthread_create(&readers[i], NULL, read_frames, &screen), "pthread_create");
  check(pthread_join(writer, NULL), "pthread_join");
  for (int i = 0; i < READERS; i++)
    check(pthread_join(readers[i], NULL), "pthread_join");
  assert(screen.published == ITEMS && screen.unseen == 0);
  pthread_cond_destroy(&screen.is_seen);
  pthread_cond_destroy(&screen.is_published);
  pthread_mutex_destroy(&screen.lock);
  free(frames);
  return 0;
}
