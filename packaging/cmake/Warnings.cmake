# lumbre_warnings(TARGET): the warnings that all of our own code is held to.
function(lumbre_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion -Werror)
endfunction()
