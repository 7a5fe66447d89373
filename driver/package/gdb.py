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


class InfoTeam(gdb.Command):
    """What the threads of the team that runs in this thread of the process are doing."""

    def __init__(self):
        super().__init__("info team", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        try:
            text = gdb.parse_and_eval("((const char *(*)(void))&ompgpu_debug_team)()")
        except gdb.error as error:
            raise gdb.GdbError(f"info team calls a function of the program, which fails here: {error}")
        gdb.write(text.string())


UserFrames()
InfoTeam()
gdb.execute("skip -rfunction ^__ompgpu_", to_string=True)
gdb.execute("skip -gfile */ompgpu_device.h", to_string=True)
gdb.execute("skip -gfile hostrt/*", to_string=True)
