import Testing
import VaubanLinuxHost

@Suite struct MachineMemoryTests {
    @Test("The control groups that limit memory are found") func limitingControlGroupsAreFound() {
        #expect(MachineMemory.files(groups: "0::/\n") == ["/sys/fs/cgroup/memory.max"])
        #expect(
            MachineMemory.files(groups: "0::/system.slice/vauban-enclaved.service\n") == [
                "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/system.slice/vauban-enclaved.service/memory.max",
            ])
        #expect(
            MachineMemory.files(groups: "5:devices:/a\n4:cpu,memory:/a:b\n") == [
                "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes",
            ])
        #expect(MachineMemory.files(groups: "nonsense") == [])
    }

    @Test("A memory limit is a number of bytes, and `max` means no limit") func limitIsANumberAndMaxMeansNone() {
        #expect(MachineMemory.bytes("268435456\n") == 256 << 20 && MachineMemory.bytes("max\n") == nil && MachineMemory.bytes("") == nil)
    }

    @Test("The memory limit of this machine is known") func machineHasMemory() throws {
        #expect(try #require(MachineMemory.limit) > 1 << 20)
    }
}
