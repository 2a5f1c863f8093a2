"""Hostile probes: each tries one way out of a sandbox and prints OPEN if it escaped.

Usage: probes.py NAME. The environment holds the targets: WS (the writable folder), OUT (a folder outside), PID (the
process that built the sandbox), TCP and UDP (ports of the host), SOCK and ABSTRACT (Unix sockets of the host), SECRET
(the beginning of a value in another process's environment). `probes.py --list` prints all names, with `*` for probes
that need root outside.
"""
import ctypes
import fcntl
import glob
import mmap
import os
import resource
import socket
import stat
import struct
import subprocess
import sys

E = os.environ
WS, OUT = E.get("WS", "/"), E.get("OUT", "/")
libc = ctypes.CDLL(None, use_errno=True)
probes, privileged = {}, set()


def probe(function):
    probes[function.__name__] = function
    return function


def root_probe(function):
    privileged.add(function.__name__)
    return probe(function)


def call(number, *arguments):
    result = libc.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "denied")
    return result


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def write(path, text="evil"):
    with open(path, "w") as file:
        file.write(text)
    return read(path) == text.encode()


# Network.
@probe
def tcp():
    return socket.create_connection(("127.0.0.1", int(E["TCP"])), 5)
@probe
def tcp_fast_open():
    return socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", int(E["TCP"])))
@probe
def tcp_multipath():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as s:
        s.connect(("127.0.0.1", int(E["TCP"])))
    return True
@probe
def tcp_listen():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    return True
@probe
def tcp_version_6():
    return socket.socket(socket.AF_INET6)
@probe
def udp():
    return socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(E["UDP"])))
@probe
def netlink():
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
@probe
def vsock():
    return socket.socket(socket.AF_VSOCK)
@root_probe
def raw_ip():
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
@root_probe
def raw_packets():
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
@probe
def unix_path():
    s = socket.socket(socket.AF_UNIX)
    s.connect(E["SOCK"])
    return True
@probe
def unix_abstract():
    s = socket.socket(socket.AF_UNIX)
    s.connect("\0" + E["ABSTRACT"])
    return True
def datagram_pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]
@probe
def pair_sends_to_path():
    return datagram_pair().sendto(b"x", E["DATAGRAMS"]) == 1
@probe
def pair_sends_message_to_path():
    return datagram_pair().sendmsg([b"x"], [], 0, E["DATAGRAMS"]) == 1
@probe
def pair_connects_to_path():
    s = datagram_pair()
    s.connect(E["DATAGRAMS"])
    return s.send(b"x") == 1
@probe
def pair_gets_a_path():
    datagram_pair().bind(WS + "/listens")
    return True
@probe
def stream_pair_gets_a_path():
    socket.socketpair()[0].bind(WS + "/listens")
    return True
@probe
def interfaces_of_the_host():
    return len(socket.if_nameindex()) > 0


# Other processes and their data.
@probe
def environment_of_owner():
    return len(read(f"/proc/{E['PID']}/environ")) > 0
@probe
def environment_of_anyone():
    secret = (E["SECRET"] + "-of-another").encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            if secret in read(path):
                return True
        except OSError:
            pass
    return False
@probe
def command_line_of_owner():
    return len(read(f"/proc/{E['PID']}/cmdline")) > 0
@probe
def root_of_owner():
    return os.listdir(f"/proc/{E['PID']}/root")
@probe
def memory_of_owner():
    return open(f"/proc/{E['PID']}/mem", "rb")
@probe
def descriptors_of_owner():
    return os.listdir(f"/proc/{E['PID']}/fd")
@probe
def signal_to_owner():
    os.kill(int(E["PID"]), 0)
    return True
@probe
def pidfd_of_owner():
    return os.pidfd_open(int(E["PID"]))
@probe
def ptrace():
    return call(101, 0, 0, 0, 0) == 0
@probe
def process_vm_readv():
    source, to = ctypes.create_string_buffer(b"memory"), ctypes.create_string_buffer(6)
    local = struct.pack("QQ", ctypes.addressof(to), 6)
    remote = struct.pack("QQ", ctypes.addressof(source), 6)
    return call(310, os.getpid(), local, 1, remote, 1, 0) == 6


