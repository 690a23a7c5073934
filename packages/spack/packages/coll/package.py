from spack.package import *


class Coll(CMakePackage):
    """Collective algorithms as pure step functions: headers, and on demand libraries to link."""

    homepage = "@URL@"
    url = "@URL@/coll-0.1.0.tar.xz"

    license("BSD-3-Clause")
    version("0.1.0", sha256="@SHA256@")

    variant("tools", default=True, description="Build the command coll")
    variant("link", default=False, description="Build libcoll.so and libcoll.a")

    depends_on("c", type="build")
    depends_on("cmake@3.16:", type="build")

    def cmake_args(self):
        return [
            self.define("COLL_BUILD_ALL", False),
            self.define_from_variant("COLL_BUILD_TOOLS", "tools"),
            self.define_from_variant("COLL_BUILD_LIBRARY", "link"),
        ]
