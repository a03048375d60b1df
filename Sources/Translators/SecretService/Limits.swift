/// The limits of the Secret Service. Times are in nanoseconds unless noted otherwise.
enum SecretServiceLimits {
    // One process or sandboxed application gets at most an eighth of what all clients share (`ClientShare`), and a half or a quarter of the
    // prompts, since a program with many accounts may request one for each. All sandboxed applications together get half of the prompts.

    /// The waiting calls of one client, one share and all clients.
    static let callsOfClientMax = 256
    static let callsOfShareMax = 512
    static let callsMax = 4096
    /// The bytes of one call, and of the calls without a reply of one share and of all clients. Each value counts with its approximate
    /// overhead. A secret of 1 MiB that KWallet stores as a map takes 2 MiB.
    static let callBytesMax = 4 << 20
    static let callBytesOfShareMax = 8 << 20
    static let callBytesOfAllMax = 64 << 20
    static let valueBytes = 32
    /// The bytes of a call or its reply after which free memory is released, and of a block that is released as soon as it is freed.
    static let largeCallBytesMin = 64 << 10
    static let largeBlockBytesMin = 128 << 10
    /// The pause between two releases of free memory, for which the bus thread stops.
    static let releasePause: UInt64 = 100_000_000
    /// Concurrent threads for calls; each client has at most one.
    static let threadsOfShareMax = 8
    static let threadsMax = 64
    /// Idle threads that are kept for later calls.
    static let threadsKept = 4
    /// Secrets that one request to the keychain covers. Their requests fit into a socket buffer.
    static let secretsAtOnce = 16
    /// Sessions of one client, one share and all clients.
    static let sessionsOfClientMax = 64
    static let sessionsOfShareMax = 512
    static let sessionsMax = 4096
    /// The concurrent prompts of one process, one sandboxed application, all sandboxed applications, and all clients; and the timeout of
    /// one prompt.
    static let promptsOfShareMax = 32
    static let promptsOfSandboxMax = 16
    static let promptsOfSandboxesMax = 32
    static let promptsMax = 64
    static let promptTime: UInt64 = 1_800_000_000_000
    /// How long a prompt waits while nothing can show it: less than the 25 seconds that libsecret waits for the reply to `Prompt`.
    static let agentTime: UInt64 = 20_000_000_000
    /// The same for KWallet's clients and the portal, which wait for days. A program at a login may need its wallet long before the sheet.
    static let agentLongTime: UInt64 = 60_000_000_000
    /// The items in one prompt for consent, which shows the label of each.
    static let consentItemsMax = 4
    /// How long the prompt for a secret may take: one second less than libsecret waits for the reply.
    static let secretTime: UInt64 = 24_000_000_000
    /// The collections of the keychain, the number up to which a sandboxed application may create one, and the aliases.
    static let collectionsMax = 1024
    static let collectionsOfSandboxesMax = 128
    static let aliasesMax = 1024
    /// The items in a signal that lists a collection, and the collections in a signal that lists the service: those of the keychain, and
    /// `session`.
    static let itemsOfSignalMax = 1024
    static let collectionsOfSignalMax = collectionsMax + 1
    /// The items whose properties one client, and all clients of one share, have read, and of which they are notified when the keychain
    /// locks or is unlocked.
    static let itemsReadMax = 1024
    static let itemsReadOfShareMax = 2048
    /// How often properties are read for one reply while locks and unlocks are signaled.
    static let propertyReadsMax = 4
    /// Items in the memory collection, and their total bytes.
    static let memoryItemsOfShareMax = 512
    static let memoryBytesOfShareMax = 2 << 20
    static let memoryItemsMax = 4096
    static let memoryBytesMax = 16 << 20
    /// Bytes of a secret.
    static let secretBytesMax = 1 << 20
    /// Bytes of a label.
    static let labelBytesMax = 4096
    /// The total time for which a read is retried while a room restarts.
    static let roomRestartMax: UInt64 = 10_000_000_000
    /// The timeout for a reply of the bus daemon.
    static let busAnswerMax: UInt64 = 5_000_000_000
    /// The timeout for another provider's reply to a call, and for the answer to its prompt.
    static let providerAnswerMax: UInt64 = 60_000_000_000
    static let otherPromptTime: UInt64 = 600_000_000_000
    /// Bytes of the attributes of an item that is read from another provider.
    static let recordBytesMax = 58_000
    /// The timeout for the desktop portal's reply, and for taking a picture of the screen, for which it may prompt the user.
    static let portalAnswerMax: UInt64 = 30_000_000_000
    static let screenPictureTime: UInt64 = 60_000_000_000
    /// The concurrent requests for keys, the bytes of an application's name, and the timeout for the reader of a key. The portal requests
    /// keys for all applications, so its limit is higher than that of other clients.
    static let portalRequestsOfApplicationMax = 8
    static let portalRequestsOfShareMax = 56
    static let portalRequestsMax = 64
    static let applicationBytesMax = 255
    static let keyWriteTime: UInt64 = 10_000_000_000
    /// How long an application that gave its request no name has to subscribe to the response.
    static let unnamedRequestTimeMin: UInt64 = 1_000_000_000
    /// Open wallets of one client, one share and all clients, and programs that wait for one.
    static let handlesOfClientMax = 64
    static let handlesOfShareMax = 512
    static let handlesMax = 4096
    static let walletWaitsOfShareMax = 32
    static let walletWaitsOfSandboxMax = 16
    static let walletWaitsOfSandboxesMax = 32
    static let walletWaitsMax = 64
    /// The bytes of the names of wallets, entries and programs, and of all secrets in one reply.
    static let walletNameBytesMax = 255
    static let entryNameBytesMax = 16_384
    static let answerBytesMax = 32 << 20
    /// Arguments and values of one message, and objects that one call unlocks or locks.
    static let valuesMax = 65_536
    static let pathsMax = 16_384
}
