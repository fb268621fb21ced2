function(check_language language)
  set(CMAKE_${language}_COMPILER nvcc PARENT_SCOPE)
endfunction()
