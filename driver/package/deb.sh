#!/bin/sh
# deb.sh STAGE VERSION LLVM ABI OUTPUT [FLAGS of dpkg-deb] - a Debian package from `make install DESTDIR=STAGE PREFIX=/usr/lib/ompgpu-cc`.
# The tree stays whole below /usr/lib/ompgpu-cc; what others look for lies, or is linked, where Debian has it.
set -eu
stage=$1 version=$2 llvm=$3 abi=$4 output=$5
shift 5
here=$(dirname "$0")
tree=$stage/usr/lib/ompgpu-cc lib=$stage/usr/lib/x86_64-linux-gnu doc=$stage/usr/share/doc/ompgpu-cc
mkdir -p "$stage/DEBIAN" "$stage/usr/bin" "$lib/pkgconfig" "$lib/cmake" "$stage/usr/share" "$doc"
ln -s ../lib/ompgpu-cc/bin/ompgpu-cc ../lib/ompgpu-cc/bin/ompgpu-worker "$stage/usr/bin/"
# The dynamic linker finds the libraries, so programs need no path to them.
for file in "libompgpu.so.$abi" libompgpu-ptx.so libompgpu-openmpi.so libompgpu-mpich.so libompgpu-mpi.so; do
    [ -e "$tree/lib/$file" ] || continue # no such MPI was there
    mv "$tree/lib/$file" "$lib/$file"
    ln -s "../../x86_64-linux-gnu/$file" "$tree/lib/$file"
done
for file in "$tree"/bin/ompgpu-llvm-*; do ln -sf "../../llvm-$llvm/bin/${file##*/ompgpu-}" "$file"; done
for file in libompgpu.so libompgpu.a; do ln -s "../ompgpu-cc/lib/$file" "$lib/$file"; done
ln -s ../../ompgpu-cc/lib/cmake/ompgpu "$lib/cmake/ompgpu"
sed -e 's|^prefix=.*|prefix=/usr|' -e 's|^libdir=.*|libdir=/usr/lib/x86_64-linux-gnu|' -e 's|^Libs: .*|Libs: -lompgpu -lomp|' \
    "$tree/lib/pkgconfig/ompgpu.pc" >"$lib/pkgconfig/ompgpu.pc"
rm -r "$tree/lib/pkgconfig"
mv "$tree/share/man" "$tree/share/bash-completion" "$stage/usr/share/"
rmdir "$tree/share"
find "$stage/usr/share/man" -type f -exec gzip -9n {} +
cp "$here/../../LICENSE" "$doc/copyright"
maintainer=$(sed -n 's/^Maintainer: //p' "$here/control.in")
{
    printf 'ompgpu-cc (%s) unstable; urgency=medium\n\n  * What is new is in NEWS.gz.\n\n' "$version"
    printf ' -- %s  %s\n' "$maintainer" "$(date -R -r "$here/../../CHANGELOG")"
} | gzip -9nc >"$doc/changelog.gz"
gzip -9nc "$here/../../CHANGELOG" >"$doc/NEWS.gz"
install -D -m 644 "$here/lintian-overrides" "$stage/usr/share/lintian/overrides/ompgpu-cc"
find "$stage/usr" -type f \( -name '*.so*' -o -path '*/bin/*' -o -name 'omp-*' \) -exec strip --strip-unneeded {} +
strip --strip-debug "$tree/lib/libompgpu.a"
size=$(du -sk "$stage/usr" | cut -f1)
sed -e "s/@VERSION@/$version/" -e "s/@LLVM@/$llvm/g" -e "s/@SIZE@/$size/" "$here/control.in" >"$stage/DEBIAN/control"
(cd "$stage" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
printf 'activate-noawait ldconfig\n' >"$stage/DEBIAN/triggers"
printf 'libompgpu %s ompgpu-cc (>= %s)\n' "$abi" "$version" >"$stage/DEBIAN/shlibs"
dpkg-deb "$@" --root-owner-group --build "$stage" "$output"
