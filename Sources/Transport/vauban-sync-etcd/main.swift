// vauban-sync-etcd: carries the sealed files of vauban sync to etcd and back (Specs/sync.md, "The carrier").

SyncEtcdProgram.main()
