# find_package(goptx): kernels that are woven or fused as part of a build.
#
#   goptx_weave(TARGET SOURCES a.cu b.ptx... [ENTRIES a b...] [SHAPES A=1024:256 B=?:128...] [ARCH sm_90] [NAME name]
#               [CUBIN] [OPTIONS ...])
#   goptx_fuse(TARGET STRATEGY horizontal SOURCES ... as above)
#
# make TARGET.ptx and TARGET.h, with CUBIN also TARGET.cubin, in the current binary directory. SOURCES are CUDA C++,
# which the project's CUDA compiler turns into PTX, or PTX. OPTIONS are further options of the command `goptx weave` or
# `goptx fuse`. TARGET is an interface library: who links it may include TARGET.h and is built after the files.
# TARGET_PTX, TARGET_CUBIN, TARGET_HEADER and TARGET_KERNELS (the PTX of the kernels alone) are set for the caller.
#
# The command is `goptx` of the PATH, or what the cache variable GOPTX names, such as `python3;-m;goptx`.

if(NOT GOPTX)
  find_program(GOPTX_PROGRAM goptx)
  set(GOPTX "${GOPTX_PROGRAM}" CACHE STRING "The command goptx, such as `python3;-m;goptx`" FORCE)
endif()
set(goptx_FOUND TRUE)
if(NOT GOPTX)
  set(goptx_FOUND FALSE)
  set(goptx_NOT_FOUND_MESSAGE "the command goptx is not on the PATH: pip install goptx, or -DGOPTX=")
endif()

function(goptx_weave target)
  _goptx_make(${target} weave ${ARGN})
  _goptx_export(${target})
endfunction()

function(goptx_fuse target)
  _goptx_make(${target} fuse ${ARGN})
  _goptx_export(${target})
endfunction()

# Hands the names of the files on to the caller of the calling function.
macro(_goptx_export target)
  foreach(name PTX CUBIN HEADER KERNELS)
    set(${target}_${name} ${${target}_${name}} PARENT_SCOPE)
  endforeach()
endmacro()

function(_goptx_make target command)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CUBIN" "STRATEGY;ARCH;NAME" "SOURCES;ENTRIES;SHAPES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "goptx_${command}(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "goptx_${command}(${target}): give SOURCES, the kernels as .cu or .ptx")
  endif()
  if(arg_STRATEGY AND command STREQUAL "weave")
    message(FATAL_ERROR "goptx_weave(${target}): STRATEGY is for goptx_fuse")
  endif()

  set(options ${arg_OPTIONS})
  foreach(entry IN LISTS arg_ENTRIES)
    list(APPEND options --entry ${entry})
  endforeach()
  foreach(shape IN LISTS arg_SHAPES)
    list(APPEND options --shape ${shape})
  endforeach()
  foreach(name STRATEGY ARCH NAME)
    if(arg_${name})
      string(TOLOWER ${name} option)
      list(APPEND options --${option} ${arg_${name}})
    endif()
  endforeach()

  set(kernels)
  set(made) # Makefiles make the files of another target only if it is named itself
  set(number 0)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(path ${source} ABSOLUTE)
    if(path MATCHES "\\.cu$")
      if(NOT CMAKE_CUDA_COMPILER)
        message(FATAL_ERROR "goptx_${command}(${target}): ${source} takes a CUDA compiler: enable_language(CUDA) first, or give PTX")
      endif()
      set(kernel ${target}_kernel_${number})
      add_library(${kernel} OBJECT ${path})
      set_target_properties(${kernel} PROPERTIES CUDA_PTX_COMPILATION ON)
      list(APPEND kernels $<TARGET_OBJECTS:${kernel}>)
      list(APPEND made ${kernel})
    else()
      list(APPEND kernels ${path})
    endif()
    math(EXPR number "${number} + 1")
  endforeach()

  set(base ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(
    OUTPUT ${base}.ptx ${base}.h
    COMMAND ${GOPTX} ${command} ${kernels} ${options} -o ${base}.ptx --header ${base}.h --depfile ${base}.d
    DEPENDS ${kernels} ${made}
    DEPFILE ${base}.d
    COMMENT "goptx ${command}: ${target}.ptx"
    COMMAND_EXPAND_LISTS
    VERBATIM)
  set(files ${base}.ptx ${base}.h)
  set(cubin)
  if(arg_CUBIN)
    set(cubin ${base}.cubin)
    add_custom_command(
      OUTPUT ${cubin}
      COMMAND ${GOPTX} ${command} ${kernels} ${options} -o ${cubin} --depfile ${cubin}.d
      DEPENDS ${kernels} ${made}
      DEPFILE ${cubin}.d
      COMMENT "goptx ${command}: ${target}.cubin"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    list(APPEND files ${cubin})
  endif()
  add_custom_target(${target}_files ALL DEPENDS ${files})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_files)
  target_include_directories(${target} INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  set(${target}_PTX ${base}.ptx PARENT_SCOPE)
  set(${target}_CUBIN ${cubin} PARENT_SCOPE)
  set(${target}_HEADER ${base}.h PARENT_SCOPE)
  set(${target}_KERNELS ${kernels} PARENT_SCOPE)
endfunction()
