/* Finds the unwind rule of a process address: the rule cache, else the tables behind it. */
#ifndef LUMBRE_CORE_NATIVE_TABLES_H
#define LUMBRE_CORE_NATIVE_TABLES_H

#include "bpf/core/native_scratch.h"
#include "bpf/platform/lumbre_kernel.h"

struct rule_search {
  __u64 address; /* in the process, then in the page */
  __u32 base;    /* index of the first element */
  __u32 low;     /* the element wanted is in [low, high) */
  __u32 high;
  __u32 found; /* rule index */
};

/* Turn of a loop: halves the ranges of a process. 1 ends the loop. */
static long halve_ranges(__u32 index, void *context) {
  struct rule_search *search = context;
  __u32 middle = (search->low + search->high) / 2;
  __u32 key = search->base + middle;
  struct lumbre_code_range *range = bpf_map_lookup_elem(&code_ranges, &key);
  if (!range || search->high - search->low <= 1) {
    return 1;
  }
  if (search->address < range->start) {
    search->high = middle;
  } else {
    search->low = middle;
  }
  return 0;
}

/* Turn of a loop: halves the rows of a page. 1 ends the loop. */
static long halve_rows(__u32 index, void *context) {
  struct rule_search *search = context;
  __u32 middle = (search->low + search->high) / 2;
  __u32 place = search->base + middle;
  __u32 key = place / LUMBRE_ROWS_PER_ELEMENT;
  struct lumbre_row_element *element = bpf_map_lookup_elem(&unwind_rows, &key);
  if (!element) {
    return 1;
  }
  struct lumbre_unwind_row row = element->row[place & (LUMBRE_ROWS_PER_ELEMENT - 1)];
  if (search->high - search->low <= 1) {
    search->found = row.rule;
    return 1;
  }
  if (search->address < row.address) {
    search->high = middle;
  } else {
    search->low = middle;
  }
  return 0;
}

/* The rule index at a process address; LUMBRE_NO_RULE where there is none, with enum
 * lumbre_walk_end in the upper half. */
static __always_inline __u32 search_rule(const struct lumbre_native_process *process,
                                         __u64 address) {
  struct rule_search search = {
      .address = address, .base = process->first_range, .high = process->range_count};
  LUMBRE_LOOP(LUMBRE_RULE_CACHE_BITS, halve_ranges, &search);
  __u32 key = search.base + search.low;
  struct lumbre_code_range *range = bpf_map_lookup_elem(&code_ranges, &key);
  if (!range || address < range->start || address >= range->end) {
    return LUMBRE_WALK_NO_RANGE << 16;
  }
  __u64 image_address = address - range->bias;
  search.address = image_address & ((1 << LUMBRE_PAGE_SHIFT) - 1);
  struct lumbre_page_key page_key = {.file = range->file,
                                     .page = image_address >> LUMBRE_PAGE_SHIFT};
  struct lumbre_page *page = bpf_map_lookup_elem(&unwind_pages, &page_key);
  if (!page) {
    return LUMBRE_WALK_NO_PAGE << 16;
  }
  search.base = page->first_row;
  search.low = 0;
  search.high = page->row_count;
  LUMBRE_LOOP(LUMBRE_PAGE_SHIFT + 1, halve_rows, &search);
  return search.found == LUMBRE_NO_RULE ? LUMBRE_WALK_NO_RULE << 16 : search.found;
}

#ifdef LUMBRE_CLASSIC

LUMBRE_GLOBAL __u32 lumbre_search_rule_here(__u64 address) {
  struct native_memory *memory = lumbre_find_walk_memory();
  return memory ? search_rule(&memory->scratch.process, address) : LUMBRE_NO_RULE;
}

#define lumbre_search_rule(process, address) lumbre_search_rule_here(address)

#else

LUMBRE_GLOBAL __u32 lumbre_search_rule(const struct lumbre_native_process *process,
                                       __u64 address) {
  return process ? search_rule(process, address) : LUMBRE_NO_RULE;
}

#endif

/* The rule at a process address; null with *end set where there is none. A cached rule is a single
 * word, so that another CPU never sees half of one. Two keys in one slot differ in 32 further bits
 * of their hash, but for one pair in four billion. */
static __always_inline const struct lumbre_unwind_rule *find_rule(
    const struct lumbre_native_process *process, __u64 address, __u32 *misses, __u32 *end,
    __u32 *index) {
  __u64 hash = (address ^ ((__u64)process->epoch << 40) ^ process->epoch) * 0x9e3779b97f4a7c15ULL;
  __u32 slot = hash >> (64 - LUMBRE_RULE_CACHE_BITS);
  __u32 tag = hash >> 16;
  __u64 *cached = bpf_map_lookup_elem(&rule_cache, &slot);
  if (!cached) {
    return 0;
  }
  __u64 word = *cached;
  __u32 rule = (__u32)word;
  if ((__u32)(word >> 32) != tag || rule == LUMBRE_NO_RULE) {
    ++*misses;
    rule = lumbre_search_rule(process, address);
    if ((rule & 0xffff) == LUMBRE_NO_RULE) {
      *end = rule >> 16;
      return 0;
    }
    *cached = (__u64)tag << 32 | rule;
  }
  *index = rule;
  return bpf_map_lookup_elem(&unwind_rules, &rule);
}

#endif
