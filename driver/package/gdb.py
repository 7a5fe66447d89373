"""Commands of gdb for programs of ompgpu-cc on the emulated device:

    (gdb) source PREFIX/lib/ompgpu/gdb.py

Backtraces leave out the frames of the runtime, `step` does not enter them, and `info team` shows
what the threads of the team are doing.
"""
import gdb


def is_ours(frame):
    """A frame of the library, or of the device runtime in an image."""
    if (frame.name() or "").startswith("__ompgpu_"):
        return True
    return "libompgpu.so" in (gdb.solib_name(frame.pc()) or "")


class UserFrames:
    """What the user wrote."""

    def __init__(self):
        self.name, self.priority, self.enabled = "ompgpu", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (f for f in frames if not is_ours(f.inferior_frame()))


LAYOUT = (
    "next number launch current threads nthreads form where teams limit kernel size team tid state"
    " line mask fiber frame span ready barrier exited"
).split()
OPERATIONS = "", "shuffle", "ballot", "syncwarp", "redux", "the meeting of a warp"


class Memory:
    """Numbers in the process, or in a core file: nothing is called there."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        layout = self.address("ompgpu_debug_layout")
        numbers = [self.number(layout + 4 * i) for i in range(len(LAYOUT))]
        self.at = dict(zip(LAYOUT, numbers))

    def address(self, symbol):
        return int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))

    def number(self, address, size=4, signed=False):
        data = self.inferior.read_memory(address, size).tobytes()
        return int.from_bytes(data, "little", signed=signed)

    def pointer(self, address):
        return self.number(address, 8)

    def worker(self):
        """Of the thread of the process that gdb looks at; 0: no device code runs there."""
        worker = self.pointer(self.address("ompgpu_debug_workers"))
        while worker and self.number(worker + self.at["number"]) != gdb.selected_thread().ptid[1]:
            worker = self.pointer(worker + self.at["next"])
        return worker if worker and self.pointer(worker + self.at["current"]) else 0


def doing(memory, thread, current):
    """What a thread of the team does, in words."""
    at = memory.at
    state = memory.number(thread + at["state"], 1)
    line = memory.number(thread + at["line"], signed=True)
    if thread == current:
        return "runs"
    if state == at["ready"]:
        begun = memory.pointer(thread + at["fiber"]) or memory.pointer(thread + at["frame"])
        return "may go on" if begun else "has not begun"
    if state == at["exited"]:
        return "exited"
    if state == at["barrier"]:
        return f"waits at line {line}" if line > 0 else "waits at a barrier of the device runtime"
    mask = memory.number(thread + at["mask"])
    return f"waits in {OPERATIONS[state - at['barrier']]} with mask 0x{mask:08x}"


class InfoTeam(gdb.Command):
    """What the threads of the team that runs in this thread of the process are doing."""

    def __init__(self):
        super().__init__("info team", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        try:
            self.show(Memory())
        except gdb.error as error:
            raise gdb.GdbError(f"info team finds no emulated device: {error}")

    def show(self, memory):
        at, worker = memory.at, memory.worker()
        if not worker:
            gdb.write("no device code runs in this thread\n")
            return
        launch = memory.pointer(worker + at["launch"])
        current = memory.pointer(worker + at["current"])
        name = memory.pointer(memory.pointer(launch + at["where"]) + at["kernel"])
        team, teams = memory.number(current + at["team"]), memory.number(launch + at["teams"])
        tid, limit = memory.number(current + at["tid"]), memory.number(launch + at["limit"])
        kernel = gdb.parse_and_eval(f"(char *){name}").string()
        gdb.write(f"region {kernel}, team {team} of {teams}, thread {tid} of {limit}\n")
        if memory.number(worker + at["form"]) == at["span"]:
            return
        threads, n = memory.pointer(worker + at["threads"]), memory.number(worker + at["nthreads"])
        words = [doing(memory, threads + i * at["size"], current) for i in range(n)]
        first = 0
        for i in range(1, n + 1):
            if i == n or words[i] != words[first]:
                who = f"{first}" if i - 1 == first else f"{first} to {i - 1}"
                gdb.write(f"  {who}: {words[first]}\n")
                first = i


UserFrames()
InfoTeam()
gdb.execute("skip -rfunction ^__ompgpu_", to_string=True)
gdb.execute("skip -gfile */ompgpu_device.h", to_string=True)
gdb.execute("skip -gfile hostrt/*", to_string=True)
