/* Code objects: proves that a frame points at one, and sends its names the first time. */
#ifndef LUMBRE_CORE_PYTHON_CODE_H
#define LUMBRE_CORE_PYTHON_CODE_H

#include "bpf/core/record.h"

#define LUMBRE_CODE_WORDS 19 /* the fields needed lie in bytes 8 to 152: ob_type first */
#define LUMBRE_CODE_START 8

static __always_inline __u64 code_word(const __u64 *words, __u32 byte_offset) {
  __u32 index = (byte_offset - LUMBRE_CODE_START) >> 3;
  return index < LUMBRE_CODE_WORDS ? words[index] : 0;
}

/* Copies the data of a str object; *kind 0 is ASCII, else bytes per code point. */
static __always_inline __u32 read_python_text(const struct lumbre_python_layout *layout,
                                              __u64 object, __u8 *into, __u32 *kind,
                                              __u32 *total) {
  __u64 length = 0;
  __u32 state = 0;
  *kind = 0;
  *total = 0;
  if (bpf_probe_read_user(&length, sizeof(length), (void *)(object + layout->unicode_length)) ||
      bpf_probe_read_user(&state, sizeof(state), (void *)(object + layout->unicode_state))) {
    return 0;
  }
  __u32 width = (state >> layout->unicode_kind_shift) & 7;
  int is_ascii = (state >> layout->unicode_ascii_shift) & 1;
  __u64 data = object + (is_ascii ? layout->unicode_ascii_data : layout->unicode_compact_data);
  if (length > 1 << 20) {
    return 0;
  }
  __u64 size = length * (width ? width : 1);
  *total = size;
  *kind = is_ascii ? 0 : width;
  if (size > LUMBRE_CODE_TEXT_BYTES) {
    size = LUMBRE_CODE_TEXT_BYTES;
  }
  return bpf_probe_read_user(into, size, (void *)data) ? 0 : size;
}

static __always_inline void read_line_table(const struct lumbre_python_layout *layout,
                                            __u64 object, struct lumbre_python_code *code) {
  __u64 size = 0;
  code->line_table_bytes = 0;
  code->line_table_total_bytes = 0;
  if (bpf_probe_read_user(&size, sizeof(size), (void *)(object + layout->bytes_size)) ||
      size > 1 << 24) {
    return;
  }
  code->line_table_total_bytes = size;
  if (size > LUMBRE_CODE_LINE_TABLE_BYTES) {
    size = LUMBRE_CODE_LINE_TABLE_BYTES;
  }
  if (!bpf_probe_read_user(code->line_table, size, (void *)(object + layout->bytes_data))) {
    code->line_table_bytes = size;
  }
}

static __always_inline void send_code_object(const struct lumbre_python_process *process,
                                             const struct capture *capture,
                                             const struct lumbre_code_key *key, __u32 pid,
                                             const __u64 *words) {
  const struct lumbre_python_layout *layout = &process->layout;
  __u32 one = 1;
  struct lumbre_python_code *code = bpf_ringbuf_reserve(&events, sizeof(*code), 0);
  if (!code) {
    count(LUMBRE_COUNTER_CODE_NO_ROOM);
    return;
  }
  fill_header(&code->header, LUMBRE_RECORD_PYTHON_CODE, capture);
  code->address_space = key->address_space;
  code->code = key->code;
  code->check = key->check;
  code->pid = pid;
  code->version = layout->version;
  code->padding = 0;
  code->first_line = code_word(words, layout->code_first_line & ~7U) >>
                     ((layout->code_first_line & 4) * 8);
  code->name_bytes = read_python_text(layout, code_word(words, layout->code_name), code->name,
                                      &code->name_kind, &code->name_total_bytes);
  code->filename_bytes = read_python_text(layout, code_word(words, layout->code_filename),
                                          code->filename, &code->filename_kind,
                                          &code->filename_total_bytes);
  read_line_table(layout, code_word(words, layout->code_line_table), code);
  bpf_ringbuf_submit(code, BPF_RB_NO_WAKEUP);
  bpf_map_update_elem(&sent_codes, key, &one, BPF_ANY);
  count(LUMBRE_COUNTER_CODE_RECORDS);
}

/* Fills key->check, by words read from key->code; 0, or why that is no code object. */
static __always_inline __u32 check_code_object(const struct lumbre_python_process *process,
                                               const struct capture *capture,
                                               struct lumbre_code_key *key, __u32 pid,
                                               __u64 *words) {
  const struct lumbre_python_layout *layout = &process->layout;
  if (bpf_probe_read_user(words, LUMBRE_CODE_WORDS * sizeof(*words),
                          (void *)(key->code + LUMBRE_CODE_START))) {
    return LUMBRE_PYTHON_FAULT;
  }
  if (words[0] != process->code_type_address) {
    return LUMBRE_PYTHON_NOT_A_FRAME;
  }
  /* A new code object at the address of a freed one differs in at least one of these. */
  key->check = code_word(words, layout->code_name) ^
               (code_word(words, layout->code_line_table) << 16) ^
               (code_word(words, layout->code_first_line & ~7U) << 40);
  if (!bpf_map_lookup_elem(&sent_codes, key)) {
    send_code_object(process, capture, key, pid, words);
  }
  return 0;
}

#endif
