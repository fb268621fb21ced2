# cmake -DOUTPUT=file.cpp -P embed_sources.cmake file... writes the texts of the kernel templates to a C++ source. File names are
# relative to the working directory, which is the root of the tree, and match the names in #include directives.
set(text "// Generated from the kernel templates.\n#include \"kernels/cuda/runtime/program.hpp\"\n\nnamespace spsolve::cuda {\n\nconst std::vector<SourceFile>& embedded_sources() {\n  static const std::vector<SourceFile> sources{\n")
include(${CMAKE_CURRENT_LIST_DIR}/script_files.cmake)
foreach(file IN LISTS script_files)
  file(READ "${file}" content)
  string(APPEND text "      {\"${file}\", R\"template(${content})template\"},\n")
endforeach()
string(APPEND text "  };\n  return sources;\n}\n\n}  // namespace spsolve::cuda\n")
file(WRITE "${OUTPUT}" "${text}")