# Files outside.
@probe
def read_outside():
    return read(OUT + "/secret")
@probe
def write_outside():
    return write(OUT + "/victim")
@probe
def write_by_dots():
    return write(WS + "/../out/victim")
@probe
def read_through_link():
    return read(WS + "/link/secret")
@probe
def write_through_new_link():
    os.symlink(OUT + "/victim", WS + "/new")
    return os.path.getsize(OUT + "/victim") > 0 and write(WS + "/new")
@probe
def hard_link_out():
    os.link(OUT + "/victim", WS + "/hard")
    return True
@probe
def rename_into_reach():
    os.rename(OUT + "/secret", WS + "/taken")
    return True
@probe
def rename_the_root():
    os.rename(WS, WS + ".moved")
    os.rename(WS + ".moved", WS)
    return True
@probe
def change_mode_outside():
    os.chmod(OUT + "/victim", 0o777)
    return True
@root_probe
def change_owner_outside():
    os.chown(OUT + "/victim", 1, 1)
    return True
@probe
def host_temporary_files():
    return os.path.basename(OUT) in os.listdir(os.path.dirname(OUT))
@root_probe
def shadow():
    return read("/etc/shadow")
@root_probe
def home_of_root():
    return len(os.listdir("/root")) > 0
@root_probe
def write_system():
    with open("/usr/praxis_probe", "w"):
        os.unlink("/usr/praxis_probe")
    return True
@root_probe
def write_configuration_of_system():
    return open("/etc/passwd", "a")


# Files that give whoever starts them the rights of their owner.
def has_set_id(path):
    return os.stat(path).st_mode & 0o6000 != 0
def made(path, mode=0o755):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, mode))
    return path
@probe
def set_user_id_by_chmod():
    os.chmod(made(WS + "/id"), 0o4755)
    return has_set_id(WS + "/id")
@probe
def set_group_id_by_fchmod():
    with open(made(WS + "/id")) as file:
        os.fchmod(file.fileno(), 0o2755)
    return has_set_id(WS + "/id")
@probe
def set_user_id_by_fchmodat2():
    return call(452, -100, made(WS + "/id").encode(), 0o4755, 0) == 0 and has_set_id(WS + "/id")
@probe
def set_user_id_by_open():
    return has_set_id(made(WS + "/id", 0o4755))
@probe
def set_user_id_by_creat():
    return call(85, (WS + "/id").encode(), 0o4755) >= 0 and has_set_id(WS + "/id")
@probe
def set_user_id_by_openat2():
    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    return call(437, -100, (WS + "/id").encode(), how, 24) >= 0 and has_set_id(WS + "/id")
@probe
def set_user_id_by_mknod():
    os.mknod(WS + "/id", 0o104755)
    return has_set_id(WS + "/id")
@probe
def set_user_id_of_unnamed_file():
    fd = os.open(WS, os.O_TMPFILE | os.O_WRONLY, 0o4755)
    call(265, -100, f"/proc/self/fd/{fd}".encode(), -100, (WS + "/id").encode(), 0x400)
    return has_set_id(WS + "/id")
@probe
def set_group_id_folder():
    os.mkdir(WS + "/group")
    os.chmod(WS + "/group", 0o2775)
    return has_set_id(WS + "/group")
@probe
def set_user_id_by_programs():
    subprocess.run(["install", "-m", "4755", "/usr/bin/true", WS + "/id"], capture_output=True)
    return has_set_id(WS + "/id")


# Protected paths in the writable folder.
@probe
def git_hook():
    return write(WS + "/.git/hooks/pre-commit")
@probe
def git_config():
    return write(WS + "/.git/config")
@probe
def git_renamed():
    os.rename(WS + "/.git", WS + "/old")
    return True
@probe
def git_exchanged():
    os.mkdir(WS + "/new")
    return call(316, -100, (WS + "/new").encode(), -100, (WS + "/.git").encode(), 2) == 0
