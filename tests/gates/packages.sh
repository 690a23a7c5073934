#!/bin/sh
# What make dist writes, and the packages made of it. Argument: dist (the same bytes from another folder; versions),
# which the others need:
# recipes (Conan, Spack, Bazel, vcpkg, xrepo), meson, sdk (Zephyr, ESP-IDF, Arduino, PlatformIO, CMSIS-Pack), debian.
. "$(dirname "$0")/gate.sh"
here=$COLL_SOURCE/tests/gates/packages
version=$(sed -n 's/^#define COLL_VERSION_[A-Z]* //p' "$COLL_SOURCE/include/coll/config.h" | paste -s -d.)
need python3 python3
python=python3 # Debian's, as it has Debian's modules
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
unset SOURCE_DATE_EPOCH

release=$COLL_BUILD/gates/packages.dist/dist

# release TREE OUT
release() {
    "$python" "$1/packages/dist.py" "$2" --command "$COLL_COMMAND" --url "file://$release"
}

# module NAME PACKAGE: of Python's
module() {
    "$python" -c "import $1" 2>/dev/null || missing "Python has no $1; on Debian: apt-get install $2"
}

# edited FILE SED COMMAND…: the command, while a file of this folder is another one.
edited() {
    file=$1
    cp "$file" kept
    sed "$2" kept >"$file"
    cmp -s kept "$file" && echo "$file is not changed by $2"
    shift 2
    "$@"
    status=$?
    cp kept "$file"
    return $status
}

manifests() {
    "$python" "$here/manifests.py" dist "coll-$version" "$1"
}

if [ "$1" = dist ]; then
    [ -x "$COLL_COMMAND" ] || missing 'the command coll is not built'
    accept release "$COLL_SOURCE" dist
    [ $gate_failed -eq 0 ] || done_gate
else
    [ -e "$release/SHA256SUMS" ] || missing 'gates/packages/dist did not run'
    cp -r "$release" dist
fi
tar -xf "dist/coll-$version.tar.xz"
tree=$gate_scratch/coll-$version

case $1 in
dist)
    # versions ROOT
    versions() {
        sed "s/VERSION/$version/" "$here/versions" | awk -v ROOT="$1" -v VERSION="$version" -f "$here/versions.awk"
    }
    # checked FOLDER
    checked() {
        (cd "$1" && sha256sum -c SHA256SUMS)
    }
    # once FILE
    once() {
        echo "#include \"$1\"" >once.c && "$COLL_CC" -std=c99 -Wall -Wextra -Werror -fsyntax-only once.c
    }
    accept release "$tree" again
    accept diff -r dist again
    accept checked dist
    accept once "dist/coll-$version.h"
    accept versions "$tree"
    reject 'vcpkg.json says version "9.9.9"' edited "$tree/packages/vcpkg/coll/vcpkg.json" "s/$version/9.9.9/" versions "$tree"
    reject 'CITATION.cff says version ""' edited "$tree/CITATION.cff" '/^version/d' versions "$tree"
    reject 'tar.xz: FAILED' edited "dist/coll-$version.tar.xz" '$s/^/x/' checked dist
    echo '/* */' >>"$tree/include/coll/coll.h"
    accept release "$tree" again
    reject 'tar.xz differ' diff -r dist again
    ;;
