// The network programs of Vauban as one executable, since each would consist mostly of the HTTP client and the TLS library. It is installed
// under each program's name, and the name under which a process is started selects the program.

import Fetcher
import Glibc
import SyncEtcd
import TransportCommand

switch CommandLine.arguments.first?.split(separator: "/").last {
case "vauban-ats": ATSProgram.main()
case "vauban-fetcher": FetcherProgram.main()
case "vauban-sync-etcd": SyncEtcdProgram.main()
default:
    let line = Array("This program is vauban-ats, vauban-fetcher or vauban-sync-etcd, by the name that it is started by\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(64)
}
