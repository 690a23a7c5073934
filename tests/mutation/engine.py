"""Builds and runs programs against a mutated copy of the headers, within limits."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from programs import FLAGS, FOLDERS, STRICT, WHOLE

MEMORY = 4 << 20  # KiB of a process's own, not of segments, which have many addresses and little memory
SLEEP, WALL = 30, 1200  # seconds
OUTPUT = 16 << 20  # blocks of 512 bytes or more that a file may have, or a segment


class Outcome:
    """`code`: exit status, or minus the signal; `why`: nothing, or what ended it; `output`: its end."""

    def __init__(self, code, why, cpu, output):
        self.code, self.why, self.cpu, self.output = code, why, cpu, output


def awake(group):
    """Seconds that the threads of a process group have run, or have waited for a processor."""
    total = 0
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
                if int(file.read().rsplit(")", 1)[1].split()[2]) != group:
                    continue
            for thread in os.listdir("/proc/%s/task" % pid):
                with open("/proc/%s/task/%s/schedstat" % (pid, thread), encoding="utf-8") as file:
                    total += sum(int(word) for word in file.read().split()[:2])
        except (OSError, ValueError, IndexError):
            continue  # it has ended
    return total / 1e9


def spawn(command, cwd, cpu, environment=None, memory=MEMORY):
    """Runs a command in a process group of its own, which is gone afterwards. It may use so many seconds of
    processor, however long that takes on a busy machine, but not sleep for SLEEP seconds."""
    log = os.path.join(cwd, "output")
    limits = "ulimit -c 0; ulimit -t %d; ulimit -f %d; %s exec \"$@\"" % (
        cpu, OUTPUT, "ulimit -d %d;" % memory if memory else "")
    with open(log, "wb") as out:
        process = subprocess.Popen(["sh", "-c", limits, "sh"] + command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True, env=environment)
    begin, pause, why = time.monotonic(), 0.002, ""
    looked, seen, woke = begin, 0.0, begin  # `woke`: when it was last seen to do anything to speak of
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        now = time.monotonic()
        if now - looked > 2:
            total = awake(process.pid)
            woke = now if abs(total - seen) > 0.05 * (now - looked) else woke
            looked, seen = now, total
        if now - woke > SLEEP or now - begin > WALL:
            why = "timeout"
            os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    try:
        os.killpg(process.pid, signal.SIGKILL)  # its children
    except ProcessLookupError:
        pass
    process.returncode = code = os.waitstatus_to_exitcode(status)
    for name in os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else ():
        if str(process.pid) in name:
            os.unlink(os.path.join("/dev/shm", name))
    if code == -signal.SIGXCPU or code == -signal.SIGKILL and usage.ru_utime + usage.ru_stime >= cpu - 1:
        why = "timeout"
    elif code < 0 and not why:
        why = "signal %d" % -code
    with open(log, "rb") as out:
        out.seek(max(0, os.path.getsize(log) - 65536))
        text = out.read().decode("utf-8", "replace")
    return Outcome(code, why, usage.ru_utime + usage.ru_stime, text)


class Base:
    """Objects and results of the unchanged tree, kept in a folder for the next time."""

    def __init__(self, tree, cache, compiler):
        self.tree, self.cache, self.compiler = tree, cache, compiler
        self.locks, self.lock = {}, threading.Lock()
        self.undefined = {}
        os.makedirs(cache, exist_ok=True)

    def _one_at_a_time(self, name):
        with self.lock:
            return self.locks.setdefault(name, threading.Lock())

    def path(self, unit, flags=()):
        return os.path.join(self.cache, self.tree.digest(unit, [self.compiler] + FLAGS + list(flags)) + ".o")

    def object(self, unit, flags=()):
        """The object of a unit, compiled if it is not there. What else it needs is in .undefined."""
        path = self.path(unit, flags)
        with self._one_at_a_time(path):
            if not os.path.exists(path):
                place = os.path.join(self.cache, "tmp%d" % threading.get_ident())
                os.makedirs(place, exist_ok=True)
                job = Job(self, place)
                outcome = job.compile(unit, path + ".new", flags)
                if outcome.code != 0:
                    raise RuntimeError("%s does not compile:\n%s" % (unit, outcome.output))
                os.rename(path + ".new", path)
            if path not in self.undefined:
                self.undefined[path] = subprocess.run(["nm", "-u", path], stdout=subprocess.PIPE, check=True,
                                                      universal_newlines=True).stdout
        return path

    def units(self, program):
        """Those that the program is linked with: without the table or the verifier, if it asks for neither."""
        first, rest = program.units[0], program.units[1:]
        found = [first]
        wanted = self.undefined_of(first, program.flags)
        for unit in rest:
            if unit == "cmake/registry.c" and "coll_registry" not in wanted or \
                    unit == "tests/support/prove.c" and "prove_" not in wanted:
                continue
            found.append(unit)
            wanted += self.undefined_of(unit, program.flags)
        return found

    def undefined_of(self, unit, flags):
        return self.undefined[self.object(unit, flags)]

    def result(self, program, ask=True):
        """How the program does on the unchanged tree: {"ok", "cpu", "output"}. Without `ask`: None if that is
        not known yet."""
        units = self.units(program)
        name = "-".join(os.path.basename(self.path(u, program.flags))[:8] for u in units) + "-" + "-".join(program.arguments)
        path = os.path.join(self.cache, name + ".json")
        with self._one_at_a_time(path):
            if not os.path.exists(path):
                if not ask:
                    return None
                place = os.path.join(self.cache, "tmp%d" % threading.get_ident())
                os.makedirs(place, exist_ok=True)
                job = Job(self, place)
                outcome = job.run([self.object(u, program.flags) for u in units], program, 200)
                result = {"ok": outcome.code == 0, "cpu": outcome.cpu,
                          "output": outcome.output[-2000:], "name": program.name}
                with open(path + ".new", "w", encoding="utf-8") as file:
                    json.dump(result, file)
                os.rename(path + ".new", path)
            with open(path, encoding="utf-8") as file:
                return json.load(file)


class Job:
    """A folder with headers of its own, in which one mutant at a time is tried."""

    def __init__(self, base, place):
        self.base, self.place = base, place
        self.cpu = 0.0
        for folder in ("include", "run"):
            shutil.rmtree(os.path.join(place, folder), ignore_errors=True)
        os.makedirs(os.path.join(place, "run"))
        shutil.copytree(os.path.join(base.tree.root, "include"), os.path.join(place, "include"))
        for folder in FOLDERS[1:] + ("rows",):
            link = os.path.join(place, folder)
            if not os.path.islink(link):
                os.symlink(os.path.join(base.tree.root, folder), link)

    def compile(self, unit, path, flags=()):
        outcome = spawn([self.base.compiler] + FLAGS + STRICT + list(flags) + ["-c", unit, "-o", path], self.place, 120)
        self.cpu += outcome.cpu
        return outcome

    def run(self, objects, program, cpu):
        """Links and runs. The run's folder is empty before and after."""
        place = os.path.join(self.place, "run")
        file = os.path.join(self.place, "program")
        outcome = spawn([self.base.compiler, "-pthread"] + program.flags + objects + ["-lm", "-o", file], self.place, 60)
        self.cpu += outcome.cpu
        if outcome.code != 0:
            raise RuntimeError("does not link:\n%s" % outcome.output)
        environment = dict(os.environ, TMPDIR=place, COLL_SOURCE=self.base.tree.root, COLL_BUILD=place, LC_ALL="C")
        outcome = spawn([file] + program.arguments, place, cpu, environment, 0 if program.flags else MEMORY)
        self.cpu += outcome.cpu
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place, exist_ok=True)
        return outcome

    def cost(self, program):
        """Seconds: of the last time, or a guess."""
        path = os.path.join(self.base.cache, "cost-" + program.name.replace("/", "_"))
        try:
            with open(path, encoding="utf-8") as file:
                return float(file.read())
        except (OSError, ValueError):
            return 1 + sum(self.base.tree.weight(u) for u in program.units[:1])

    def _note_cost(self, program, seconds):
        path = os.path.join(self.base.cache, "cost-" + program.name.replace("/", "_"))
        with open(path + self.place.replace("/", "_"), "w", encoding="utf-8") as file:
            file.write("%.2f" % seconds)
        os.rename(path + self.place.replace("/", "_"), path)

    def attempt(self, mutant, text, budget):
        """Tries to kill a mutant: {"verdict", "by", "how", "detail", "tried", "cpu"}. `text`: of the whole file."""
        header = "include/coll/" + mutant.path
        path = os.path.join(self.place, header)
        self.cpu = 0.0
        with open(path, "w", encoding="utf-8") as file:
            file.write(mutant.apply(text))
        try:
            result = self._attempt(mutant, header, budget)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        result["cpu"] = round(self.cpu, 2)
        return result

    def _attempt(self, mutant, header, budget):
        objects, spent, tried = {}, 0.0, []  # objects: by unit; whether it is changed

        def built(unit, flags):
            key = unit, bool(flags)
            if key in objects:
                return objects[key]
            if header not in self.base.tree.closure(unit):
                objects[key] = self.base.object(unit, flags), False
                return objects[key]
            made = os.path.join(self.place, "object%d.o" % len(objects))
            outcome = self.compile(unit, made, flags)
            if outcome.code != 0:
                raise Invalid(outcome.output)
            objects[key] = made, not same(made, self.base.object(unit, flags))
            return objects[key]

        try:
            for program in self.base.tree.candidates(mutant.path, mutant.id, self.cost):
                cost = self.cost(program)
                if spent > 0 and spent + cost > budget and not program.always:
                    continue
                begin = self.cpu
                parts = [built(unit, program.flags) for unit in self.base.units(program)]
                if not any(changed for _, changed in parts):
                    continue
                usual = self.base.result(program, program.counted)
                if usual and not usual["ok"]:
                    continue
                outcome = self.run([o for o, _ in parts], program,
                                   int(10 + 8 * usual["cpu"]) if usual else 60)
                tried.append(program.name)
                how = outcome.why or "exit %d" % outcome.code
                if outcome.code == 0 and program.counted and outcome.output[-2000:] != usual["output"]:
                    how = "differs"
                if (outcome.code not in (0, 77) or how == "differs") and self.base.result(program)["ok"]:
                    return {"verdict": "killed", "by": program.name, "how": how, "detail": detail(outcome.output),
                            "tried": len(tried)}
                self._note_cost(program, self.cpu - begin)
                spent += self.cpu - begin
            return self._survived(mutant, header, tried)
        except Invalid as error:
            return {"verdict": "invalid", "detail": error.args[0].strip().split("\n")[0][:200]}

    def _survived(self, mutant, header, tried):
        """Would a compiler see a difference at all?"""
        whole = "rows/whole_" + mutant.path.replace("/", "_")[:-2] + ".c"
        with self.base.lock:
            path = os.path.join(self.base.tree.root, whole)
            if not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as file:
                    file.write('#include "coll/%s"\n' % mutant.path)
        made = os.path.join(self.place, "whole.o")
        outcome = self.compile(whole, made, WHOLE)
        if outcome.code != 0:
            return {"verdict": "invalid", "detail": outcome.output.strip().split("\n")[0][:200]}
        verdict = "same" if same(made, self.base.object(whole, WHOLE)) else "survived"
        return {"verdict": verdict, "tried": len(tried), "by": ", ".join(tried)}


class Invalid(Exception):
    pass


def same(one, other):
    with open(one, "rb") as a, open(other, "rb") as b:
        return a.read() == b.read()


def detail(output):
    """The line that says what was wrong."""
    lines = [line for line in output.split("\n") if line.strip()]
    for line in lines:
        if "does not hold" in line or line.startswith("FAILED"):
            return line[:200]
    return lines[-1][:200] if lines else ""