recipes)
    module yaml python3-yaml
    need lua5.4 lua5.4
    port() {
        rm -rf port && "$COLL_CMAKE" -DPORT="$gate_scratch/dist/packages/vcpkg/coll/portfile.cmake" -DARCHIVES="$gate_scratch/dist" \
            -DOUT="$gate_scratch/port" -P "$here/vcpkg.cmake"
    }
    xrepo() {
        rm -rf xrepo
        (cd "$tree" && lua5.4 "$here/xrepo.lua" ../dist/packages/xrepo/packages/c/coll/xmake.lua ../dist ../xrepo)
    }
    accept manifests recipes
    accept port
    accept xrepo
    reject 'vcpkg.json: version' edited dist/packages/vcpkg/coll/vcpkg.json '/version/d' manifests recipes
    reject 'conan: the package has no include' edited "$tree/packages/conan/conanfile.py" 's/"include"), os/"src"), os/' manifests recipes
    reject 'spack: the checksum is not' edited dist/packages/spack/packages/coll/package.py 's/sha256="./&0/' manifests recipes
    reject 'spack: CMakeLists.txt has no' edited dist/packages/spack/packages/coll/package.py 's/COLL_BUILD_ALL/COLL_ALL/' manifests recipes
    reject 'overlay/BUILD.bazel' edited "dist/packages/bazel/modules/coll/$version/overlay/BUILD.bazel" 's/include.coll/src/' manifests recipes
    reject 'the checksum is not' edited dist/packages/vcpkg/coll/portfile.cmake 's/SHA512 ./&0/' port
    reject 'no coll/plan.h' edited dist/packages/xrepo/packages/c/coll/xmake.lua 's,"include"),"includes"),' xrepo
    ;;
meson)
    need meson meson
    need ninja ninja-build
    mkdir -p user
    cp -r dist/packages/meson user/subprojects
    cp "$COLL_SOURCE/tests/gates/consumer/main.c" user/
    cat >user/meson.build <<'END'
project('user', 'c')
executable('consumer', 'main.c', dependencies: dependency('coll', version: '>=0.1'))
END
    user() {
        rm -rf build user/subprojects/packagecache user/subprojects/coll-[0-9]*
        CC=$COLL_CC meson setup build user && ninja -C build && build/consumer
    }
    accept user
    reject 'Incorrect hash' edited user/subprojects/coll.wrap 's/^source_hash = ./&0/' user
    reject 'coll/plan.h|coll/algos|Include dir include' edited user/subprojects/packagefiles/coll/meson.build "s/include_directories('include')/include_directories('docs')/" user
    ;;
sdk)
    module yaml python3-yaml
    module kconfiglib python3-kconfiglib
    need g++ g++
    need xmllint libxml2-utils
    "$python" -m zipfile -e "dist/coll-$version-embedded.zip" .
    "$python" -m zipfile -e "dist/coll.coll.$version.pack" pack
    cat >words.cmake <<'END'
function(note kind)
  foreach(word IN LISTS ARGN)
    file(APPEND flags "${kind}${word} ")
  endforeach()
endfunction()
function(zephyr_include_directories)
  note(-I ${ARGN})
endfunction()
function(zephyr_compile_definitions)
  note(-D ${ARGN})
endfunction()
function(idf_component_register)
  cmake_parse_arguments(PARSE_ARGV 0 its "" "" "INCLUDE_DIRS")
  get_filename_component(folder "${FILE}" DIRECTORY)
  list(TRANSFORM its_INCLUDE_DIRS PREPEND "${folder}/")
  note(-I ${its_INCLUDE_DIRS})
