#!/bin/sh
# Build systems and wrappers that not every machine has: automake and libtool, distcc, bear, MPI, Fortran and C++ beside C.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
[ -n "${OMPGPU_LONG:-}" ] || skip_all "OMPGPU_LONG=1 runs it"
unset MAKEFLAGS MAKELEVEL CFLAGS LDFLAGS
offload_function f.c f; calling_main main.c f
has_tools() { for tap_p do command -v "$tap_p" >/dev/null 2>&1 || { skip "$1" "no $tap_p"; return 1; }; done; }
runs() { [ "$(on_device "$@")" = OK ]; }

if has_tools autoreconf libtoolize make; then
    cat >configure.ac <<'C'
AC_INIT([demo],[1.0])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CC
AM_PROG_AR
LT_INIT
AC_OPENMP
AC_CHECK_FUNCS([omp_get_num_devices])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
C
    cat >Makefile.am <<'C'
AM_CFLAGS = $(OPENMP_CFLAGS)
lib_LTLIBRARIES = libf.la
libf_la_SOURCES = f.c
libf_la_LDFLAGS = -version-info 1:0:0
bin_PROGRAMS = demo
demo_SOURCES = main.c
demo_LDADD = libf.la
C
    check "autoreconf" autoreconf -fi
    configured() { # NAME FLAGS…
        dir=$1; shift
        mkdir "$dir" && (cd "$dir" && ../configure CC="$CC" CFLAGS="-O2 $ARCH" "$@" && make && make install DESTDIR="$PWD/inst")
    }
    check "libtool: shared" configured shared && check "... runs" runs shared/demo
    check "... AC_OPENMP" has shared/config.log "ac_cv_prog_c_openmp='none needed'" && check "... routines of devices" has shared/config.log "ac_cv_func_omp_get_num_devices=yes"
    check "libtool: static" configured static --disable-shared && check "... runs" runs static/demo
    check "libtool: -flto" configured lto CFLAGS="-O2 -flto $ARCH" && check "... runs" runs lto/demo
    check "make distcheck" sh -c "cd shared && make distcheck DISTCHECK_CONFIGURE_FLAGS=\"CC='$CC' CFLAGS='-O2 $ARCH'\""
fi

if has_tools distcc distccd; then
    mkdir distcc
    DISTCC_CMDLIST='' distccd --no-detach --daemon --port 13632 --listen 127.0.0.1 --allow 127.0.0.1 --enable-tcp-insecure --jobs 1 --log-stderr --verbose 2>distccd.log &
    daemon=$!
    send() { DISTCC_DIR=$T/distcc DISTCC_HOSTS=127.0.0.1:13632 DISTCC_FALLBACK=0 distcc "$CC" $ARCH -O2 -c f.c -o sent.o; }
    sent() { send || { sleep 2 && send; } || { sleep 5 && send; }; }
    logged() { for _ in 1 2 3 4 5 6 7 8 9; do grep -q COMPILE_OK distccd.log && return; sleep 1; done; cat distccd.log; false; } # after it has answered
    check "distcc: preprocessed here, compiled there" sent && check "... by the daemon" logged
    kill $daemon
    check "... links" "$CC" $ARCH main.c sent.o -o sent && check "... runs" runs ./sent
fi

if has_tools bear make; then
    printf 'prog: main.o f.o\n\t$(CC) $(CFLAGS) $^ -o $@\n' >Makefile
    # The command has no dynamic linker, in which bear sees what it starts (the manual's EDITORS).
    printf '{"compilation": {"compilers_to_recognize": [{"executable": "%s"}]}}' "$CC" >bear.json
    check "bear" bear --config bear.json --output db.json -- make CC="$CC" CFLAGS="-O2 $ARCH" && check "... has both files" test "$(grep -c '"file"' db.json)" = 2
    rm -f Makefile main.o f.o
fi

cat >mpi.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, one = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp target map(tofrom: one)
    one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) puts(sum == 2 ? "OK" : "FAILED");
    MPI_Finalize();
    return 0;
}
C
OMPI_CC=$CC MPICH_CC=$CC OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_CC MPICH_CC OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
for mpi in openmpi mpich; do
    has_tools mpicc.$mpi mpirun.$mpi || continue
    more=; [ $mpi = mpich ] || more=--oversubscribe
    check "$mpi" mpicc.$mpi $ARCH -O2 -Wall -Werror mpi.c -o mpi.$mpi && check "... runs" runs mpirun.$mpi $more -n 2 ./mpi.$mpi
done

if has_tools cmake gfortran g++; then
    cat >tf.f90 <<'C'
program t
  use iso_c_binding
  interface
    integer(c_int) function f(p, n) bind(c)
      import
      integer(c_int) :: p(*)
      integer(c_int), value :: n
    end function
  end interface
  integer(c_int) :: x(100), r
  x = 0
  r = f(x, 100)
  if (all(x == 1)) print '(a)', 'OK'
end program
C
    cat >tc.cpp <<'C'
#include <iostream>
extern "C" int f(int *, int);
int main()
{
    int x[100] = { 0 };
    f(x, 100);
    for (int i : x)
        if (i != 1) return 1;
    std::cout << "OK\n";
}
C
    cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(demo C CXX Fortran)
add_library(archive STATIC f.c)
add_library(shared SHARED f.c)
foreach(main tc.cpp tf.f90)
    add_executable(own-${main} f.c ${main})
    foreach(lib archive shared)
        add_executable(${lib}-${main} ${main})
        target_link_libraries(${lib}-${main} ${lib})
    endforeach()
endforeach()
C
    for cxx in g++ clang++-22; do
        has_tools $cxx || continue
        check "C, Fortran and $cxx in CMake" sh -c "cmake -DCMAKE_C_COMPILER='$CC' -DCMAKE_CXX_COMPILER=$cxx -DCMAKE_C_FLAGS='$ARCH' -S . -B b-$cxx >log 2>&1 && cmake --build b-$cxx >>log 2>&1 || { cat log; exit 1; }"
        for p in "b-$cxx"/own-* "b-$cxx"/archive-* "b-$cxx"/shared-*; do check "... ${p#*/} runs" runs "$p"; done
    done
fi
finish