@probe
def env_read():
    return b"KEY" in read(WS + "/.env")
@probe
def env_local_read():
    return b"KEY" in read(WS + "/.env.local")
@probe
def env_replaced():
    write(WS + "/mine")
    os.replace(WS + "/mine", WS + "/.env")
    return True
@probe
def servers_written():
    return write(WS + "/.mcp.json")
@probe
def own_settings_made():
    os.makedirs(WS + "/.praxis/agents", exist_ok=False)
    return True
@probe
def editor_task_made():
    os.mkdir(WS + "/.idea")
    return True
@probe
def editor_task_written():
    return write(WS + "/.vscode/tasks.json")
@probe
def shell_start_written():
    return write(WS + "/.bashrc")
@probe
def other_start_files_written():
    return all(write(WS + "/" + name) for name in (".bash_login", ".zprofile", ".inputrc", ".xprofile", ".cshrc"))
@probe
def pipeline_made():
    return write(WS + "/.github/workflows/ci.yml")
@probe
def existing_pipelines_written():
    for name in (".gitlab-ci.yml", "Jenkinsfile"):
        try:
            return write(WS + "/" + name)
        except OSError:
            pass
@probe
def settings_of_tools_made():
    for name in (".hg", ".claude"):
        os.mkdir(WS + "/" + name)
    return write(WS + "/.hg/hgrc")
@probe
def placeholder_of_a_folder_replaced():
    os.makedirs(WS + "/.praxis", exist_ok=True)
    os.rmdir(WS + "/.praxis")
    os.mkdir(WS + "/.praxis")
    return True
@probe
def placeholders_that_are_files_replaced():
    changes = (lambda path: os.chmod(path, 0o644), lambda path: write(path), lambda path: os.truncate(path, 9),
               lambda path: os.link(path, WS + "/linked"), lambda path: os.rename(path, WS + "/moved"),
               lambda path: os.unlink(path), lambda path: os.makedirs(path + "/made"))
    for name in (".hg", ".idea", ".claude", ".config", ".gitconfig"):
        if not os.path.lexists(WS + "/" + name):
            write(WS + "/" + name)
        for change in changes:
            try:
                change(WS + "/" + name)
                return True
            except OSError:
                pass
@probe
def fish_settings_made():
    os.makedirs(WS + "/.config/fish")
    return write(WS + "/.config/fish/config.fish")
@probe
def protected_written():
    return write(WS + "/conf/agent.toml")
@probe
def protected_folder_renamed():
    os.rename(WS + "/conf", WS + "/gone")
    return True
@probe
def nested_git_hook():
    return write(WS + "/team/a/.git/hooks/pre-commit")
@probe
def nested_git_config():
    return write(WS + "/team/a/.git/config")
@probe
def nested_checkout_exchanged():
    os.rename(WS + "/team/a", WS + "/team/old")
    os.makedirs(WS + "/team/a/.git/hooks")
    return write(WS + "/team/a/.git/hooks/pre-commit")
@probe
def nested_checkout_exchanged_above():
    os.rename(WS + "/team", WS + "/old")
    os.makedirs(WS + "/team/a/.git/hooks")
    return write(WS + "/team/a/.git/hooks/pre-commit")
@probe
def nested_worktree_redirected():
    return write(WS + "/team/b/.git", "gitdir: /tmp/evil")
@probe
def nested_env_read():
    return b"KEY" in read(WS + "/team/b/.env.local")
@probe
def nested_env_replaced():
    write(WS + "/mine")
    os.replace(WS + "/mine", WS + "/team/b/.env.local")
    return True
@probe
def nested_servers_written():
    return write(WS + "/team/a/deep/er/.mcp.json")
@probe
def nested_settings_written():
    return write(WS + "/team/b/.praxis/config.toml")
@probe
def nested_editor_task_written():
    return write(WS + "/team/b/.vscode/tasks.json")
@probe
def protected_missing_made():
    return write(WS + "/conf/later.toml")


