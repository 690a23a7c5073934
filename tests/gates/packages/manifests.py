"""manifests.py DIST TREE: what a release says to package managers and SDKs, read as they read it.

Where a tool is not at hand its words are stand-ins here that do what the recipe asks, or note it: so a recipe is
executed, and what it installs is looked at. DIST is what packages/dist.py wrote, unpacked archives included.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import sys
import types
import xml.etree.ElementTree

DIST, TREE = map(os.path.abspath, sys.argv[1:3])
HEADER = "coll/config.h"
wrong = []


def check(holds, text):
    if not holds:
        wrong.append(text)


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def digest(path, kind):
    with open(path, "rb") as file:
        return hashlib.new(kind, file.read()).digest()


def fields(name, found, wanted):
    """All keys of `found` are known, those that are not marked ? exist, and values fit their pattern."""
    for key in found:
        check(key in wanted or key + "?" in wanted, "%s: %s is no field of it" % (name, key))
    for key, pattern in wanted.items():
        value = found.get(key.rstrip("?"), None if key[-1] == "?" else "")
        if value is not None:
            check(re.fullmatch(pattern, value if isinstance(value, str) else json.dumps(value)),
                  "%s: %s is %r" % (name, key.rstrip("?"), value))


VERSION = r"\d+\.\d+\.\d+"
ANY, URL, LICENSE = r".+", r"(https|file)://.+", "BSD-3-Clause"


def sdk(folder):
    library = json.loads(text_of(folder, "library.json"))
    fields("library.json", library, {
        "name": "coll", "version": VERSION, "description": ANY, "keywords": ANY, "homepage?": URL, "license": LICENSE,
        "frameworks": r"\*", "platforms": r"\*", "headers": ANY, "build": ANY})
    for place in library["build"]["includeDir"], library["build"]["srcDir"]:
        check(os.path.exists(os.path.join(folder, place, library["headers"])), "library.json: no header in " + place)

    lines = text_of(folder, "library.properties").splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    fields("library.properties", properties, {
        "name": r"(?!Arduino)[A-Za-z][A-Za-z0-9_.-]{0,62}", "version": VERSION, "author": ANY, "maintainer": ANY,
        "sentence": r".+\.", "paragraph": ANY, "url": URL, "architectures": r"\*", "includes": ANY,
        "category": "Display|Communication|Signal Input/Output|Sensors|Device Control|Timing|Data Storage|"
                    "Data Processing|Other"})
    check(os.path.exists(os.path.join(folder, "src", properties.get("includes", "none"))),
          "library.properties: no such header")

    import yaml
    fields("idf_component.yml", yaml.safe_load(text_of(folder, "idf_component.yml")), {
        "version": VERSION, "description": ANY, "url": URL, "license": LICENSE})
    module = yaml.safe_load(text_of(TREE, "zephyr/module.yml"))
    fields("module.yml", module, {"name": "coll", "build": ANY})
    check(os.path.exists(os.path.join(TREE, module["build"]["cmake"], "CMakeLists.txt")), "module.yml: no CMakeLists.txt")
    check(os.path.exists(os.path.join(TREE, module["build"]["kconfig"])), "module.yml: no Kconfig")


def pack(folder):
    root = xml.etree.ElementTree.parse(os.path.join(folder, "coll.coll.pdsc")).getroot()
    known = ["vendor", "name", "description", "url", "license", "releases", "components"]
    check(root.tag == "package" and [child.tag for child in root] == known, "pdsc: elements are not in their order")
    check("coll.coll" == "%s.%s" % (root.findtext("vendor"), root.findtext("name")), "pdsc: its file has another name")
    check(root.findtext("url", "").endswith("/"), "pdsc: the url is no folder")
    version = root.find("releases/release").get("version")
    for component in root.iter("component"):
        check(component.get("Cversion") == version, "pdsc: a component has another version")
        check(component.get("Cclass") and component.get("Cgroup"), "pdsc: a component has no class or group")
    names = [root.findtext("license")] + [file.get("name") for file in root.iter("file")]
    for name in names:
        check(os.path.exists(os.path.join(folder, name)), "pdsc: the pack has no " + name)


def kconfig():
    import kconfiglib
    config = kconfiglib.Kconfig(os.path.join(TREE, "packages/zephyr/Kconfig"), warn=False)
    check(config.syms["COLL_WINDOW"].str_value == "", "Kconfig: a knob without COLL")
    config.syms["COLL"].set_value(2)
    defaults = {"COLL_WINDOW": "16", "COLL_CHECKS": "y", "COLL_IRREGULAR": "n", "COLL_ARRIVAL": "n", "COLL_IN_NETWORK": "n",
                "COLL_SOFT_FLOAT": "n"}
    for name, value in defaults.items():
        check(config.syms[name].str_value == value, "Kconfig: %s is %r" % (name, config.syms[name].str_value))
        check("ifndef " + name + "\n" in text_of(TREE, "include/coll/config.h"), "Kconfig: config.h has no " + name)
    config.syms["COLL_WINDOW"].set_value("33")
    check(config.syms["COLL_WINDOW"].str_value == "16", "Kconfig: a window of 33")


def module(name, **members):
    it = types.ModuleType(name)
    it.__dict__.update(members)
    sys.modules[name] = it


def run(path, members):
    exec(compile(text_of(path), path, "exec"), members)
    return members


def copy(conanfile, pattern, src, dst):
    for folder, _, files in os.walk(src):
        for name in files:
            if name == pattern or (pattern == "*.h" and name.endswith(".h")):
                place = os.path.join(dst, os.path.relpath(folder, src))
                os.makedirs(place, exist_ok=True)
                shutil.copy(os.path.join(folder, name), place)


def conan():
    class Any:
        def __init__(self, *args, **more):
            pass

    module("conan", ConanFile=Any)
    module("conan.tools")
    module("conan.tools.files", copy=copy, load=lambda self, path: text_of(path))
    module("conan.tools.build", can_run=lambda self: True)
    module("conan.tools.cmake", CMake=Any, cmake_layout=Any)
    folder = os.path.join(TREE, "packages/conan")
    run(os.path.join(folder, "test_package/conanfile.py"), {"__name__": "test"})
    recipe = run(os.path.join(folder, "conanfile.py"), {"__name__": "recipe"})["CollRecipe"]()
    recipe.recipe_folder = folder
    recipe.export_sources_folder = recipe.source_folder = os.path.abspath("conan/sources")
    recipe.package_folder = os.path.abspath("conan/package")
    recipe.cpp_info = types.SimpleNamespace()
    shutil.rmtree("conan", ignore_errors=True)
    recipe.set_version()
    recipe.export_sources()
    recipe.package()
    recipe.package_info()
    check(re.fullmatch(VERSION, recipe.version), "conan: the version is %r" % recipe.version)
    for name in "include/" + HEADER, "licenses/LICENSE":
        check(os.path.exists(os.path.join(recipe.package_folder, name)), "conan: the package has no " + name)


def spack():
    said = {}

    def note(name):
        return lambda *words, **more: said.setdefault(name, []).append((words, more))

    class CMakePackage:
        def define(self, name, value):
            return "-D%s=%s" % (name, "ON" if value else "OFF")

        def define_from_variant(self, name, variant):
            return self.define(name, {v[0][0]: v[1]["default"] for v in said["variant"]}[variant])

    words = {name: note(name) for name in ("license", "version", "variant", "depends_on")}
    module("spack")
    module("spack.package", CMakePackage=CMakePackage, **words)
    package = run(os.path.join(DIST, "packages/spack/packages/coll/package.py"), {})["Coll"]
    archive(package.url, said["version"][0][1]["sha256"], "sha256", "spack")
    options = set(re.findall(r"-D([A-Z_]+)=", " ".join(package().cmake_args())))
    check(options, "spack: no options")
    for option in options:
        check("option(%s " % option in text_of(TREE, "CMakeLists.txt"), "spack: CMakeLists.txt has no " + option)


def archive(url, sum, kind, who):
    path = os.path.join(DIST, os.path.basename(url))
    check(os.path.exists(path) and digest(path, kind).hex() == sum, "%s: the checksum is not that of %s" % (who, url))


def bazel():
    folder = os.path.join(DIST, "packages/bazel/modules/coll")
    metadata = json.loads(text_of(folder, "metadata.json"))
    version = metadata["versions"][-1]
    folder = os.path.join(folder, version)
    source = json.loads(text_of(folder, "source.json"))
    archive(source["url"], base64.b64decode(source["integrity"][len("sha256-"):]).hex(), "sha256", "bazel")
    tree = os.path.join(os.path.abspath("."), source["strip_prefix"])
    for name, sum in source["overlay"].items():
        its = b"sha256-" + base64.b64encode(digest(os.path.join(folder, "overlay", name), "sha256"))
        check(its.decode() == sum, "bazel: the checksum is not that of overlay/" + name)
    check(text_of(folder, "MODULE.bazel") == text_of(folder, "overlay/MODULE.bazel"), "bazel: two MODULE.bazel")
    modules, rules = [], []
    run(os.path.join(folder, "MODULE.bazel"), {
        "module": lambda **more: modules.append(more), "bazel_dep": lambda **more: modules.append(more)})
    check(modules[0] == {"name": "coll", "version": version}, "bazel: the module is %r" % modules[0])
    run(os.path.join(folder, "overlay/BUILD.bazel"), {
        "load": lambda *words: check(words[0].split("/")[0] == "@" + modules[1]["name"], "bazel: no such dependency"),
        "exports_files": lambda names: [check(os.path.exists(os.path.join(tree, n)), "bazel: no " + n) for n in names],
        "glob": lambda patterns: [os.path.join(f, n) for p in patterns
                                  for f, _, names in os.walk(os.path.join(tree, p.split("/**")[0])) for n in names],
        "cc_library": lambda **more: rules.append(more)})
    headers = rules[0]["hdrs"]
    check(os.path.join(tree, rules[0]["includes"][0], HEADER) in headers, "bazel: no headers")


def vcpkg():
    fields("vcpkg.json", json.loads(text_of(DIST, "packages/vcpkg/coll/vcpkg.json")), {
        "name": "[a-z0-9-]+", "version": VERSION, "description": ANY, "homepage": URL, "license": LICENSE,
        "dependencies": ANY})


def citation():
    import yaml
    fields("CITATION.cff", yaml.safe_load(text_of(TREE, "CITATION.cff")), {
        "cff-version": r"1\.2\.0", "message": ANY, "type": "software", "title": ANY, "version": VERSION,
        "license": LICENSE, "authors": ANY, "keywords": ANY})


PARTS = {"sdk": lambda: [sdk("coll"), pack("pack"), kconfig()],
         "recipes": lambda: [conan(), spack(), bazel(), vcpkg(), citation()]}
PARTS[sys.argv[3]]()
for complaint in wrong:
    print(complaint)
sys.exit(len(wrong) > 0)
