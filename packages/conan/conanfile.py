import os
import re

from conan import ConanFile
from conan.tools.files import copy, load

ROOT = os.path.join("..", "..")  # of the tree that this file is in


class CollRecipe(ConanFile):
    name = "coll"
    description = "Collective algorithms as pure step functions"
    license = "BSD-3-Clause"
    homepage = "@URL@"
    topics = ("collectives", "mpi", "allreduce", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, ROOT, "include", "coll", "config.h"))
        self.version = ".".join(re.findall(r"#define COLL_VERSION_[A-Z]+ (\d+)", config))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        copy(self, "*.h", os.path.join(root, "include"), os.path.join(self.export_sources_folder, "include"))
        copy(self, "LICENSE", root, self.export_sources_folder)

    def package(self):
        copy(self, "*.h", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