# Kernel interfaces.
def new_user_space(flags):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if libc.unshare(flags) == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0
@probe
def unshare_user():
    return new_user_space(0x10000000)
@probe
def unshare_mounts_and_user():
    return new_user_space(0x10020000)
@probe
def clone_user():
    pid = call(56, 0x10000000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True
@probe
def clone3_user():
    pid = call(435, struct.pack("8Q", 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True
@root_probe
def setns():
    return libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0) == 0
@root_probe
def mount():
    done = libc.mount(b"none", WS.encode(), b"tmpfs", 0, None) == 0
    if done:
        libc.umount2(WS.encode(), 2)
    return done
@root_probe
def open_tree_clone():
    return call(428, -100, b"/", 1) >= 0
@root_probe
def change_root():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if libc.chroot(b"/tmp") == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0
@probe
def file_handles():
    handle, mount_id = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
    return call(303, -100, b"/usr", handle, ctypes.byref(mount_id), 0) == 0
@probe
def io_uring():
    return call(425, 4, ctypes.create_string_buffer(120)) >= 0
@root_probe
def bpf():
    return call(321, 0, struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(52), 72) >= 0
@root_probe
def perf_events():
    return call(298, struct.pack("IIQQ", 1, 112, 0, 0) + bytes(88), 0, -1, -1, 0) >= 0
@probe
def user_faults():
    return call(323, 1) >= 0
@probe
def kernel_keys():
    return call(248, b"user", b"praxis_probe", b"x", 1, -2) > 0
@probe
def personality():
    return libc.personality(0x0040000) >= 0
@root_probe
def terminal_input():
    main, other = os.openpty()
    os.setsid() if os.getsid(0) != os.getpid() else None
    fcntl.ioctl(other, 0x540E, 0)
    fcntl.ioctl(other, 0x5412, b"x")
    return True


# Control of the machine.
@root_probe
def become_root():
    os.setuid(0)
    return True
@root_probe
def su():
    return b"yes" in subprocess.run(["su", "-c", "echo yes"], capture_output=True, stdin=subprocess.DEVNULL).stdout
@root_probe
def core_pattern():
    return open("/proc/sys/kernel/core_pattern", "w")
@root_probe
def sysrq():
    return open("/proc/sysrq-trigger", "w")
@root_probe
def control_groups():
    for top in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(top + "/cgroup.procs"):
            return open(top + "/cgroup.procs", "w")
    return False
@root_probe
def device_node():
    os.mknod(WS + "/disk", stat.S_IFBLK | 0o600, os.makedev(7, 0))
    return True
@root_probe
def kernel_log():
    return os.open("/dev/kmsg", os.O_RDONLY)
@root_probe
def higher_limits():
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    return True


# Resource exhaustion.
@probe
def many_processes():
    children = []
    try:
        while len(children) < 150:
            pid = os.fork()
            if pid == 0:
                os.read(hold, 1)
                os._exit(0)
            children.append(pid)
    finally:
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    return True
@probe
def much_memory():
    return mmap.mmap(-1, 3 << 30)
@probe
def memory_without_process():
    return os.memfd_create("praxis_probe")
@probe
def shared_memory_without_process():
    number = call(29, 0, 1 << 20, 0o1600)
    call(31, number, 0, None)
    return True
@probe
def many_descriptors():
    held = []
    while len(held) < 1500:
        held.append(os.open("/dev/null", os.O_RDONLY))
    return True
@probe
def large_file():
    with open(WS + "/large", "wb") as file:
        file.truncate(200 << 20)
    return True
@probe
def much_shared_memory():
    with open("/dev/shm/praxis_probe", "wb") as file:
        os.unlink("/dev/shm/praxis_probe")
        for _ in range(50):
            os.posix_fallocate(file.fileno(), 0, 60 << 20)
        os.posix_fallocate(file.fileno(), 0, 100 << 20)
    return True


hold = os.pipe()[0]
if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name in probes:
            print(name + ("*" if name in privileged else ""))
        sys.exit(0)
    if probes[sys.argv[1]]() not in (False, None):
        print("OPEN", flush=True)
