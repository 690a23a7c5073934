package("coll")
    set_kind("library", {headeronly = true})
    set_homepage("@URL@")
    set_description("Collective algorithms as pure step functions")
    set_license("BSD-3-Clause")

    add_urls("@URL@/coll-$(version).tar.xz")
    add_versions("0.1.0", "@SHA256@")

    on_install(function (package)
        os.cp("include/coll", package:installdir("include"))
    end)

    on_test(function (package)
        assert(package:has_cfuncs("coll_problem_init", {includes = "coll/plan.h"}))
    end)
package_end()
