# Assembled by source_lines_entries_test: entries that no compiler would write, or not at will.
  .text
  .globl _start
_start:
  .skip 0x40, 0x90
.Ltext_end:

  .section .debug_abbrev,"",@progbits
  .uleb128 1           # compile unit: language, low_pc, high_pc
  .uleb128 0x11
  .byte 1
  .uleb128 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0
  .uleb128 2           # function that is an instance: low_pc, high_pc, abstract_origin
  .uleb128 0x2e
  .byte 0
  .uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0
  .uleb128 3           # namespace with a name
  .uleb128 0x39
  .byte 1
  .uleb128 0x03, 0x08, 0, 0
  .uleb128 4           # namespace without
  .uleb128 0x39
  .byte 1
  .uleb128 0, 0
  .uleb128 5           # class
  .uleb128 0x02
  .byte 1
  .uleb128 0x03, 0x08, 0, 0
  .uleb128 6           # function that is declared: name, decl_line
  .uleb128 0x2e
  .byte 0
  .uleb128 0x03, 0x08, 0x3b, 0x0b, 0, 0
  .uleb128 7           # function that completes a declaration: low_pc, high_pc, specification
  .uleb128 0x2e
  .byte 1
  .uleb128 0x11, 0x01, 0x12, 0x07, 0x47, 0x13, 0, 0
  .uleb128 8           # inlined instance: low_pc, high_pc, abstract_origin, call_line
  .uleb128 0x1d
  .byte 0
  .uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0x59, 0x0b, 0, 0
  .byte 0

  .section .debug_info,"",@progbits
.Lunit:
  .long .Lunit_end - .Lunit_version
.Lunit_version:
  .value 4
  .long 0
  .byte 8
  .uleb128 1
  .byte 4              # C++
  .quad _start
  .quad .Ltext_end - _start
.Lself:                # its own origin
  .uleb128 2
  .quad _start
  .quad 0x10
  .long .Lself - .Lunit
.Lfirst:               # two that are each other's origin
  .uleb128 2
  .quad _start + 0x10
  .quad 0x10
  .long .Lsecond - .Lunit
.Lsecond:
  .uleb128 2
  .quad 0
  .quad 0x10
  .long .Lfirst - .Lunit
  .uleb128 3
  .string "outer"
  .uleb128 4
  .uleb128 5
  .string "Box"
.Lget:
  .uleb128 6
  .string "get"
  .byte 33
  .byte 0, 0, 0        # end of class and namespaces
.Lfree:
  .uleb128 6
  .string "free_function"
  .byte 44
  .uleb128 7
  .quad _start + 0x20
  .quad 0x10
  .long .Lget - .Lunit
  .uleb128 8
  .quad _start + 0x24
  .quad 4
  .long .Lfree - .Lunit
  .byte 55
  .byte 0              # end of the function
  .uleb128 2           # an origin outside everything
  .quad _start + 0x30
  .quad 0x10
  .long 0x7fffffff
  .byte 0
.Lunit_end:
