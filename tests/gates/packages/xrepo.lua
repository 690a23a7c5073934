-- xrepo.lua RECIPE ARCHIVES PREFIX: executes the recipe as xmake would, in the tree that it unpacked, with stand-ins
-- for its words.
local recipe, archives, prefix = arg[1], arg[2], arg[3]
local said = {}
local place = {installdir = function (_, folder) return prefix .. "/" .. folder end,
               has_cfuncs = function (_, name, more) return said.header == more.includes and name end}
for _, word in ipairs {"set_kind", "set_homepage", "set_description", "set_license", "add_urls", "add_versions"} do
    _G[word] = function (...) said[word] = {...} end
end
function package(name) said.name = name end
function package_end() said.ended = true end
function on_install(run) said.install = run end
function on_test(run) said.test = run end
function os.cp(from, to)
    assert(os.execute("mkdir -p '" .. to .. "' && cp -r '" .. from .. "' '" .. to .. "'"))
end
function os.exists(path)
    local file = io.open(path)
    return file and file:close()
end
dofile(recipe)
assert(said.name == "coll" and said.ended and said.set_kind[2].headeronly, "this is no package of headers")
assert(said.set_license[1] == "BSD-3-Clause", "the licence is another one")
local version, sum = table.unpack(said.add_versions)
local name = said.add_urls[1]:gsub("%$%(version%)", version):match("[^/]*$")
local sha = io.popen("sha256sum '" .. archives .. "/" .. name .. "'"):read("a"):match("^%x+")
assert(sha == sum, "the checksum is not that of " .. name)
said.install(place)
for _, header in ipairs {"coll/plan.h", "coll/config.h"} do
    assert(os.exists(prefix .. "/include/" .. header), "no " .. header .. " is installed")
end
said.header = "coll/plan.h"
said.test(place)