endfunction()
include("${FILE}")
END
    # build FILE OPTION…: an example without an operating system, with the flags of a CMakeLists.txt
    build() {
        rm -f flags
        cmakelists=$1
        shift
        "$COLL_CMAKE" "$@" -DFILE="$cmakelists" -P words.cmake || return 1
        # shellcheck disable=SC2046
        "$COLL_CC" -ffreestanding -Werror $(cat flags) "$COLL_SOURCE/examples/04_freestanding.c" -o example && ./example
    }
    # arduino: the example, with a Serial that prints
    arduino() {
        cat >sketch.cc <<'END'
#include <cstdint>
#include <cstdio>
struct {
    void begin(long) {}
    void println(const char *text) { puts(text); }
    void println(long number) { printf("%ld\n", number); }
} Serial;
#include "allreduce.ino"
int main()
{
    setup();
    loop();
}
END
        g++ -std=gnu++11 -Wall -Wextra -Icoll/src -Icoll/examples/allreduce sketch.cc -o sketch && ./sketch >sums &&
            [ "$(tr '\n' ' ' <sums)" = 'done 6 10 14 18 22 26 30 34 ' ] || { echo 'the sketch does not add up'; return 1; }
    }
    zephyr="-DCONFIG_COLL=1 -DCONFIG_COLL_WINDOW=8 -DCONFIG_COLL_CHECKS=1"
    accept manifests sdk
    accept xmllint --noout pack/coll.coll.pdsc
    # shellcheck disable=SC2086
    accept build "$tree/packages/zephyr/CMakeLists.txt" $zephyr
    accept grep -q -e '-DCOLL_WINDOW=8 -DCOLL_CHECKS=1 -DCOLL_IRREGULAR=0 -DCOLL_ARRIVAL=0' flags
    accept build "$tree/CMakeLists.txt" -DESP_PLATFORM=1
    accept build "$gate_scratch/coll/CMakeLists.txt" -DESP_PLATFORM=1
    accept arduino
    reject 'No such file' build "$tree/packages/zephyr/CMakeLists.txt"
    # shellcheck disable=SC2086
    reject 'out of its range' build "$tree/packages/zephyr/CMakeLists.txt" -DCONFIG_COLL=1 -DCONFIG_COLL_WINDOW=33
    reject 'No such file' edited coll/CMakeLists.txt 's/ src/ include/' build "$gate_scratch/coll/CMakeLists.txt" -DESP_PLATFORM=1
    reject 'does not add up' edited coll/examples/allreduce/allreduce.ino 's/= r + i/= r/' arduino
    reject 'library.properties: category' edited coll/library.properties '/category/d' manifests sdk
    reject 'library.json: licence is no field' edited coll/library.json 's/license/licence/' manifests sdk
    reject 'pdsc: elements are not in their order' edited pack/coll.coll.pdsc '/<vendor>/d' manifests sdk
    reject 'pdsc: the pack has no source/' edited pack/coll.coll.pdsc 's,"src/","source/",' manifests sdk
    reject 'Kconfig: COLL_CHECKS' edited "$tree/packages/zephyr/Kconfig" '/default y/d' manifests sdk
    ;;
debian)
    need dpkg-buildpackage dpkg-dev
    need dh debhelper
    need lintian lintian
    mkdir deb
    mv "$tree" "deb/coll-$version"
    tree=$gate_scratch/deb/coll-$version
    cp "dist/coll-$version.tar.xz" "deb/coll_$version.orig.tar.xz"
    # shellcheck disable=SC2086
    # package KIND [FILE SED]: of the source, or of the headers, too; with a file of debian/ edited
    package() {
        rm -rf "$tree/debian" deb/*.changes && cp -r "$tree/packages/debian" "$tree/debian" || return 1
        [ $# -lt 3 ] || sed -i "$3" "$tree/debian/$2" || return 1
        (cd "$tree" && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc --build="$1") &&
            lintian --allow-root --fail-on error,warning $checks deb/*.changes
    }
    # installed: what the package holds is found and used
    installed() {
        rm -rf root && dpkg -x deb/libcoll-dev_*_all.deb root &&
            PKG_CONFIG_PATH=$gate_scratch/root/usr/share/pkgconfig &&
            "$COLL_CC" $(PKG_CONFIG_PATH=$PKG_CONFIG_PATH pkg-config --cflags coll) "$COLL_SOURCE/tests/gates/consumer/main.c" -o consumer &&
            ./consumer
    }
    checks=
    accept package source,all
    need pkg-config pkg-config
    accept installed
    reject 'Build-Depends|orig.tar' package source changelog 's/(.*)/(9.9.9-1)/'
    checks='--check-part debian/copyright/dep5'
    reject 'missing-field-in-dep5-copyright License' package source copyright '/^License: BSD/,$d; $a License: BSD'
    ;;
esac
done_gate
