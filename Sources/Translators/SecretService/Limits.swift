/// The limits of the Secret Service. Times are in nanoseconds unless noted otherwise.
enum SecretServiceLimits {
    // Of what all clients share, one process or sandboxed application has at most an eighth (`ClientShare`); of prompts a half or a
    // quarter, since one with many accounts may ask for each. All applications in sandboxes together have half of the prompts.

    /// Calls that wait, for one client, one share and all clients.
    static let callsOfClientMax = 256
    static let callsOfShareMax = 512
    static let callsMax = 4096
    /// Bytes of one call, and of the calls of one share and of all that have no reply yet. Each value counts with what it takes beside its
    /// own bytes, about. A secret of 1 MiB, as a map of KWallet, comes in 2 MiB.
    static let callBytesMax = 4 << 20
    static let callBytesOfShareMax = 8 << 20
    static let callBytesOfAllMax = 64 << 20
    static let valueBytes = 32
    /// Concurrent threads for calls; each client has at most one.
    static let threadsOfShareMax = 8
    static let threadsMax = 64
    /// Threads that are kept for the next calls while there are none.
    static let threadsKept = 4
    /// Secrets that are asked for together. Their requests fit into a socket.
    static let secretsAtOnce = 16
    /// Sessions of one client, one share and all clients.
    static let sessionsOfClientMax = 64
    static let sessionsOfShareMax = 512
    static let sessionsMax = 4096
    /// Concurrent prompts of one process, one application in a sandbox, all of these applications, and all; and the timeout of one.
    static let promptsOfShareMax = 32
    static let promptsOfSandboxMax = 16
    static let promptsOfSandboxesMax = 32
    static let promptsMax = 64
    static let promptTime: UInt64 = 1_800_000_000_000
    /// Items in one prompt for consent, which has room to name each.
    static let consentItemsMax = 4
    /// How long the user may be prompted for a secret that a call asks for: a second less than libsecret waits for its answer.
    static let secretTime: UInt64 = 24_000_000_000
    /// Collections of the keychain, those up to which an application in a sandbox may make one, and aliases.
    static let collectionsMax = 1024
    static let collectionsOfSandboxesMax = 128
    static let aliasesMax = 1024
    /// Items in a signal that tells what a collection has, and collections in one that tells what the service has: those of the keychain,
    /// and `session`.
    static let itemsOfSignalMax = 1024
    static let collectionsOfSignalMax = collectionsMax + 1
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
    /// How long another provider may take to answer a call, and its prompt to be answered.
    static let providerAnswerMax: UInt64 = 60_000_000_000
    static let otherPromptTime: UInt64 = 600_000_000_000
    /// Bytes of the attributes of an item that is read from another provider.
    static let recordBytesMax = 58_000
    /// How long the desktop's portal may take to answer, and then to take a picture of the screen, of which it may ask the user.
    static let portalAnswerMax: UInt64 = 30_000_000_000
    static let screenPictureTime: UInt64 = 60_000_000_000
    /// Keys that wait for the user at once, bytes of an application's name, and how long the reader of a key may take. The portal asks for
    /// all applications, and so has more than other clients; what it leaves is for those.
    static let portalRequestsOfApplicationMax = 8
    static let portalRequestsOfShareMax = 56
    static let portalRequestsMax = 64
    static let applicationBytesMax = 255
    static let keyWriteMilliseconds: Int32 = 10_000
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
    /// Bytes of a wallet's, an entry's and a program's name, and of all secrets in one answer.
    static let walletNameBytesMax = 255
    static let entryNameBytesMax = 16_384
    static let answerBytesMax = 32 << 20
    /// Arguments and values of one message, and objects that one call unlocks or locks.
    static let valuesMax = 65_536
    static let pathsMax = 16_384
}
