/* Which source line a call belongs to, and which variable lies at an address.
 *
 * Both are written once after linking, by objdump, addr2line and nm, beside the program. */
#define _GNU_SOURCE
#include "runtime.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site *sites;
static size_t site_count;
static struct symbol *symbols;
static size_t symbol_count;


const char *setting(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value == NULL || *value == 0 ? otherwise : value;
}

/* A text file in the folder of the executable; null if there is none. */
char *read_beside_program(const char *name) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  char *slash = strrchr(path, '/');
  if (slash == NULL || (size_t)(slash - path) + strlen(name) + 2 > sizeof path) return NULL;
  strcpy(slash + 1, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return NULL;
  char *text = malloc((size_t)status.st_size + 1);
  size_t used = 0;
  while (used < (size_t)status.st_size) {
    ssize_t count = read(file, text + used, (size_t)status.st_size - used);
    if (count <= 0) break;
    used += (size_t)count;
  }
  text[used] = 0;
  close(file);
  return text;
}

const char *plan_name(void) { return setting("PLAIT_PLAN", "plan.txt"); }

int is_beside_program(const char *name) {
  char *text = read_beside_program(name);
  free(text);
  return text != NULL;
}

static size_t lines_of(const char *text) {
  size_t count = 0;
  for (; *text != 0; text++) count += *text == '\n';
  return count;
}

static int by_pc(const void *one, const void *other) {
  uintptr_t a = ((const struct site *)one)->pc, b = ((const struct site *)other)->pc;
  return (a > b) - (a < b);
}

static int by_address(const void *one, const void *other) {
  const struct symbol *a = one, *b = other;
  return (a->address > b->address) - (a->address < b->address);
}

/* Lines "RETURN_ADDRESS CALL_ADDRESS FILE:LINE", addresses in hexadecimal. */
static void read_sites(char *text) {
  sites = malloc((lines_of(text) + 1) * sizeof *sites);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char *end;
    uintptr_t pc = strtoull(line, &end, 16);
    char *place = strchr(end + (*end == ' '), ' ');
    char *colon = place == NULL ? NULL : strrchr(place, ':');
    if (colon == NULL || place[1] == '?') continue;
    *colon = 0;
    char *slash = strrchr(place, '/');
    struct site *site = &sites[site_count++];
    site->pc = pc;
    site->file = slash == NULL ? place + 1 : slash + 1;
    site->line = atoi(colon + 1);
    for (char *sign = slash == NULL ? place + 1 : slash + 1; *sign != 0; sign++)
      if (*sign == ' ' || (*sign >= '\t' && *sign <= '\r')) *sign = '?';  // as in the plan
  }
  qsort(sites, site_count, sizeof *sites, by_pc);
}

/* Lines "ADDRESS SIZE TYPE NAME" of nm -S; those without a size are left out. */
static void read_symbols(char *text) {
  symbols = malloc((lines_of(text) + 1) * sizeof *symbols);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char *end;
    struct symbol *symbol = &symbols[symbol_count];
    symbol->address = strtoull(line, &end, 16);
    if (*end != ' ') continue;
    symbol->size = strtoull(end + 1, &end, 16);
    if (end[0] != ' ' || end[1] == 0 || end[2] != ' ') continue;
    symbol->name = end + 3;
    symbol_count++;
  }
  qsort(symbols, symbol_count, sizeof *symbols, by_address);
}

/* At the first question: most runs of a hunt ask none. */
static void read_places(void) {
  static int is_done;
  if (is_done) return;
  is_done = 1;
  char *text = read_beside_program("sites.txt");
  if (text != NULL) read_sites(text);
  text = read_beside_program("symbols.txt");
  if (text != NULL) read_symbols(text);
}

const struct site *site_of(const void *pc) {
  read_places();
  size_t low = 0, high = site_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sites[middle].pc < (uintptr_t)pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low < site_count && sites[low].pc == (uintptr_t)pc ? &sites[low] : NULL;
}

const struct symbol *symbol_at(const void *address) {
  read_places();
  size_t low = 0, high = symbol_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (symbols[middle].address <= (uintptr_t)address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return NULL;
  const struct symbol *symbol = &symbols[low - 1];
  return (uintptr_t)address < symbol->address + symbol->size ? symbol : NULL;
}

/* gcc calls the static local x `x.0`, clang calls it `function.x`. */
static int is_named(const char *symbol, const char *name) {
  size_t length = strlen(name), whole = strlen(symbol);
  if (strncmp(symbol, name, length) == 0 && (symbol[length] == 0 || symbol[length] == '.'))
    return 1;
  return whole > length && symbol[whole - length - 1] == '.' &&
         strcmp(symbol + whole - length, name) == 0;
}

/* Null as well if several have that name. */
const struct symbol *symbol_named(const char *name) {
  read_places();
  const struct symbol *found = NULL;
  for (size_t i = 0; i < symbol_count; i++) {
    if (!is_named(symbols[i].name, name)) continue;
    if (found != NULL) return NULL;
    found = &symbols[i];
  }
  return found;
}

const char *place(const void *pc) {
  static char texts[4][PATH_MAX];
  static int next;
  const struct site *site = site_of(pc);
  char *text = texts[next++ % 4];
  if (site == NULL) return "an unknown place";
  snprintf(text, sizeof texts[0], "%s:%d", site->file, site->line);
  return text;
}
