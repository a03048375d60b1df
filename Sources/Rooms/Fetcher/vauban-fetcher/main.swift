// vauban-fetcher, the one process with a network: it asks websites which applications they list (Specs/associated-domains.md).

FetcherProgram.main()
