// The programs of Vauban with a network, as one executable: most of it is the HTTP client and the TLS library that each needs. It is
// installed under their names, and the name that a process is started by says which of them it is.

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
