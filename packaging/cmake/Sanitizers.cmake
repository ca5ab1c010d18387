# -DLUMBRE_SANITIZE=address,undefined builds everything with those sanitizers.
set(LUMBRE_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")
if(LUMBRE_SANITIZE)
  add_compile_options(-fsanitize=${LUMBRE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LUMBRE_SANITIZE})
endif()
